// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "connection.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

void expect_refused(Connection& c, std::uint32_t psn, hw::NakCode code) {
  expect_nak(c.sent(), psn, code);
  EXPECT_EQ(c.state(), hw::QpState::kErr);
}

struct Sequence {
  const char* what;
  std::vector<Op> good;
  Op bad;
};

TEST(InvalidRequest, OpcodesOutOfTheirSequence) {
  const std::vector<Sequence> cases{
      {"MIDDLE first", {}, Op::kRcSendMiddle},
      {"LAST first", {}, Op::kRcSendLast},
      {"WRITE LAST first", {}, Op::kRcWriteLast},
      {"ONLY in a SEND", {Op::kRcSendFirst}, Op::kRcSendOnly},
      {"FIRST in a SEND", {Op::kRcSendFirst, Op::kRcSendMiddle}, Op::kRcSendFirst},
      {"WRITE in a SEND", {Op::kRcSendFirst}, Op::kRcWriteMiddle},
      {"READ in a SEND", {Op::kRcSendFirst}, Op::kRcReadRequest},
      {"SEND in a WRITE", {Op::kRcWriteFirst}, Op::kRcSendMiddle},
      {"atomic in a WRITE", {Op::kRcWriteFirst}, Op::kRcFetchAdd},
      {"no operation", {}, static_cast<Op>(0x15)},
      {"MIDDLE after LAST", {Op::kRcSendFirst, Op::kRcSendLast}, Op::kRcSendMiddle},
  };
  for (const Sequence& one : cases) {
    SCOPED_TRACE(one.what);
    Connection c;
    c.post_receives(4);
    std::uint32_t psn = 500;
    for (const Op opcode : one.good) {
      PeerPacket packet = c.write(psn++, 0, 256, opcode, 2048);
      packet.headers.ack_req = false;
      c.arrive_and_settle(packet);
    }
    const bool data = one.bad != Op::kRcReadRequest && one.bad != Op::kRcFetchAdd;
    c.arrive_and_settle(c.write(psn, 0, data ? 256 : 0, one.bad, 2048));
    expect_refused(c, psn, hw::NakCode::kInvalidRequest);
  }
}

TEST(InvalidRequest, Lengths) {
  struct Case {
    Op opcode;
    std::size_t bytes;
    std::uint32_t total;
    bool inside;  // behind a FIRST
  };
  for (const Case& one :
       std::vector<Case>{{Op::kRcSendFirst, 255, 0, false},     // not full
                         {Op::kRcSendOnly, 257, 0, false},      // more than the MTU
                         {Op::kRcWriteFirst, 100, 600, false},  // not full
                         {Op::kRcWriteOnly, 100, 101, false},   // less than it says
                         {Op::kRcWriteOnly, 100, 99, false},    // more than it says
                         {Op::kRcWriteFirst, 256, 256, false},  // should have been an ONLY
                         {Op::kRcWriteMiddle, 256, 0, true},    // 512 of 500
                         {Op::kRcWriteLast, 243, 0, true},
                         {Op::kRcWriteLast, 0, 0, true}}) {
    SCOPED_TRACE(::testing::Message() << int(one.opcode) << " with " << one.bytes);
    Connection c;
    c.post_receives(2);
    std::uint32_t psn = 500;
    if (one.inside) {
      PeerPacket first = c.write(psn++, 0, 256, Op::kRcWriteFirst, 500);
      first.headers.ack_req = false;
      c.arrive_and_settle(first);
    }
    c.arrive_and_settle(c.write(psn, 0, one.bytes, one.opcode, one.total));
    expect_refused(c, psn, hw::NakCode::kInvalidRequest);
    EXPECT_TRUE(c.receives().empty());
  }
}

TEST(InvalidRequest, N_AtomicInvalidQpAccess_WhatTheQueuePairDoesNotAllow) {
  for (const std::uint32_t missing : {hw::kRemoteWrite, hw::kRemoteRead, hw::kRemoteAtomic}) {
    hw::QpContext context = AdapterBench::rc_context();
    context.access_flags &= ~missing;
    Connection c(context);
    c.arrive_and_settle(missing == hw::kRemoteWrite  ? c.write(500, 0, 16)
                        : missing == hw::kRemoteRead ? c.read(500, 0, 16)
                                                     : c.fetch_add(500, 0, 1));
    expect_refused(c, 500, hw::NakCode::kInvalidRequest);
    EXPECT_EQ(c.bench.events(hw::EqeType::kQpRequestError).size(), 1u);
  }
}

