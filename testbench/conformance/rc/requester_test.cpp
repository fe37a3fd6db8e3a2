// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "connection.hpp"

namespace hcasim::testing {
namespace {

// The packet is made, and its timer started, at the same time.
Time timeout_of(std::uint8_t exponent) {
  return Time{4096} * hw::kNanosecond << exponent;
}

// 4.096 us times a power of two, measured from packet to packet.
TEST(AckTimeout, DoublesWithItsExponentAndIsExact) {
  for (const std::uint8_t exponent : {1, 2, 5, 8, 14, 20}) {
    hw::QpContext context = AdapterBench::rc_context();
    context.timeout = exponent;
    Connection c(context);
    c.bench.post_send(c.qp, c.inline_wr());
    c.bench.ring_send(c.qp);
    c.bench.run_for(2 * hw::kMicrosecond);
    const auto first = c.sent();
    ASSERT_EQ(first.size(), 1u);
    const Time fires = first[0].at + timeout_of(exponent);
    c.bench.run_to(fires - 1);
    EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 0u);
    c.bench.run_to(fires);
    EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 1u);
    c.bench.run_for(2 * hw::kMicrosecond);
    EXPECT_EQ(psns(c.sent()), Psns{100}) << int{exponent};
  }
}

TEST(AckTimeout, H14_Quirk14_ZeroIsNoTimer) {
  Connection c;  // timeout 0
  c.post(c.inline_wr());
  c.sent();
  c.bench.run_for(100 * hw::kSecond);
  EXPECT_TRUE(c.sent().empty());
  EXPECT_EQ(c.state(), hw::QpState::kRts);
}

TEST(AckTimeout, TheFloorOfTheAdapterApplies) {
  BenchOptions options;
  options.parameters.requester.ack_timeout_floor = 6;
  hw::QpContext context = AdapterBench::rc_context();
  context.timeout = 1;
  Connection c(context, options);
  c.post(c.inline_wr());
  const Time fires = c.sent().at(0).at + timeout_of(6);
  c.bench.run_to(fires - 1);
  EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 0u);
  c.bench.run_to(fires);
  EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 1u);
}

// retry_cnt n: n repetitions, an error at the timeout after that; 7 is not for ever.
TEST(AckTimeout, GivesUpAfterItsRetries) {
  for (const std::uint8_t retries : {0, 1, 3, 7}) {
    hw::QpContext context = AdapterBench::rc_context();
    context.timeout = 5;
    context.retry_cnt = retries;
    Connection c(context);
    c.post(c.inline_wr(), 2);
    c.bench.run_for(hw::kSecond);
    EXPECT_EQ(c.sent().size(), 2u * (1 + retries));
    EXPECT_EQ(statuses(c.sends()),
              (Statuses{hw::WcStatus::kRetryExcErr, hw::WcStatus::kWrFlushErr}));
    EXPECT_EQ(c.state(), hw::QpState::kErr);
    EXPECT_EQ(c.count("requester", "req_transport_retries_exceeded"), 1u);
  }
}

TEST(AckTimeout, ProgressReloadsRetriesAndTimer) {
  hw::QpContext context = AdapterBench::rc_context();
  context.timeout = 5;
  context.retry_cnt = 1;
  Connection c(context);
  c.post(c.inline_wr(), 4);
  for (std::uint32_t psn = 100; psn < 104; ++psn) {
    c.bench.run_for(timeout_of(5) * 3 / 2);  // once, not twice
    c.arrive_and_settle(AdapterBench::ack(psn));
  }
  EXPECT_EQ(statuses(c.sends()), Statuses(4, hw::WcStatus::kSuccess));
  EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 4u);
  c.bench.run_for(hw::kSecond);
  EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 4u);  // nothing is outstanding
}

