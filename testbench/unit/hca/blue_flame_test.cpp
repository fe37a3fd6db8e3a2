// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Send WQEs that come with their doorbells.
#include "timing.hpp"

namespace hcasim::testing {
namespace {

constexpr std::size_t kLine = hw::bar::kBlueFlameLine;

struct BlueFlame {
  explicit BlueFlame(const BenchOptions& options = {}, std::uint32_t slots = 64,
                     std::uint32_t stride = 512)
      : bench(options) {
    hw::QpContext context = AdapterBench::rc_context();
    context.path_mtu = 3;
    context.sq_size = slots;
    context.sq_stride = stride;
    qp = bench.create_qp(context);
    start = quiet_start(bench);
  }
  std::uint64_t slot_before_head() const {
    const std::uint32_t slots = qp.context.sq_size;
    return qp.context.sq_base +
           std::uint64_t{(qp.send_head + slots - 1) % slots} * qp.context.sq_stride;
  }
  /// The burst that speaks of the latest WQE in the ring.
  std::vector<std::uint8_t> burst() {
    const auto control = bench.load<hw::SendWqeControl>(slot_before_head());
    const std::size_t bytes = hw::bar::kBlueFlameWqe + hw::send_wqe_bytes(control);
    std::vector<std::uint8_t> all((bytes + kLine - 1) / kLine * kLine);
    hw::store(all.data(), hw::bar::doorbell(qp.qpn(), qp.send_head));
    const auto wqe = bench.bytes(slot_before_head(), bytes - hw::bar::kBlueFlameWqe);
    std::ranges::copy(wqe, all.begin() + hw::bar::kBlueFlameWqe);
    return all;
  }
  bool write(const std::vector<std::uint8_t>& burst) {
    return bench.adapter().bar_write(hw::bar::kUarBase + hw::bar::kBlueFlame, burst.data(),
                                     static_cast<std::uint32_t>(burst.size()));
  }
  void send(const SendWr& wr) {
    bench.post_send(qp, wr);
    EXPECT_TRUE(write(burst()));
  }
  std::vector<DmaOperation> reads() const {
    return bench.dma.reads(qp.context.sq_base,
                           std::uint64_t{qp.context.sq_size} * qp.context.sq_stride);
  }
  std::uint64_t taken() const { return count("blue_flame"); }
  std::uint64_t ignored() const { return count("blue_flame_ignored"); }
  std::uint64_t count(const char* name) const { return bench.counter("doorbell", name); }

