// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "connection.hpp"

namespace hcasim::testing {
namespace {

TEST(RnrResponder, NaksWithItsTimerCodeAndIsSilentUntilThePacketComesAgain) {
  for (const std::uint8_t code : {std::uint8_t{0}, std::uint8_t{12}, std::uint8_t{31}}) {
    hw::QpContext context = AdapterBench::rc_context();
    context.min_rnr_timer = code;
    Connection c(context);
    c.arrive_and_settle(c.send(500));
    const auto naks = c.sent();
    ASSERT_EQ(naks.size(), 1u);
    EXPECT_EQ(naks[0].headers.psn, 500u);
    EXPECT_EQ(naks[0].headers.aeth.syndrome, hw::rnr_syndrome(code));
    c.arrive_and_settle(c.send(501));
    c.arrive_and_settle(c.send(502));
    EXPECT_TRUE(c.sent().empty());
    EXPECT_EQ(c.count("responder", "out_of_sequence"), 0u);
    c.post_receives(2);
    c.arrive_and_settle(c.send(500));
    c.arrive_and_settle(c.send(501));
    EXPECT_EQ(psns(c.sent()), (Psns{500, 501}));
    EXPECT_EQ(c.receives().size(), 2u);
    EXPECT_EQ(c.count("responder", "out_of_buffer"), 1u);
  }
}

// What was never posted is never used, at any depth and over the end of the ring.
TEST(RnrResponder, B01_NoReceiveBeyondThosePosted) {
  for (const std::uint32_t slots : {2u, 16u, 17u, 18u, 385u}) {
    hw::QpContext context = AdapterBench::rc_context();
    context.rq_size = slots;
    Connection c(context);
    std::uint32_t psn = 500;
    for (std::uint32_t lap = 0; lap < 3; ++lap) {
      c.post_receives(static_cast<int>(slots - 1));
      for (std::uint32_t i = 0; i < slots - 1; ++i) {
        c.arrive(c.send(psn++));
        if (i % 64 == 63) c.settle();
      }
      c.settle();
      EXPECT_EQ(c.receives().size(), slots - 1);
      c.sent();
      c.arrive_and_settle(c.send(psn));
      const auto naks = c.sent();
      ASSERT_EQ(naks.size(), 1u);
      EXPECT_EQ(hw::syndrome_kind(naks[0].headers.aeth.syndrome), hw::SyndromeKind::kRnrNak);
    }
  }
}

// A queue pair without a ring of its own never uses another one's.
TEST(RnrResponder, AQueuePairWithoutReceiveRingHasNone) {
  Connection c;
  c.post_receives(4);
  hw::QpContext context = AdapterBench::rc_context();
  context.rq_size = 0;
  BenchQp bare = c.bench.create_qp(context);
  c.bench.arrive(bare, c.send(500));
  c.settle();
  const auto naks = c.sent();
  ASSERT_EQ(naks.size(), 1u);
  EXPECT_EQ(hw::syndrome_kind(naks[0].headers.aeth.syndrome), hw::SyndromeKind::kRnrNak);
  EXPECT_TRUE(c.bench.poll(bare.recv_cq).empty());
  EXPECT_EQ(c.count("receive_queue", "takes_ok"), 0u);
}

TEST(RnrRequester, B26_RepeatsAfterTheWaitAndNotAPicosecondBefore) {
  for (std::uint8_t code = 0; code < 32; ++code) {
    Connection c;
    c.post(c.inline_wr(hw::WrOpcode::kSend));
    c.sent();
    c.arrive(AdapterBench::rnr_nak(100, code));
    const Time heard = c.bench.edge_after(c.bench.now()) + c.bench.cycles(8);
    const Time over = heard + hw::rnr_timer(code);
    c.bench.run_to(over);
    EXPECT_TRUE(c.sent().empty());
    EXPECT_EQ(c.count("wqe_fetch", "fetches"), 2u);  // fetched again during the wait
    const Time again = c.bench.edge_after(over) + c.bench.cycles(10);
    c.bench.run_to(again - 1);
    EXPECT_TRUE(c.sent().empty()) << "code " << int{code};
    c.bench.run_to(again);
    EXPECT_EQ(psns(c.sent()), Psns{100}) << "code " << int{code};
  }
}

// The ACK timeout (code 14, 67 ms) is shorter than the wait (code 28, 164 ms).
TEST(RnrRequester, B26_TheAckTimerIsOffDuringTheWait) {
  hw::QpContext context = AdapterBench::rc_context();
  context.timeout = 14;
  context.retry_cnt = 1;
  context.rnr_retry = 1;
  Connection c(context);
  c.post(c.inline_wr(hw::WrOpcode::kSend));
  c.sent();
  c.arrive_and_settle(AdapterBench::rnr_nak(100, 28));
  c.bench.run_for(163 * hw::kMillisecond);
  EXPECT_TRUE(c.sent().empty());
  EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 0u);
  c.bench.run_for(hw::kMillisecond);
  EXPECT_EQ(psns(c.sent()), Psns{100});
  c.arrive_and_settle(AdapterBench::ack(100));
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kSuccess});
}