TEST(Repetition, B20_BeginsWithTheOldestMissingPacket) {
  hw::QpContext context = AdapterBench::rc_context();
  context.sq_stride = 1024;
  Connection c(context);
  c.post(c.inline_wr(hw::WrOpcode::kRdmaWrite, 900), 2);
  const auto before = c.sent();
  ASSERT_EQ(psns(before), (Psns{100, 101, 102, 103, 104, 105, 106, 107}));
  c.arrive_and_settle(AdapterBench::nak(102, hw::NakCode::kPsnSequence));
  const auto again = c.sent();
  ASSERT_EQ(psns(again), (Psns{102, 103, 104, 105, 106, 107}));
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].headers.opcode, before[i + 2].headers.opcode);
    EXPECT_EQ(again[i].payload, before[i + 2].payload);
  }
  c.arrive_and_settle(AdapterBench::ack(107));
  EXPECT_EQ(statuses(c.sends()), Statuses(2, hw::WcStatus::kSuccess));
  EXPECT_EQ(c.count("requester", "n_rc_resends"), 6u);
}

TEST(Repetition, ANakForWhatIsAcknowledgedIsNothing) {
  for (const auto& stale :
       {AdapterBench::nak(101, hw::NakCode::kPsnSequence),
        AdapterBench::nak(101, hw::NakCode::kInvalidRequest), AdapterBench::rnr_nak(101, 1)}) {
    for (const int outstanding : {0, 2}) {
      Connection c;
      c.post(c.inline_wr(), 2 + outstanding);
      c.arrive_and_settle(AdapterBench::ack(101));
      c.sent();
      c.sends();
      c.arrive_and_settle(stale);
      EXPECT_TRUE(c.sent().empty());
      EXPECT_TRUE(c.sends().empty());
      EXPECT_EQ(c.state(), hw::QpState::kRts);
      EXPECT_EQ(c.count("requester", "ghost_acks"), 1u);
    }
  }
}

TEST(Repetition, AnAnswerToWhatWasNeverSentIsNothing) {
  Connection c;
  c.post(c.inline_wr(), 2);
  c.sent();
  for (const std::uint32_t psn : {102u, 500u, 50u}) c.arrive_and_settle(AdapterBench::ack(psn));
  EXPECT_TRUE(c.sends().empty());
  EXPECT_EQ(c.count("requester", "ghost_acks"), 3u);
}

PeerPacket read_answer(const Connection& c, std::uint32_t psn, hw::BthOpcode opcode,
                       std::uint64_t offset, std::size_t bytes) {
  const auto all = pattern(Connection::kAreaBytes, 3);
  PeerPacket packet = AdapterBench::request(opcode, psn);
  packet.headers.aeth.syndrome = hw::ack_syndrome(hw::kNoCredits);
  packet.payload.assign(all.begin() + static_cast<std::ptrdiff_t>(offset),
                        all.begin() + static_cast<std::ptrdiff_t>(offset + bytes));
  (void)c;
  return packet;
}

using Op = hw::BthOpcode;

TEST(Read, RestartsInTheMiddleAfterALostAnswer) {
  Connection c;
  c.post(c.gather_wr(hw::WrOpcode::kRdmaRead, 1000));
  const auto first = c.sent();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].headers.reth.length, 1000u);
  c.arrive_and_settle(read_answer(c, 100, Op::kRcReadResponseFirst, 0, 256));
  c.arrive_and_settle(read_answer(c, 102, Op::kRcReadResponseMiddle, 512, 256));  // 101 is lost
  const auto again = c.sent();
  ASSERT_EQ(psns(again), Psns{101});
  EXPECT_EQ(again[0].headers.reth.addr, 0x10000u + 256);
  EXPECT_EQ(again[0].headers.reth.length, 744u);
  EXPECT_EQ(c.count("requester", "implied_nak_seq_err"), 1u);
  c.arrive(read_answer(c, 101, Op::kRcReadResponseFirst, 256, 256));
  c.arrive(read_answer(c, 102, Op::kRcReadResponseMiddle, 512, 256));
  c.arrive_and_settle(read_answer(c, 103, Op::kRcReadResponseLast, 768, 232));
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kSuccess});
  auto expected = pattern(Connection::kAreaBytes, 3);
  expected.resize(1000);
  EXPECT_EQ(c.bench.bytes(c.area, 1000), expected);
}

