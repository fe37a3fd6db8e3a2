// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The end of a memory region: what it waits for, and whom it takes along.

#include "timing.hpp"

namespace hcasim::testing {
namespace {

constexpr Time kSlowRead = 20 * hw::kMicrosecond;
constexpr Time kSetUp = 5 * hw::kMicrosecond;

/// A queue pair, and a region from which reads are slow.
struct RegionBench : AdapterBench {
  explicit RegionBench(const BenchOptions& options = {}) : AdapterBench(options) {
    area = allocate(4096, 4096);
    key = create_mr(area, 4096);
    qp = create_qp();
    quiet_start(*this);
    dma.set_read_latency(area, 4096, kSlowRead);
  }
  hw::CommandStatus destroy() { return issue(hw::CommandOpcode::kDestroyMr, key).status; }
  /// The region ends after what was read from it, and soon after.
  void expect_end_after_read() {
    run_for(kSetUp);
    const auto reads = dma.reads(area, 4096);
    ASSERT_EQ(reads.size(), 1u);
    EXPECT_EQ(destroy(), hw::CommandStatus::kOk);
    EXPECT_GE(now(), reads[0].at + kSlowRead);
    EXPECT_LE(now(), reads[0].at + kSlowRead + kSetUp);
  }
  std::vector<std::uint32_t> failed() {
    std::vector<std::uint32_t> numbers;
    for (const hw::Eqe& event : events(hw::EqeType::kQpError)) numbers.push_back(event.number);
    return numbers;
  }

  std::uint64_t area = 0;
  std::uint32_t key = 0;
  BenchQp qp;
};

TEST(MrControl, AnUnusedRegionEndsAtOnce) {
  RegionBench bench;
  const Time start = bench.now();
  EXPECT_EQ(bench.destroy(), hw::CommandStatus::kOk);
  EXPECT_LE(bench.now(), start + kSetUp);
  EXPECT_EQ(bench.destroy(), hw::CommandStatus::kBadObject);
  EXPECT_TRUE(bench.failed().empty());
}

TEST(MrControl, WaitsForTheGathersOfASend) {
  RegionBench bench;
  SendWr wr = inline_write();
  wr.inline_data.clear();
  wr.sges = {{bench.area, 100, bench.key}};
  bench.send(bench.qp, wr);
  bench.expect_end_after_read();
}

TEST(MrControl, WaitsForTheDataOfAnAnswer) {
  RegionBench bench;
  bench.arrive(bench.qp, read_request(500, bench.area, bench.key, 100));
  bench.expect_end_after_read();
  EXPECT_TRUE(bench.failed().empty());  // its last packet was on its way
}

TEST(MrControl, WaitsForAnAtomic) {
  RegionBench bench;
  bench.arrive(bench.qp, fetch_add(500, bench.area, bench.key, 5));
  bench.expect_end_after_read();
  EXPECT_EQ(bench.load<std::uint64_t>(bench.area), 5u);
}

TEST(MrControl, FailsWhoIsInTheMiddleOfAWrite) {
  RegionBench bench;
  BenchQp other = bench.create_qp();
  PeerPacket first = AdapterBench::request(hw::BthOpcode::kRcWriteFirst, 500, pattern(256), false);
  first.headers.reth = {bench.area, bench.key, 1000};
  bench.arrive(bench.qp, first);
  bench.arrive(other, write_only(500, bench.area, bench.key, 64));  // that is done
  bench.run_for(kSetUp);
  EXPECT_EQ(bench.destroy(), hw::CommandStatus::kOk);
  bench.run_idle();
  EXPECT_EQ(bench.failed(), std::vector{bench.qp.qpn()});
  EXPECT_EQ(bench.query(bench.qp).state, hw::QpState::kErr);
  EXPECT_EQ(bench.query(other).state, hw::QpState::kRts);
}

TEST(MrControl, FailsWhoIsInTheMiddleOfAReceive) {
  RegionBench bench;
  bench.receive(bench.qp, 7, {{bench.area, 1000, bench.key}});
  bench.arrive(bench.qp,
               AdapterBench::request(hw::BthOpcode::kRcSendFirst, 500, pattern(256), false));
  bench.run_for(kSetUp);
  EXPECT_EQ(bench.destroy(), hw::CommandStatus::kOk);
  bench.run_idle();
  EXPECT_EQ(statuses(bench.poll(bench.qp.recv_cq)), std::vector{hw::WcStatus::kLocProtErr});
  EXPECT_EQ(bench.failed(), std::vector{bench.qp.qpn()});
}

}  // namespace
}  // namespace hcasim::testing