// rnr_retry n: n waits, an error at the NAK after that.
TEST(RnrRequester, B80_GivesUpAfterItsRetries) {
  for (std::uint8_t retries = 0; retries < 7; ++retries) {
    hw::QpContext context = AdapterBench::rc_context();
    context.rnr_retry = retries;
    Connection c(context);
    c.post(c.inline_wr(hw::WrOpcode::kSend));
    for (std::uint8_t i = 0; i <= retries; ++i) {
      EXPECT_EQ(psns(c.sent()), Psns{100});
      EXPECT_TRUE(c.sends().empty());
      c.arrive_and_settle(AdapterBench::rnr_nak(100, 1));
    }
    EXPECT_TRUE(c.sent().empty());
    EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kRnrRetryExcErr});  // once
    EXPECT_EQ(c.state(), hw::QpState::kErr);
    EXPECT_EQ(c.count("requester", "n_rnr_naks"), retries + 1u);
  }
}

TEST(RnrRequester, B25_SevenIsForEver) {
  Connection c;
  c.post(c.inline_wr(hw::WrOpcode::kSend));
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(psns(c.sent()), Psns{100});
    c.arrive_and_settle(AdapterBench::rnr_nak(100, 1));
  }
  c.arrive_and_settle(AdapterBench::ack(100));
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kSuccess});
}

TEST(RnrRequester, ProgressReloadsTheRetries) {
  hw::QpContext context = AdapterBench::rc_context();
  context.rnr_retry = 1;
  Connection c(context);
  c.post(c.inline_wr(hw::WrOpcode::kSend), 4);
  for (std::uint32_t psn = 100; psn < 104; ++psn) {
    c.arrive_and_settle(AdapterBench::rnr_nak(psn, 1));
    c.arrive_and_settle(AdapterBench::ack(psn, psn - 99));
  }
  EXPECT_EQ(statuses(c.sends()), Statuses(4, hw::WcStatus::kSuccess));
}

TEST(RnrRequester, ASecondNakDuringTheWaitChangesNothing) {
  hw::QpContext context = AdapterBench::rc_context();
  context.rnr_retry = 1;
  Connection c(context);
  c.post(c.inline_wr(hw::WrOpcode::kSend));
  c.sent();
  c.arrive(AdapterBench::rnr_nak(100, 13));
  const Time over = c.bench.edge_after(c.bench.now()) + c.bench.cycles(8) + hw::rnr_timer(13);
  c.bench.run_for(500 * hw::kMicrosecond);
  c.arrive(AdapterBench::rnr_nak(100, 13));
  c.bench.run_to(over + hw::kMicrosecond);
  EXPECT_EQ(psns(c.sent()), Psns{100});
  EXPECT_EQ(c.state(), hw::QpState::kRts);
}

TEST(RnrRequester, AcknowledgesWhatCameBefore) {
  Connection c;
  c.post(c.inline_wr(), 3);
  c.sent();
  c.arrive_and_settle(AdapterBench::rnr_nak(102, 1));
  EXPECT_EQ(c.sends().size(), 2u);
  EXPECT_EQ(psns(c.sent()), Psns{102});
}