TEST(InvalidRequest, N_AtomicNonAlignedAddr_AnAtomicOffItsBoundary) {
  Connection c;
  c.arrive_and_settle(c.fetch_add(500, 4, 1));
  expect_refused(c, 500, hw::NakCode::kInvalidRequest);
}

TEST(InvalidRequest, MoreReadsAndAtomicsThanAgreed) {
  hw::QpContext context = AdapterBench::rc_context();
  context.max_dest_rd_atomic = 2;
  Connection c(context);
  for (std::uint32_t i = 0; i < 3; ++i) c.arrive(c.read(500 + i, 0, 16));
  c.settle();
  const auto answers = c.sent();
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back().headers.aeth.syndrome, hw::nak_syndrome(hw::NakCode::kInvalidRequest));
  EXPECT_EQ(answers.back().headers.psn, 502u);
  EXPECT_EQ(answers.size(), 3u);
}

TEST(InvalidRequest, H13_ASendThatIsTooLongForItsReceive) {
  Connection c;
  c.post_receives(2, 300);
  PeerPacket first = c.send(500, 256, Op::kRcSendFirst);
  first.headers.ack_req = false;
  c.arrive_and_settle(first);
  c.arrive_and_settle(c.send(501, 45, Op::kRcSendLast));
  expect_refused(c, 501, hw::NakCode::kInvalidRequest);
  const auto done = c.receives();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, hw::WcStatus::kLocLenErr);
  EXPECT_EQ(done[0].wr_id, 1u);
  EXPECT_EQ(c.count("responder", "resp_local_length_error"), 1u);
}

TEST(RemoteAccess, B37_KeysBoundsAndRights) {
  struct Case {
    const char* what;
    std::uint64_t address;  // beyond the area's first byte
    std::uint32_t length;
    std::uint32_t key;  // beyond the right one
  };
  constexpr std::uint32_t kEnd = Connection::kAreaBytes;
  for (const Case& one : std::vector<Case>{{"unknown key", 0, 16, 77},
                                           {"one byte too many", kEnd - 15, 16, 0},
                                           {"before the region", ~std::uint64_t{0}, 16, 0},
                                           {"at its end", kEnd, 1, 0}}) {
    SCOPED_TRACE(one.what);
    for (const Op opcode : {Op::kRcWriteOnly, Op::kRcReadRequest}) {
      Connection c;
      PeerPacket packet =
          c.write(500, one.address, opcode == Op::kRcReadRequest ? 0 : one.length, opcode);
      packet.headers.reth.length = one.length;
      packet.headers.reth.rkey += one.key;
      c.arrive_and_settle(packet);
      expect_refused(c, 500, hw::NakCode::kRemoteAccess);
      EXPECT_EQ(c.bench.events(hw::EqeType::kQpAccessError).size(), 1u);
    }
  }
}

TEST(RemoteAccess, B50_TheEndOfTheAddressSpaceDoesNotWrap) {
  for (const Op opcode : {Op::kRcWriteFirst, Op::kRcReadRequest}) {
    Connection c;
    PeerPacket packet = c.write(500, 0, opcode == Op::kRcReadRequest ? 0 : 256, opcode);
    packet.headers.reth.addr = 0xffff'ffff'ffff'fc00;
    packet.headers.reth.length = 0x400;
    c.arrive_and_settle(packet);
    expect_refused(c, 500, hw::NakCode::kRemoteAccess);
  }
  Connection c;
  PeerPacket atomic = c.fetch_add(500, 0, 1);
  atomic.headers.atomic.addr = 0xffff'ffff'ffff'fff8;
  c.arrive_and_settle(atomic);
  expect_refused(c, 500, hw::NakCode::kRemoteAccess);
}

TEST(RemoteAccess, N_AtomicInvalidMrAccess_RightsAndDomainOfTheRegion) {
  for (const std::uint32_t missing :
       std::vector<std::uint32_t>{hw::kRemoteWrite, hw::kRemoteRead, hw::kRemoteAtomic, 0}) {
    Connection c;
    const std::uint32_t all =
        hw::kLocalWrite | hw::kRemoteWrite | hw::kRemoteRead | hw::kRemoteAtomic;
    c.key = c.bench.create_mr(c.area, 4096, all & ~missing, false,
                              missing == 0 ? AdapterBench::kPd + 1 : AdapterBench::kPd);
    c.arrive_and_settle(missing == hw::kRemoteRead     ? c.read(500, 0, 16)
                        : missing == hw::kRemoteAtomic ? c.fetch_add(500, 0, 1)
                                                       : c.write(500, 0, 16));
    expect_refused(c, 500, hw::NakCode::kRemoteAccess);
  }
}

