// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What queue pairs get of their shared queue, and the limit.
#include <algorithm>

#include "shared_bench.hpp"

namespace hcasim::testing {
namespace {

TEST(SrqOrder, FirstComeFirstServedOverTwoQueuePairs) {
  SharedBench s;
  BenchQp a = s.create_qp();
  BenchQp b = s.create_qp();
  s.post(8);
  std::uint32_t psn_a = 500;
  std::uint32_t psn_b = 500;
  for (const char who : {'a', 'b', 'b', 'a', 'b', 'a', 'a', 'b'}) {
    if (who == 'a') {
      s.send_and_settle(a, psn_a++);
    } else {
      s.send_and_settle(b, psn_b++);
    }
  }
  EXPECT_EQ(s.received(a), (Ids{1, 4, 6, 7}));
  EXPECT_EQ(s.received(b), (Ids{2, 3, 5, 8}));
}

// Each once, over many laps of a ring that is not a power of two, with messages back to back.
TEST(SrqOrder, B65_EachReceiveIsHandedOutOnce) {
  SharedBench s(11);
  std::vector<BenchQp> qps;
  for (int i = 0; i < 5; ++i) qps.push_back(s.create_qp());
  Ids all;
  std::uint32_t psn = 500;
  for (int lap = 0; lap < 20; ++lap, psn += 2) {
    s.post(10);
    for (BenchQp& qp : qps) {
      s.send(qp, psn);
      s.send(qp, psn + 1);
    }
    s.settle();
    for (BenchQp& qp : qps) {
      const Ids got = s.received(qp);
      EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
      all.insert(all.end(), got.begin(), got.end());
    }
    EXPECT_EQ(s.tail_in_memory(), s.context.head);
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 200u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i + 1);
}

TEST(SrqOrder, EmptyIsNotReadyAndLaterTheSameMessageIsTaken) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.send_and_settle(qp, 500);
  const auto naks = s.bench.sent();
  ASSERT_EQ(naks.size(), 1u);
  EXPECT_EQ(naks[0].headers.aeth.syndrome, hw::rnr_syndrome(1));
  EXPECT_EQ(s.bench.counter("responder", "out_of_buffer"), 1u);
  s.post(1);
  s.send_and_settle(qp, 500);
  EXPECT_EQ(s.received(qp), Ids{1});
  s.send_and_settle(qp, 501);
  EXPECT_EQ(s.bench.counter("responder", "out_of_buffer"), 2u);
}

TEST(SrqOrder, B79_NoCreditsAreAdvertised) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.post(4);
  s.send_and_settle(qp, 500);
  const auto acks = s.bench.sent();
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].headers.aeth.syndrome, hw::ack_syndrome(0x1f));
}

// A WRITE with immediate takes one too; a plain WRITE does not.
TEST(SrqOrder, WriteWithImmediateTakesOne) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.post(2);
  PeerPacket write = AdapterBench::request(hw::BthOpcode::kRcWriteOnly, 500, pattern(16));
  write.headers.reth = {s.area, s.key, 16};
  s.bench.arrive(qp, write);
  write.headers.opcode = hw::BthOpcode::kRcWriteOnlyImm;
  write.headers.psn = 501;
  s.bench.arrive(qp, write);
  s.settle();
  EXPECT_EQ(s.received(qp), Ids{1});
  EXPECT_EQ(s.query().tail, 1u);
}

// The regions of receives are of the SRQ's domain, those that the peer names of the queue pair's.
TEST(SrqOrder, KeysAreThoseOfItsDomain) {
  SharedBench s(17, AdapterBench::kPd + 1);
  BenchQp qp = s.create_qp();
  s.post(1);
  s.send_and_settle(qp, 500);
  EXPECT_EQ(statuses(s.bench.poll(qp.recv_cq)), Statuses{hw::WcStatus::kSuccess});
  PeerPacket write = AdapterBench::request(hw::BthOpcode::kRcWriteOnly, 501, pattern(16));
  write.headers.reth = {s.area, s.key, 16};
  s.bench.sent();
  s.bench.arrive(qp, write);
  s.settle();
  ASSERT_EQ(s.bench.sent().size(), 1u);
  EXPECT_EQ(s.bench.query(qp).state, hw::QpState::kErr);

  SharedBench other;
  const std::uint32_t foreign =
      other.bench.create_mr(other.area, 4096, hw::kLocalWrite, false, AdapterBench::kPd + 1);
  BenchQp taker = other.create_qp();
  other.key = foreign;
  other.post(1);
  other.send_and_settle(taker, 500);
  EXPECT_EQ(statuses(other.bench.poll(taker.recv_cq)), Statuses{hw::WcStatus::kLocProtErr});
}

// A slot is free once it was handed out, whichever message ends first.
TEST(SrqOrder, TailInMemoryNeverGoesBack) {
  SharedBench s;
  BenchQp slow = s.create_qp();
  BenchQp fast = s.create_qp();
  s.post(3);
  s.send(slow, 500, 256, hw::BthOpcode::kRcSendFirst);
  s.settle();
  EXPECT_EQ(s.tail_in_memory(), 0u);
  s.send_and_settle(fast, 500);
  EXPECT_EQ(s.tail_in_memory(), 2u);
  s.send(slow, 501, 32, hw::BthOpcode::kRcSendLast);
  s.settle();
  EXPECT_EQ(s.tail_in_memory(), 2u);
  EXPECT_EQ(s.received(slow), Ids{1});
  EXPECT_EQ(s.received(fast), Ids{2});
}