  AdapterBench bench;
  BenchQp qp;
  Time start = 0;
};

// Doorbell unit, fetch unit and, unless the WQE came along, the read.
Time on_chip(const AdapterBench& bench, Time start, Time read) {
  return bench.edge_after(start) + bench.cycles(4 + 1 + 4) + read;
}

TEST(BlueFlame, SavesTheReadAndNothingElse) {
  for (const Time read : {Time{100'000}, Time{400'000}, Time{1'234'567}}) {
    for (const bool burst : {false, true}) {
      BenchOptions options;
      options.read_latency = read;
      BlueFlame test(options);
      AdapterBench& bench = test.bench;
      if (burst) {
        test.send(inline_write());
      } else {
        bench.send(test.qp, inline_write());
      }
      const Time there = on_chip(bench, test.start, burst ? 0 : read);
      expect_at(bench, bench.edge_after(there) + bench.cycles(2 + 8),
                [&] { return bench.port.sent.size() == 1; });
      EXPECT_EQ(test.reads().size(), burst ? 0u : 1u);
    }
  }
}

TEST(BlueFlame, FollowsTheLatenciesOfItsUnits) {
  BenchOptions options;
  options.parameters.doorbell.timing = {9, 3};
  options.parameters.wqe_fetch.timing = {13, 5};
  BlueFlame test(options);
  AdapterBench& bench = test.bench;
  test.send(inline_write());
  const Time there = bench.edge_after(test.start) + bench.cycles(9 + 1 + 13);
  expect_at(bench, bench.edge_after(there) + bench.cycles(2 + 8),
            [&] { return bench.port.sent.size() == 1; });
}

// Every size that fits, and the ring is spoilt, so that the bytes can come from nowhere else.
TEST(BlueFlame, EachByteArrives) {
  BlueFlame test;
  constexpr std::size_t kMost = hw::bar::kBlueFlameBytes - hw::bar::kBlueFlameWqe - 32;
  for (std::size_t bytes = 0; bytes <= kMost; bytes += bytes < 80 ? 1 : 49) {
    SendWr wr = inline_write(bytes);
    wr.inline_data = pattern(bytes, static_cast<unsigned>(bytes));
    wr.remote_addr = 0x1234'5678'9abc;
    wr.rkey = 77;
    test.bench.post_send(test.qp, wr);
    const auto burst = test.burst();
    EXPECT_EQ(burst.size(), (8 + 32 + bytes + 63) / 64 * 64);
    test.bench.fill(test.slot_before_head(), std::vector<std::uint8_t>(512, 0xee));
    ASSERT_TRUE(test.write(burst));
    test.bench.run_for(hw::kMicrosecond);
    const auto sent = test.bench.sent();
    ASSERT_EQ(sent.size(), 1u) << bytes;
    EXPECT_EQ(sent[0].payload, wr.inline_data);
    EXPECT_EQ(sent[0].headers.reth.addr, wr.remote_addr);
    EXPECT_EQ(sent[0].headers.reth.rkey, wr.rkey);
    test.bench.arrive(test.qp, AdapterBench::ack(sent[0].headers.psn));
    test.bench.run_idle();
    ASSERT_EQ(test.bench.poll(test.qp.send_cq).size(), 1u);
  }
  EXPECT_TRUE(test.reads().empty());
  EXPECT_EQ(test.ignored(), 0u);
}

TEST(BlueFlame, ElementsAreGatheredAsEver) {
  BlueFlame test;
  const std::uint64_t area = test.bench.allocate(4096);
  const auto data = pattern(300);
  test.bench.fill(area, data);
  SendWr wr = inline_write(0);
  const std::uint32_t key = test.bench.create_mr(area, 4096);
  wr.sges = {{area, 100, key}, {area + 100, 200, key}};
  test.send(wr);
  test.bench.run_for(3 * hw::kMicrosecond);
  const auto sent = test.bench.sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].payload, data);
  EXPECT_TRUE(test.reads().empty());
}

TEST(BlueFlame, WhatIsSentAgainIsReadFromTheRing) {
  BlueFlame test;
  test.send(inline_write(40));
  test.bench.run_for(hw::kMicrosecond);
  ASSERT_EQ(test.bench.sent().size(), 1u);
  EXPECT_TRUE(test.reads().empty());
  test.bench.arrive(test.qp, AdapterBench::nak(100, hw::NakCode::kPsnSequence));
  test.bench.run_for(2 * hw::kMicrosecond);
  const auto again = test.bench.sent();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].headers.psn, 100u);
  EXPECT_EQ(again[0].payload, pattern(40));
  EXPECT_EQ(test.reads().size(), 1u);
  // A post meanwhile would have come behind; one after it goes as before.
  test.send(inline_write(41));
  test.bench.run_for(hw::kMicrosecond);
  EXPECT_EQ(test.reads().size(), 1u);
  EXPECT_EQ(test.taken(), 2u);
}

// Whatever is being done with the one before, at any cycle: it is sent first.
TEST(BlueFlame, NothingOvertakesAFetch) {
  std::uint64_t ignored = 0;
  for (std::uint64_t cycle = 1; cycle < 30; ++cycle) {
    BlueFlame test;
    test.bench.send(test.qp, inline_write(1));
    test.bench.run_for(test.bench.cycles(cycle));
    test.send(inline_write(2));
    test.bench.run_for(3 * hw::kMicrosecond);
    const auto sent = test.bench.sent();
    ASSERT_EQ(sent.size(), 2u) << cycle;
    EXPECT_EQ(sent[0].payload, pattern(1));
    EXPECT_EQ(sent[1].payload, pattern(2));
    ignored += test.ignored();
  }
  EXPECT_GT(ignored, 0u);
  EXPECT_LT(ignored, 29u);
}

TEST(BlueFlame, NothingOvertakesARepetition) {
  std::uint64_t ignored = 0;
  for (std::uint64_t cycle = 0; cycle < 30; ++cycle) {
    BlueFlame test;
    test.send(inline_write(1));
    test.bench.run_for(hw::kMicrosecond);
    test.bench.arrive(test.qp, AdapterBench::nak(100, hw::NakCode::kPsnSequence));
    test.bench.run_for(test.bench.cycles(cycle));
    test.send(inline_write(2));
    test.bench.run_for(3 * hw::kMicrosecond);
    const auto sent = test.bench.sent();
    EXPECT_EQ(sent.back().headers.psn, 101u) << cycle;
    EXPECT_EQ(sent.back().payload, pattern(2));
    EXPECT_EQ(sent[sent.size() - 2].payload, pattern(1));
    ignored += test.ignored();
  }
  EXPECT_GT(ignored, 0u);
}