// The NAK is the last answer, and the queue pair is done for.
TEST(RemoteAccess, ARegionThatGoesInTheMiddleOfAnAnswer) {
  BenchOptions options;
  options.byte_time = 80'000;  // 0.1 Gb/s
  options.port_lead = 0;
  options.parameters.requester.gather_reads = 2;
  Connection c(AdapterBench::rc_context(), options);
  c.arrive(c.read(500, 0, 256 * 20));
  c.bench.run_for(100 * hw::kMicrosecond);
  EXPECT_EQ(c.bench.issue(hw::CommandOpcode::kDestroyMr, c.key).status, hw::CommandStatus::kOk);
  c.arrive(c.send(520));
  c.bench.run_for(hw::kMillisecond);
  const auto answers = c.sent();
  ASSERT_GE(answers.size(), 2u);
  EXPECT_EQ(answers[0].headers.opcode, Op::kRcReadResponseFirst);
  const auto& last = answers.back().headers;
  EXPECT_EQ(last.opcode, Op::kRcAcknowledge);
  EXPECT_EQ(last.aeth.syndrome, hw::nak_syndrome(hw::NakCode::kRemoteAccess));
  EXPECT_LT(last.psn, 519u);
  EXPECT_EQ(c.bench.events(hw::EqeType::kQpAccessError).size(), 1u);
  EXPECT_EQ(c.state(), hw::QpState::kErr);
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
}

TEST(RemoteOperational, AReceiveWhoseKeyIsWrong) {
  Connection c;
  c.bench.post_recv(c.qp, 5, {{c.area, 100, c.key + 50}});
  c.post_receives(1);
  c.arrive_and_settle(c.send(500));
  expect_refused(c, 500, hw::NakCode::kRemoteOperational);
  const auto done = c.receives();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 5u);
  EXPECT_EQ(done[0].status, hw::WcStatus::kLocProtErr);
}

TEST(RemoteOperational, AnAtomicWhoseMemoryFails) {
  Connection c;
  c.bench.dma.fail_reads(c.area, 8);
  c.arrive_and_settle(c.fetch_add(500, 0, 1));
  const auto answers = c.sent();
  expect_nak(answers, 500, hw::NakCode::kRemoteOperational);
  EXPECT_EQ(answers.at(0).headers.aeth.msn, 0u);  // it was not carried out
  EXPECT_EQ(c.state(), hw::QpState::kErr);
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
}

TEST(RemoteOperational, AReadWhoseMemoryFails) {
  Connection c;
  c.bench.dma.fail_reads(c.area + 256, 8);
  c.arrive_and_settle(c.read(500, 0, 700));
  const auto answers = c.sent();
  ASSERT_GE(answers.size(), 2u);
  EXPECT_EQ(answers[0].headers.opcode, Op::kRcReadResponseFirst);
  EXPECT_EQ(answers[1].headers.psn, 501u);
  EXPECT_EQ(answers[1].headers.opcode, Op::kRcAcknowledge);
  EXPECT_EQ(answers[1].headers.aeth.syndrome, hw::nak_syndrome(hw::NakCode::kRemoteOperational));
  EXPECT_EQ(answers.size(), 2u);  // not the rest of the response
  EXPECT_EQ(c.state(), hw::QpState::kErr);
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
}

TEST(ZeroLength, H7_Quirk17_NeedsNoKey) {
  Connection c;
  PeerPacket write = c.write(500, 0, 0);
  write.headers.reth.rkey = 0xdead;
  c.arrive_and_settle(write);
  PeerPacket read = c.read(501, 0, 0);
  read.headers.reth.rkey = 0xdead;
  c.arrive_and_settle(read);
  c.post_receives(1, 100);
  c.arrive_and_settle(c.send(502, 0));
  const auto answers = c.sent();
  EXPECT_EQ(opcodes(answers),
            (Opcodes{Op::kRcAcknowledge, Op::kRcReadResponseOnly, Op::kRcAcknowledge}));
  const auto done = c.receives();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].byte_len, 0u);
}

TEST(ZeroLength, AReceiveWithoutElementsTakesAnEmptySend) {
  Connection c;
  c.bench.receive(c.qp, 9, {});
  c.settle();
  c.arrive_and_settle(c.send(500, 0));
  EXPECT_EQ(statuses(c.receives()), Statuses{hw::WcStatus::kSuccess});
}