TEST(Read, AnAckOfWhatFollowsMeansThatItsAnswerIsLost) {
  Connection c;
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaRead, 300));
  c.post(c.inline_wr());
  ASSERT_EQ(psns(c.sent()), (Psns{100, 102}));
  c.arrive_and_settle(AdapterBench::ack(102));
  EXPECT_TRUE(c.sends().empty());
  EXPECT_EQ(psns(c.sent()), (Psns{100, 102}));
  c.arrive(read_answer(c, 100, Op::kRcReadResponseFirst, 0, 256));
  c.arrive(read_answer(c, 101, Op::kRcReadResponseLast, 256, 44));
  c.arrive_and_settle(AdapterBench::ack(102));
  EXPECT_EQ(statuses(c.sends()), Statuses(2, hw::WcStatus::kSuccess));
}

// What is behind the lost packet says nothing new, however much it is.
TEST(Read, AsksForALostAnswerOnce) {
  Connection c;
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaRead, 256 * 60));
  c.post(c.inline_wr());
  ASSERT_EQ(psns(c.sent()), (Psns{100, 160}));
  const auto answer = [&](std::uint32_t psn) {
    const auto opcode = psn == 159 ? Op::kRcReadResponseLast : Op::kRcReadResponseMiddle;
    return read_answer(c, psn, opcode, (psn - 100) * 256, 256);
  };
  const Time start = c.bench.now() + hw::kMicrosecond;
  for (std::uint32_t psn = 101; psn < 160; ++psn) {  // 100 is lost
    c.bench.arrive_at(start + psn * 100 * hw::kNanosecond, c.qp, answer(psn));
  }
  c.bench.arrive_at(start + 160 * 100 * hw::kNanosecond, c.qp, AdapterBench::ack(160));
  c.settle();
  EXPECT_EQ(psns(c.sent()), (Psns{100, 160}));
  EXPECT_EQ(c.count("requester", "implied_nak_seq_err"), 1u);
  c.arrive(read_answer(c, 100, Op::kRcReadResponseFirst, 0, 256));
  for (std::uint32_t psn = 101; psn < 160; ++psn) c.arrive(answer(psn));
  c.arrive_and_settle(AdapterBench::ack(160));
  EXPECT_EQ(statuses(c.sends()), Statuses(2, hw::WcStatus::kSuccess));
}

TEST(Read, ItsAnswerAcknowledgesWhatCameBefore) {
  Connection c;
  c.bench.post_send(c.qp, c.inline_wr());
  c.post(c.gather_wr(hw::WrOpcode::kRdmaRead, 40));
  c.arrive_and_settle(read_answer(c, 101, Op::kRcReadResponseOnly, 0, 40));
  EXPECT_EQ(statuses(c.sends()), Statuses(2, hw::WcStatus::kSuccess));
}

// The retry starts at the first missing PSN whatever the slot was used for before.
TEST(Read, B20_RetriesFromItsOwnPsnInASlotThatAWriteUsed) {
  hw::QpContext context = AdapterBench::rc_context();
  context.sq_size = 3;
  context.timeout = 5;
  Connection c(context);
  std::uint32_t psn = 100;
  for (int round = 0; round < 6; ++round) {
    c.post(c.gather_wr(hw::WrOpcode::kRdmaWrite, 600));
    c.arrive_and_settle(AdapterBench::ack(psn + 2));
    psn += 3;
    c.sent();
    c.post(c.gather_wr(hw::WrOpcode::kRdmaRead, 512));
    c.arrive_and_settle(read_answer(c, psn, Op::kRcReadResponseFirst, 0, 256));
    c.sent();
    c.bench.run_for(timeout_of(5));
    EXPECT_EQ(psns(c.sent()), Psns{psn + 1});
    c.arrive_and_settle(read_answer(c, psn + 1, Op::kRcReadResponseOnly, 256, 256));
    psn += 2;
    EXPECT_EQ(statuses(c.sends()), Statuses(2, hw::WcStatus::kSuccess));
  }
}