TEST(BlueFlame, RoundAndRoundASmallRing) {
  BlueFlame test({}, 4, 128);
  for (std::uint32_t i = 0; i < 50; ++i) {
    SendWr wr = inline_write(0);
    wr.inline_data = pattern(60, i);
    test.send(wr);
    test.bench.run_for(hw::kMicrosecond);
    const auto sent = test.bench.sent();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].payload, wr.inline_data);
    test.bench.arrive(test.qp, AdapterBench::ack(sent[0].headers.psn));
    test.bench.run_idle();
    const auto done = test.bench.poll(test.qp.send_cq);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].wqe_index, i % 4);
  }
  EXPECT_EQ(test.taken(), 50u);
  EXPECT_TRUE(test.reads().empty());
}

TEST(BlueFlame, IsADoorbellWhenSomethingEarlierIsToBeFetched) {
  BlueFlame test({}, 64, 128);
  test.bench.post_send(test.qp, inline_write(5));
  test.send(inline_write(6));
  test.bench.run_for(2 * hw::kMicrosecond);
  ASSERT_EQ(test.reads().size(), 1u);
  EXPECT_EQ(test.reads()[0].bytes, 2u * 128);
  EXPECT_EQ(test.bench.sent().size(), 2u);
  EXPECT_EQ(test.taken(), 0u);
  EXPECT_EQ(test.ignored(), 1u);
}

// One whose predecessor is on its way is there first, and is sent second.
TEST(BlueFlame, WaitsBehindAReadThatIsUnderWay) {
  BlueFlame test;
  test.bench.send(test.qp, inline_write(5));
  test.bench.run_for(test.bench.cycles(20));
  ASSERT_EQ(test.reads().size(), 1u);
  test.send(inline_write(6));
  test.bench.run_for(2 * hw::kMicrosecond);
  const auto sent = test.bench.sent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].payload.size(), 5u);
  EXPECT_EQ(sent[1].payload.size(), 6u);
  EXPECT_EQ(test.reads().size(), 1u);
  EXPECT_EQ(test.taken(), 1u);
}

