// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "timing.hpp"

namespace hcasim::testing {
namespace {

constexpr std::uint32_t kNobody = 0x8000;  // QPNs that do not exist: a doorbell counts as bad

std::uint64_t delivered(const AdapterBench& bench) {
  return bench.counter("doorbell", "bad");
}

BenchOptions options(std::uint32_t latency, std::uint32_t interval, std::uint32_t depth) {
  BenchOptions options;
  options.parameters.doorbell.timing = {latency, interval};
  options.parameters.doorbell.fifo_depth = depth;
  return options;
}

TEST(Doorbell, ReachesItsUnitAfterTheLatency) {
  for (const std::uint32_t latency : {1u, 4u, 13u}) {
    AdapterBench bench(options(latency, 1, 8));
    const Time start = quiet_start(bench);
    bench.ring(hw::bar::kSendDoorbell, kNobody, 1);
    expect_at(bench, bench.edge_after(start) + bench.cycles(latency),
              [&] { return delivered(bench) == 1; });
  }
}

TEST(Doorbell, OneThatArrivesOnAnEdgeIsSampledAtTheNext) {
  AdapterBench bench(options(4, 1, 8));
  const Time edge = bench.edge_after(quiet_start(bench));
  bench.run_to(edge);
  bench.ring(hw::bar::kSendDoorbell, kNobody, 1);
  expect_at(bench, edge + bench.cycles(5), [&] { return delivered(bench) == 1; });
}

TEST(Doorbell, FollowsTheOneBeforeByTheInterval) {
  for (const std::uint32_t interval : {1u, 3u, 10u}) {
    AdapterBench bench(options(4, interval, 8));
    const Time start = quiet_start(bench);
    for (std::uint32_t i = 0; i < 4; ++i) bench.ring(hw::bar::kSendDoorbell, kNobody + i, 1);
    const Time first = bench.edge_after(start) + bench.cycles(4);
    for (std::uint32_t i = 0; i < 4; ++i) {
      expect_at(bench, first + bench.cycles(std::uint64_t{interval} * i),
                [&] { return delivered(bench) == i + 1; });
    }
  }
}

// PCIe tells of doorbells on their way: one for which the stage will be free is taken at once.
struct OnItsWay {
  explicit OnItsWay(const BenchOptions& options) : bench(options), start(quiet_start(bench)) {}
  bool tell(std::uint32_t number, Time arrival) {
    const std::uint64_t value = hw::bar::doorbell(number, 1);
    return bench.adapter().bar_write_ahead(hw::bar::kUarBase + hw::bar::kSendDoorbell, &value,
                                           sizeof value, arrival);
  }
  AdapterBench bench;
  Time start;
};

TEST(Doorbell, OneToldOfAheadReachesItsUnitAtTheSameTime) {
  for (const std::uint32_t latency : {1u, 4u, 13u}) {
    OnItsWay test(options(latency, 3, 8));
    AdapterBench& bench = test.bench;
    const Time arrival = test.start + bench.cycles(200);
    ASSERT_TRUE(test.tell(kNobody, arrival));
    EXPECT_FALSE(test.tell(kNobody + 1, arrival + bench.cycles(2)));  // to be written at arrival
    bench.run_to(arrival + bench.cycles(2));
    EXPECT_TRUE(bench.ring(hw::bar::kSendDoorbell, kNobody + 1, 1));
    EXPECT_FALSE(test.tell(kNobody + 2, arrival + bench.cycles(50)));  // not past one that waits
    const Time first = bench.edge_after(arrival) + bench.cycles(latency);
    if (latency > 2) expect_at(bench, first, [&] { return delivered(bench) == 1; });
    expect_at(bench, first + bench.cycles(3), [&] { return delivered(bench) == 2; });
  }
}

TEST(Doorbell, OneOnItsWayHoldsUpNoCommand) {
  OnItsWay test(options(4, 1, 8));
  BenchQp qp = test.bench.create_qp();
  const Time arrival = test.bench.now() + hw::kMillisecond;
  ASSERT_TRUE(test.tell(kNobody, arrival));
  EXPECT_EQ(test.bench.modify(qp, hw::QpState::kErr), hw::CommandStatus::kOk);
  EXPECT_LT(test.bench.now(), arrival);
}

TEST(Doorbell, AFullFifoRefusesAndTellsWhenAPlaceIsFree) {
  for (const std::uint32_t interval : {4u, 9u}) {
    AdapterBench bench(options(4, interval, 3));
    const Time start = quiet_start(bench);
    for (std::uint32_t i = 0; i < 4; ++i) {  // one in the pipeline, three wait
      EXPECT_TRUE(bench.ring(hw::bar::kSendDoorbell, kNobody + i, 1));
    }
    EXPECT_FALSE(bench.ring(hw::bar::kSendDoorbell, kNobody + 4, 1));
    EXPECT_FALSE(bench.ring(hw::bar::kSendDoorbell, kNobody + 4, 1));
    EXPECT_EQ(bench.counter("doorbell", "stalled"), 2u);
    // The next one is sampled at the edge an interval after the first; it leaves its place in the
    // cycle before.
    const Time freed = bench.edge_after(start) + bench.cycles(interval - 1);
    expect_at(bench, freed, [&] { return bench.ready_at.size() == 1; });
    EXPECT_TRUE(bench.ring(hw::bar::kSendDoorbell, kNobody + 4, 1));
    EXPECT_FALSE(bench.ring(hw::bar::kSendDoorbell, kNobody + 5, 1));
    expect_at(bench, freed + bench.cycles(interval), [&] { return bench.ready_at.size() == 2; });
    bench.run_idle();
    EXPECT_EQ(delivered(bench), 5u);  // in the end nothing is lost or doubled
  }
}

TEST(Doorbell, OneOfTheSameQueueTakesThePlaceOfTheWaitingOne) {
  AdapterBench bench(options(4, 20, 2));
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  for (int i = 0; i < 5; ++i) bench.post_send(qp, inline_send());
  bench.ring(hw::bar::kSendDoorbell, kNobody, 1);
  bench.ring(hw::bar::kSendDoorbell, qp.qpn(), 1);
  bench.ring(hw::bar::kSendDoorbell, kNobody + 1, 1);
  EXPECT_FALSE(bench.ring(hw::bar::kSendDoorbell, kNobody + 2, 1));
  EXPECT_TRUE(bench.ring(hw::bar::kSendDoorbell, qp.qpn(), 3));  // the FIFO is full, yet it fits
  EXPECT_EQ(bench.counter("doorbell", "merged"), 1u);
  bench.run_for(hw::kMicrosecond);
  const auto reads = bench.dma.reads(qp.context.sq_base, 64 * 128);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].bytes, 3u * 128);
}