// What is behind the READ would otherwise be sent again before its time.
TEST(RnrRequester, WaitsThoughAnEarlierResponseWasLost) {
  for (const bool known : {false, true}) {  // that it was lost
    Connection c;
    SendWr read = c.gather_wr(hw::WrOpcode::kRdmaRead, 300);
    c.bench.post_send(c.qp, read);
    c.post(c.inline_wr(hw::WrOpcode::kSend));
    ASSERT_EQ(psns(c.sent()), (Psns{100, 102}));
    if (known) {
      PeerPacket rest = AdapterBench::request(hw::BthOpcode::kRcReadResponseLast, 101, pattern(44));
      c.arrive_and_settle(rest);
      ASSERT_EQ(psns(c.sent()), (Psns{100, 102}));
    }
    c.arrive(AdapterBench::rnr_nak(102, 12));
    c.bench.run_for(630 * hw::kMicrosecond);
    EXPECT_TRUE(c.sent().empty());
    c.bench.run_for(20 * hw::kMicrosecond);
    EXPECT_EQ(psns(c.sent()), (Psns{100, 102}));
    EXPECT_EQ(c.count("requester", "implied_nak_seq_err"), 1u);
  }
}

// What needs no receive has no budget of RNR retries: it neither fails by them nor uses them up.
TEST(RnrRequester, B07_WhatTakesNoReceiveNeverRunsOutOfRetries) {
  for (const auto opcode : {hw::WrOpcode::kRdmaWrite, hw::WrOpcode::kRdmaRead}) {
    for (std::uint8_t retries = 0; retries < 7; ++retries) {
      hw::QpContext context = AdapterBench::rc_context();
      context.rnr_retry = retries;
      Connection c(context);
      c.post(c.gather_wr(opcode, 16));
      c.bench.post_send(c.qp, c.inline_wr(hw::WrOpcode::kSend));
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(psns(c.sent()), Psns{100});
        c.arrive_and_settle(AdapterBench::rnr_nak(100, 1));
      }
      EXPECT_EQ(c.state(), hw::QpState::kRts);
      EXPECT_TRUE(c.sends().empty());
      EXPECT_EQ(c.count("requester", "n_rnr_naks"), 10u);
    }
  }
}

// The SEND behind it has its budget whole.
TEST(RnrRequester, B07_AWriteLeavesTheRetriesOfTheNextSend) {
  hw::QpContext context = AdapterBench::rc_context();
  context.rnr_retry = 1;
  Connection c(context);
  c.bench.post_send(c.qp, c.inline_wr());
  c.post(c.inline_wr(hw::WrOpcode::kSend));
  for (int i = 0; i < 3; ++i) c.arrive_and_settle(AdapterBench::rnr_nak(100, 1));
  c.arrive_and_settle(AdapterBench::rnr_nak(101, 1));
  EXPECT_EQ(c.state(), hw::QpState::kRts);
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kSuccess});
  c.arrive_and_settle(AdapterBench::rnr_nak(101, 1));
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kRnrRetryExcErr});
}

// The data of a WRITE with immediate that found no receive is written once, after the retry.
TEST(RnrResponder, B49_WriteWithImmediateIsWrittenOnce) {
  Connection c;
  PeerPacket packet = c.write(500, 0, 64, hw::BthOpcode::kRcWriteOnlyImm);
  packet.headers.imm.value = 0x1234;
  c.arrive_and_settle(packet);
  EXPECT_EQ(hw::syndrome_kind(c.sent().at(0).headers.aeth.syndrome), hw::SyndromeKind::kRnrNak);
  EXPECT_TRUE(c.bench.dma.writes(c.area, 64).empty());
  c.post_receives(2);
  c.arrive_and_settle(packet);
  EXPECT_EQ(c.bench.dma.writes(c.area, 64).size(), 1u);
  const auto done = c.receives();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].opcode, hw::WcOpcode::kRecvRdmaWithImm);
  EXPECT_EQ(done[0].imm_or_key, 0x1234u);
  EXPECT_EQ(done[0].byte_len, 64u);
  EXPECT_EQ(c.bench.issue(hw::CommandOpcode::kDestroyMr, c.key).status, hw::CommandStatus::kOk);
}

}  // namespace
}  // namespace hcasim::testing