TEST(BlueFlame, ABurstThatIsNotWholeOrNotOfTheSlotIsADoorbell) {
  BlueFlame test;
  const auto spoilt = [&](auto&& spoil) {
    test.bench.post_send(test.qp, inline_write(100));
    auto burst = test.burst();
    auto control = hw::load<hw::SendWqeControl>(burst.data() + 8);
    spoil(control, burst);
    hw::store(burst.data() + 8, control);
    EXPECT_TRUE(test.write(burst));
    test.bench.run_for(2 * hw::kMicrosecond);
    const auto sent = test.bench.sent();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].payload, pattern(100));
  };
  using Bytes = std::vector<std::uint8_t>;
  spoilt([](hw::SendWqeControl& control, Bytes&) { control.index += 1; });
  spoilt([](hw::SendWqeControl& control, Bytes&) { control.length = 0xffff'ffff; });
  spoilt([](hw::SendWqeControl& control, Bytes&) { control.length = 480; });
  spoilt([](hw::SendWqeControl&, Bytes& burst) { burst.resize(128); });
  EXPECT_EQ(test.taken(), 0u);
  EXPECT_EQ(test.ignored(), 4u);
  EXPECT_EQ(test.reads().size(), 4u);
}

TEST(BlueFlame, NoMoreThanThePrefetchAllows) {
  BenchOptions options;
  options.parameters.wqe_fetch.prefetch_wqes = 2;
  options.parameters.requester.window_packets = 1;
  BlueFlame test(options);
  for (int i = 0; i < 6; ++i) {
    test.send(inline_write(10));
    test.bench.run_for(hw::kMicrosecond);
  }
  EXPECT_EQ(test.taken(), 3u);  // one is sent, two wait
  EXPECT_EQ(test.ignored(), 3u);
}

TEST(BlueFlame, OfAQueueThatDoesNotSend) {
  BlueFlame test;
  test.bench.post_send(test.qp, inline_write());
  auto burst = test.burst();
  hw::store(burst.data(), hw::bar::doorbell(0x7777, 1));
  EXPECT_TRUE(test.write(burst));
  test.bench.run_idle();
  EXPECT_EQ(test.bench.counter("doorbell", "bad"), 1u);
  ASSERT_EQ(test.bench.modify(test.qp, hw::QpState::kErr), hw::CommandStatus::kOk);
  EXPECT_TRUE(test.write(test.burst()));
  test.bench.run_idle();
  EXPECT_EQ(statuses(test.bench.poll(test.qp.send_cq)),
            std::vector<hw::WcStatus>{hw::WcStatus::kWrFlushErr});
  EXPECT_TRUE(test.bench.sent().empty());
  EXPECT_EQ(test.taken(), 0u);
}

// The queue pair is stopped while the WQE is between the two units, or at any other place.
TEST(BlueFlame, StoppedAtAnyCycle) {
  for (std::uint64_t cycle = 0; cycle < 24; ++cycle) {
    BlueFlame test;
    test.send(inline_write(20));
    test.bench.run_for(test.bench.cycles(cycle));
    test.bench.ring(hw::bar::kQpErrorDoorbell, test.qp.qpn(), 0);
    test.bench.run_idle();
    EXPECT_EQ(test.bench.poll(test.qp.send_cq).size(), 1u) << cycle;
    EXPECT_EQ(test.bench.issue(hw::CommandOpcode::kDestroyQp, test.qp.qpn()).status,
              hw::CommandStatus::kOk);
  }
}

TEST(BlueFlame, AnOverfullRingIsABadDoorbell) {
  BlueFlame test({}, 4, 128);
  for (int i = 0; i < 3; ++i) {
    test.send(inline_write(8));
    test.bench.run_for(hw::kMicrosecond);
  }
  EXPECT_EQ(test.taken(), 3u);
  test.send(inline_write(8));
  test.bench.run_idle();
  EXPECT_EQ(test.taken(), 3u);
  EXPECT_EQ(test.bench.query(test.qp).state, hw::QpState::kErr);
}

// A slow doorbell unit with a small FIFO: bursts merge, wait and are refused, and each message
// leaves once, in order and whole.
TEST(BlueFlame, AStormOfPosts) {
  BenchOptions options;
  options.parameters.doorbell.timing = {4, 7};
  options.parameters.doorbell.fifo_depth = 2;
  BlueFlame test(options);
  std::vector<BenchQp> qps = {test.qp, test.bench.create_qp(test.bench.rc_context()),
                              test.bench.create_qp(test.bench.rc_context()),
                              test.bench.create_qp(test.bench.rc_context())};
  constexpr std::uint32_t kEach = 60;
  std::vector<std::uint32_t> refused(qps.size());
  for (std::uint32_t i = 0; i < kEach; ++i) {
    for (std::size_t q = 0; q < qps.size(); ++q) {
      SendWr wr = inline_write(0);
      wr.inline_data = pattern(1 + (7 * i + q) % 60, i);
      test.bench.post_send(qps[q], wr);
      test.qp = qps[q];
      if (!test.write(test.burst())) ++refused[q];  // the next one says what this one did
      test.bench.run_for(test.bench.cycles((13 * i + 5 * q) % 9));
    }
  }
  test.bench.run_for(20 * hw::kMicrosecond);
  for (const BenchQp& qp : qps) {
    test.bench.ring_send(qp);
    test.bench.run_for(20 * hw::kMicrosecond);
  }
  std::vector<std::uint32_t> next(qps.size());
  for (const SentPacket& packet : test.bench.sent()) {
    for (std::size_t q = 0; q < qps.size(); ++q) {
      if (packet.headers.src_qp != qps[q].qpn()) continue;
      const std::uint32_t i = next[q]++;
      EXPECT_EQ(packet.headers.psn, 100 + i);
      EXPECT_EQ(packet.payload, pattern(1 + (7 * i + q) % 60, i));
    }
  }
  EXPECT_EQ(next, std::vector<std::uint32_t>(qps.size(), kEach));
  std::uint32_t lost = 0;
  for (const std::uint32_t each : refused) lost += each;
  EXPECT_EQ(test.taken() + test.ignored() + lost, kEach * qps.size());
  EXPECT_GT(test.taken(), 0u);
  EXPECT_GT(test.ignored(), 0u);
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace hcasim::testing