TEST(Doorbell, ThoseOfOtherKindsDoNotMerge) {
  AdapterBench bench(options(4, 20, 8));
  BenchCq cq = bench.create_cq();
  quiet_start(bench);
  bench.ring(hw::bar::kSendDoorbell, kNobody, 1);
  bench.ring(hw::bar::kCqArmDoorbell, cq.context.cqn, 1);
  bench.ring(hw::bar::kCqArmDoorbell, cq.context.cqn, 2);
  bench.ring(hw::bar::kReceiveDoorbell, kNobody, 1);
  bench.ring(hw::bar::kSendDoorbell, kNobody + 1, 1);
  EXPECT_EQ(bench.counter("doorbell", "merged"), 0u);
  EXPECT_EQ(bench.counter("doorbell", "doorbells"), 5u);
}

TEST(Doorbell, OneForNoQueueIsCounted) {
  AdapterBench bench;
  quiet_start(bench);
  for (const std::uint64_t kind : {hw::bar::kSendDoorbell, hw::bar::kReceiveDoorbell,
                                   hw::bar::kQpErrorDoorbell, std::uint64_t{0x7f8}}) {
    bench.ring(kind, kNobody, 1);
  }
  bench.run_idle();
  EXPECT_EQ(delivered(bench), 4u);
  EXPECT_TRUE(bench.events().empty());
}

}  // namespace
}  // namespace hcasim::testing