TEST(ZeroLength, N_ZeroSize_RequestsOfEachKindAreOnePacket) {
  Connection c;
  SendWr empty_read = c.gather_wr(hw::WrOpcode::kRdmaRead, 0);
  c.bench.post_send(c.qp, c.inline_wr(hw::WrOpcode::kSend, 0));
  c.bench.post_send(c.qp, c.inline_wr(hw::WrOpcode::kRdmaWrite, 0));
  c.post(empty_read);
  EXPECT_EQ(opcodes(c.sent()), (Opcodes{Op::kRcSendOnly, Op::kRcWriteOnly, Op::kRcReadRequest}));
  c.arrive_and_settle(AdapterBench::request(Op::kRcReadResponseOnly, 102));
  EXPECT_EQ(statuses(c.sends()), Statuses(3, hw::WcStatus::kSuccess));
}

TEST(WriteWithImmediate, TakesItsReceiveForItsLastPacketOnly) {
  Connection c;
  PeerPacket first = c.write(500, 0, 256, Op::kRcWriteFirst, 600);
  PeerPacket middle = c.write(501, 0, 256, Op::kRcWriteMiddle);
  PeerPacket last = c.write(502, 0, 88, Op::kRcWriteLastImm);
  last.headers.imm.value = 7;
  c.arrive_and_settle(first);
  c.arrive_and_settle(middle);
  EXPECT_EQ(c.count("receive_queue", "takes_empty"), 0u);
  c.post_receives(3);
  EXPECT_EQ(c.count("receive_queue", "takes_ok"), 0u);
  c.arrive_and_settle(last);
  EXPECT_EQ(c.count("receive_queue", "takes_ok"), 1u);
  const auto done = c.receives();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].byte_len, 600u);
  EXPECT_EQ(done[0].imm_or_key, 7u);
  EXPECT_EQ(done[0].flags, hw::kCqeWithImm);
}

// Where a receive is in hand, it tells; but the key is looked at before one is taken.
TEST(WriteWithImmediate, B37_AWrongKeyTakesNoReceive) {
  Connection c;
  c.post_receives(2);
  PeerPacket packet = c.write(500, 0, 16, Op::kRcWriteOnlyImm);
  packet.headers.reth.rkey += 5;
  c.arrive_and_settle(packet);
  expect_refused(c, 500, hw::NakCode::kRemoteAccess);
  EXPECT_EQ(c.count("receive_queue", "takes_ok"), 0u);
}

TEST(SendWithInvalidate, B38_KillsAFastRegisterRegionOnly) {
  for (const bool fast : {true, false}) {
    Connection c;
    const std::uint32_t key = c.bench.create_mr(c.area, 4096, hw::kRemoteWrite, fast);
    c.post_receives(2);
    PeerPacket packet = c.send(500, 16, Op::kRcSendOnlyInvalidate);
    packet.headers.ieth.rkey = key;
    c.arrive_and_settle(packet);
    if (!fast) {
      expect_refused(c, 500, hw::NakCode::kRemoteAccess);
      continue;
    }
    const auto done = c.receives();
    ASSERT_EQ(statuses(done), Statuses{hw::WcStatus::kSuccess});
    EXPECT_EQ(done[0].flags, hw::kCqeWithInvalidate);
    EXPECT_EQ(done[0].imm_or_key, key);
    c.sent();
    c.key = key;
    c.arrive_and_settle(c.write(501, 0, 16));
    expect_refused(c, 501, hw::NakCode::kRemoteAccess);
  }
}

TEST(Drops, WhatIsForNobody) {
  Connection c;
  PeerPacket packet = c.send(500);
  BenchQp nobody = c.qp;
  nobody.context.qpn = 0x777;
  c.bench.arrive(nobody, packet);
  packet.headers.opcode = Op::kUcSendOnly;
  c.arrive(packet);
  packet.headers.opcode = Op::kUdSendOnly;
  c.arrive_and_settle(packet);
  EXPECT_EQ(c.count("responder", "n_pkt_drops"), 3u);
  EXPECT_TRUE(c.sent().empty());
  BenchQp early = c.bench.create_qp(AdapterBench::rc_context(), hw::QpState::kInit);
  c.bench.arrive(early, c.send(500));
  c.settle();
  EXPECT_EQ(c.count("responder", "n_pkt_drops"), 4u);
}

TEST(CommEst, OnceForEachStayInRtr) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp(AdapterBench::rc_context(), hw::QpState::kRtr);
  bench.run_idle();
  bench.events();
  for (std::uint32_t i = 0; i < 2; ++i) {
    bench.arrive(qp, AdapterBench::request(Op::kRcWriteOnly, 500 + i));
    bench.run_idle();
  }
  EXPECT_EQ(bench.events(hw::EqeType::kCommEst).size(), 1u);
}

}  // namespace
}  // namespace hcasim::testing
