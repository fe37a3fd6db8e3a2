// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "timing.hpp"

namespace hcasim::testing {
namespace {

std::vector<DmaOperation> fetches(const AdapterBench& bench, const BenchQp& qp) {
  return bench.dma.reads(qp.context.sq_base,
                         std::uint64_t{qp.context.sq_size} * qp.context.sq_stride);
}

TEST(WqeFetch, ReadsAfterDoorbellAndFetchLatency) {
  for (const std::uint32_t latency : {1u, 4u, 11u}) {
    BenchOptions options;
    options.parameters.wqe_fetch.timing.latency_cycles = latency;
    AdapterBench bench(options);
    BenchQp qp = bench.create_qp();
    const Time start = quiet_start(bench);
    bench.send(qp, inline_send());
    const Time seen = bench.edge_after(start) + bench.cycles(4);
    expect_at(bench, bench.edge_after(seen) + bench.cycles(latency),
              [&] { return fetches(bench, qp).size() == 1; });
  }
}

TEST(WqeFetch, ReadsFollowEachOtherByTheInterval) {
  for (const std::uint32_t interval : {1u, 6u}) {
    BenchOptions options;
    options.parameters.wqe_fetch.timing = {4, interval};
    AdapterBench bench(options);
    BenchQp first = bench.create_qp();
    BenchQp second = bench.create_qp();
    const Time start = quiet_start(bench);
    bench.send(first, inline_send());
    bench.send(second, inline_send());
    const Time read = bench.edge_after(start) + bench.cycles(4 + 1 + 4);
    expect_at(bench, read, [&] { return fetches(bench, first).size() == 1; });
    expect_at(bench, read + bench.cycles(interval),
              [&] { return fetches(bench, second).size() == 1; });
  }
}

TEST(WqeFetch, OneReadTakesWhatFitsItsBytes) {
  for (const std::uint32_t bytes : {64u, 256u, 512u}) {
    BenchOptions options;
    options.parameters.wqe_fetch.fetch_bytes = bytes;
    options.parameters.wqe_fetch.prefetch_wqes = 64;
    AdapterBench bench(options);
    BenchQp qp = bench.create_qp();
    quiet_start(bench);
    for (int i = 0; i < 9; ++i) bench.post_send(qp, inline_send());
    bench.ring_send(qp);
    bench.run_idle();
    const std::uint32_t slots = std::max(1u, bytes / qp.context.sq_stride);
    const auto reads = fetches(bench, qp);
    ASSERT_EQ(reads.size(), (9 + slots - 1) / slots);
    EXPECT_EQ(reads[0].bytes, slots * qp.context.sq_stride);
  }
}

TEST(WqeFetch, AReadEndsAtTheEndOfTheRing) {
  AdapterBench bench;
  hw::QpContext context = AdapterBench::rc_context();
  context.sq_size = 5;
  BenchQp qp = bench.create_qp(context);
  quiet_start(bench);
  for (int i = 0; i < 3; ++i) bench.send(qp, inline_write());
  bench.run_idle();
  bench.arrive(qp, AdapterBench::ack(100 + 2));
  bench.run_idle();
  const std::size_t before = fetches(bench, qp).size();
  for (int i = 0; i < 4; ++i) bench.post_send(qp, inline_write());
  bench.ring_send(qp);
  bench.run_idle();
  const auto reads = fetches(bench, qp);
  ASSERT_EQ(reads.size(), before + 2);
  EXPECT_EQ(reads[before].bytes, 2u * 128);
  EXPECT_EQ(reads[before + 1].address, qp.context.sq_base);
  EXPECT_EQ(reads[before + 1].bytes, 2u * 128);
}

// READs that wait for a place among the outstanding ones hold the requester up, so that the
// prefetch shows.
TEST(WqeFetch, HoldsNoMoreThanThePrefetchDepth) {
  for (const std::uint32_t depth : {2u, 8u}) {
    BenchOptions options;
    options.parameters.wqe_fetch.prefetch_wqes = depth;
    AdapterBench bench(options);
    hw::QpContext context = AdapterBench::rc_context();
    context.max_rd_atomic = 1;
    BenchQp qp = bench.create_qp(context);
    const std::uint64_t local = bench.allocate(4096);
    const std::uint32_t key = bench.create_mr(local, 4096);
    quiet_start(bench);
    for (int i = 0; i < 20; ++i) bench.post_send(qp, read_wr(local, key, 8));
    bench.ring_send(qp);
    bench.run_for(20 * hw::kMicrosecond);
    EXPECT_EQ(bench.sent().size(), 1u);
    EXPECT_EQ(bench.counter("wqe_fetch", "wqes"), 1u + depth);
  }
}

TEST(WqeFetch, AFailedReadEndsTheQueuePair) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.dma.fail_reads(qp.context.sq_base, 128);
  bench.send(qp, inline_send());
  bench.run_idle();
  const auto done = bench.poll(qp.send_cq);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_NE(done[0].status, hw::WcStatus::kSuccess);
  EXPECT_EQ(bench.query(qp).state, hw::QpState::kErr);
}

}  // namespace
}  // namespace hcasim::testing