// The slot is read once: what the owner writes later shows whole or not at all, and what a message
// does follows from what was read.
TEST(SrqOrder, B40_ASlotThatIsChangedUnderTheAdapterIsReadOnce) {
  unsigned old_ones = 0;
  constexpr unsigned kSteps = 60;
  for (unsigned step = 0; step < kSteps; ++step) {
    SharedBench s;
    BenchQp qp = s.create_qp();
    s.store(1);
    s.ring();
    s.bench.run_for(step * 20 * hw::kNanosecond);
    auto wqe = s.bench.load<hw::ReceiveWqe>(s.context.base);
    wqe.num_sge = 0;  // room for nothing
    s.bench.store(s.context.base, wqe);
    s.send_and_settle(qp, 500);
    EXPECT_EQ(s.bench.dma.reads(s.context.base, 64).size(), 1u);
    const auto done = statuses(s.bench.poll(qp.recv_cq));
    const bool old_one = done == Statuses{hw::WcStatus::kSuccess};
    EXPECT_TRUE(old_one || done == Statuses{hw::WcStatus::kLocLenErr}) << "step " << step;
    EXPECT_EQ(s.bench.dma.writes(s.area, SharedBench::kAreaBytes).empty(), !old_one);
    old_ones += old_one ? 1 : 0;
  }
  EXPECT_GT(old_ones, 0u);
  EXPECT_LT(old_ones, kSteps);
}

// More elements than a slot can hold do not lead beyond it.
TEST(SrqOrder, B40_TooManyElementsEndAtTheSlot) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.store(2, 16);  // the slot behind it names the area too, in other words
  auto wqe = s.bench.load<hw::ReceiveWqe>(s.context.base);
  wqe.num_sge = 255;
  s.bench.store(s.context.base, wqe);
  s.ring();
  s.send_and_settle(qp, 500);  // 32 bytes
  const auto done = statuses(s.bench.poll(qp.recv_cq));
  ASSERT_EQ(done.size(), 1u);
  EXPECT_NE(done[0], hw::WcStatus::kSuccess);
  EXPECT_EQ(s.bench.query(qp).state, hw::QpState::kErr);
}

// Strictly fewer than the limit, once for each arming, with the number of the arming.
TEST(SrqLimit, B62_AtEachBoundary) {
  constexpr std::uint32_t kPosted = 6;
  for (std::uint32_t limit = 1; limit <= kPosted; ++limit) {
    SharedBench s;
    BenchQp qp = s.create_qp();
    s.post(kPosted);
    ASSERT_EQ(s.set_limit(limit, 40 + limit), hw::CommandStatus::kOk);
    for (std::uint32_t taken = 1; taken <= kPosted; ++taken) {
      s.send_and_settle(qp, 499 + taken);
      const auto events = s.bench.events(hw::EqeType::kSrqLimit);
      const bool fires = kPosted - taken == limit - 1;
      ASSERT_EQ(events.size(), fires ? 1u : 0u) << "limit " << limit << ", taken " << taken;
      if (fires) {
        EXPECT_EQ(events[0].number, s.context.srqn);
        EXPECT_EQ(events[0].value, 40 + limit);
      }
      EXPECT_EQ(s.query().limit, kPosted - taken >= limit ? limit : 0u);
    }
  }
}

// A limit above what is posted waits for the next take.
TEST(SrqLimit, B62_IsJudgedAtTheNextTakeOnly) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.post(3);
  ASSERT_EQ(s.set_limit(5, 1), hw::CommandStatus::kOk);
  s.settle();
  EXPECT_TRUE(s.bench.events(hw::EqeType::kSrqLimit).empty());
  s.send_and_settle(qp, 500);
  EXPECT_EQ(s.bench.events(hw::EqeType::kSrqLimit).size(), 1u);
  s.send_and_settle(qp, 501);
  EXPECT_TRUE(s.bench.events(hw::EqeType::kSrqLimit).empty());
  ASSERT_EQ(s.set_limit(5, 2), hw::CommandStatus::kOk);
  s.send_and_settle(qp, 502);
  const auto again = s.bench.events(hw::EqeType::kSrqLimit);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].value, 2u);
}

TEST(SrqLimit, DisarmedAndEmptyTakesFireNothing) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  ASSERT_EQ(s.set_limit(4, 1), hw::CommandStatus::kOk);
  s.send_and_settle(qp, 500);  // finds nothing
  EXPECT_TRUE(s.bench.events(hw::EqeType::kSrqLimit).empty());
  ASSERT_EQ(s.set_limit(0, 2), hw::CommandStatus::kOk);
  s.post(2);
  s.send_and_settle(qp, 500);
  EXPECT_TRUE(s.bench.events(hw::EqeType::kSrqLimit).empty());
}

TEST(SrqLimit, GivenAtCreation) {
  SharedBench s;
  s.context.srqn = hw::bar::kSrqBit | 6;
  s.context.base = s.new_ring(s.context.size);
  s.context.limit = 2;
  s.context.arm_number = 9;
  ASSERT_EQ(s.bench.command(hw::CommandOpcode::kCreateSrq, s.context.srqn, s.context),
            hw::CommandStatus::kOk);
  BenchQp qp = s.create_qp();
  s.post(2);
  s.send_and_settle(qp, 500);
  const auto events = s.bench.events(hw::EqeType::kSrqLimit);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].value, 9u);
}

}  // namespace
}  // namespace hcasim::testing