TEST(Read, B35_ANakInTheMiddleOfTheAnswerEndsIt) {
  Connection c;
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaRead, 700));
  c.post(c.inline_wr());
  c.arrive_and_settle(read_answer(c, 100, Op::kRcReadResponseFirst, 0, 256));
  c.arrive_and_settle(AdapterBench::nak(101, hw::NakCode::kRemoteAccess));
  EXPECT_EQ(statuses(c.sends()),
            (Statuses{hw::WcStatus::kRemAccessErr, hw::WcStatus::kWrFlushErr}));
  EXPECT_EQ(c.state(), hw::QpState::kErr);
}

TEST(Atomic, ReturnsTheOldValue) {
  Connection c;
  SendWr wr = c.gather_wr(hw::WrOpcode::kAtomicCmpAndSwp, 8);
  wr.compare_add = 11;
  wr.swap = 22;
  c.post(wr);
  const auto asked = c.sent();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].headers.atomic.compare, 11u);
  EXPECT_EQ(asked[0].headers.atomic.swap_add, 22u);
  EXPECT_TRUE(asked[0].headers.ack_req);
  PeerPacket answer = AdapterBench::request(Op::kRcAtomicAcknowledge, 100);
  answer.headers.atomic_ack.original = 0x1122334455667788;
  c.arrive_and_settle(answer);
  const auto done = c.sends();
  ASSERT_EQ(statuses(done), Statuses{hw::WcStatus::kSuccess});
  EXPECT_EQ(done[0].opcode, hw::WcOpcode::kCompSwap);
  EXPECT_EQ(c.bench.load<std::uint64_t>(c.area), 0x1122334455667788u);
}

TEST(AckRequest, OnTheLastPacketAndOnEveryNth) {
  for (const std::uint32_t every : {2u, 4u, 100u}) {
    BenchOptions options;
    options.parameters.requester.ack_request_packets = every;
    Connection c(AdapterBench::rc_context(), options);
    c.post(c.gather_wr(hw::WrOpcode::kRdmaWrite, 256 * 9 + 1));
    const auto packets = c.sent();
    ASSERT_EQ(packets.size(), 10u);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      EXPECT_EQ(packets[i].headers.ack_req, i == 9 || i % every == every - 1) << i;
    }
  }
}

TEST(AckRequest, B47_OfReliableConnectionsAlone) {
  for (const auto& context :
       {AdapterBench::rc_context(), AdapterBench::uc_context(), AdapterBench::ud_context()}) {
    for (const auto opcode : {hw::WrOpcode::kSend, hw::WrOpcode::kSendWithImm}) {
      Connection c(context);
      SendWr wr = c.inline_wr(opcode);
      wr.flags |= hw::kWqeSolicited;
      wr.datagram.remote_qkey = AdapterBench::kQkey;
      wr.datagram.av.port = 1;
      c.post(wr);
      const auto packets = c.sent();
      ASSERT_EQ(packets.size(), 1u);
      EXPECT_EQ(packets[0].headers.ack_req, context.type == AdapterBench::rc_context().type);
    }
  }
}

TEST(AckRequest, UnsignaledSendsGoWithTheNextSignaledOne) {
  Connection c;
  SendWr quiet = c.inline_wr();
  quiet.flags = 0;
  c.bench.post_send(c.qp, quiet);
  c.bench.post_send(c.qp, quiet);
  c.post(c.inline_wr());
  c.arrive_and_settle(AdapterBench::ack(102));
  const auto done = c.sends();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wqe_index, 2u);
}

TEST(SolicitedEvent, IsAskedForWhereAReceiveCompletes) {
  for (const auto opcode : {hw::WrOpcode::kSend, hw::WrOpcode::kRdmaWrite,
                            hw::WrOpcode::kRdmaWriteWithImm, hw::WrOpcode::kRdmaRead}) {
    Connection c;
    SendWr wr = c.gather_wr(opcode, 400);
    wr.flags |= hw::kWqeSolicited;
    c.post(wr);
    const auto packets = c.sent();
    for (const SentPacket& packet : packets) {
      const bool completes =
          opcode == hw::WrOpcode::kSend || opcode == hw::WrOpcode::kRdmaWriteWithImm;
      EXPECT_EQ(packet.headers.solicited, completes && &packet == &packets.back());
    }
  }
}

TEST(Credits, B79_OneRequestGoesWithoutAndAcksLetMoreGo) {
  Connection c;
  c.post(c.inline_wr(hw::WrOpcode::kSend), 6);
  EXPECT_EQ(psns(c.sent()), Psns{100});
  c.arrive_and_settle(AdapterBench::ack(100, 1, hw::ack_syndrome(2)));  // two more
  EXPECT_EQ(psns(c.sent()), (Psns{101, 102, 103}));  // and the one without credit
  c.arrive_and_settle(AdapterBench::ack(103, 4, hw::ack_syndrome(0)));
  EXPECT_EQ(psns(c.sent()), Psns{104});
  EXPECT_GT(c.count("requester", "n_rc_crwaits"), 0u);
  c.arrive_and_settle(AdapterBench::ack(104, 5, hw::ack_syndrome(hw::kNoCredits)));
  EXPECT_EQ(psns(c.sent()), Psns{105});
  c.post(c.inline_wr(hw::WrOpcode::kSend), 5);  // no credits means no limit
  EXPECT_EQ(c.sent().size(), 5u);
}

TEST(Credits, WhatConsumesNoReceiveNeedsNone) {
  Connection c;
  c.bench.post_send(c.qp, c.inline_wr(hw::WrOpcode::kSend));
  for (int i = 0; i < 3; ++i) c.bench.post_send(c.qp, c.inline_wr());
  c.bench.post_send(c.qp, c.inline_wr(hw::WrOpcode::kSend));
  c.post(c.inline_wr());
  EXPECT_EQ(psns(c.sent()), (Psns{100, 101, 102, 103}));
}

TEST(Credits, TheResponderTellsWhatIsPosted) {
  Connection c;
  c.post_receives(10);
  std::vector<std::uint32_t> told;
  for (std::uint32_t i = 0; i < 5; ++i) {
    c.arrive_and_settle(c.send(500 + i));
    told.push_back(hw::credits_of(hw::syndrome_value(c.sent().at(0).headers.aeth.syndrome)));
  }
  EXPECT_EQ(told, (std::vector<std::uint32_t>{8, 8, 6, 6, 4}));  // of 9, 8, 7, 6, 5
}

TEST(Acks, AreMergedWhileTheyWaitForThePort) {
  BenchOptions options;
  options.byte_time = 8000;  // 1 Gb/s
  options.port_lead = 0;
  Connection c(AdapterBench::rc_context(), options);
  for (std::uint32_t i = 0; i < 20; ++i) c.arrive(c.write(500 + i, 0, 16));
  c.bench.run_for(100 * hw::kMicrosecond);
  const auto acks = c.sent();
  EXPECT_LT(acks.size(), 5u);
  EXPECT_EQ(acks.back().headers.psn, 519u);
  EXPECT_EQ(acks.back().headers.aeth.msn, 20u);
  EXPECT_EQ(c.count("response", "acks") + c.count("response", "acks_merged"), 20u);
}

TEST(Acks, OnlyWhenAsked) {
  Connection c;
  PeerPacket quiet = c.write(500, 0, 16);
  quiet.headers.ack_req = false;
  c.arrive_and_settle(quiet);
  EXPECT_TRUE(c.sent().empty());
  c.arrive_and_settle(c.write(501, 0, 16));
  EXPECT_EQ(psns(c.sent()), Psns{501});
}

}  // namespace
}  // namespace hcasim::testing
