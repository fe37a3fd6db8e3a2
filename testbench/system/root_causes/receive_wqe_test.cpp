// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Receive WQEs that do not fit into the prefetch buffer.

#include "root_cause.hpp"

namespace hcasim::test {
namespace {

constexpr std::uint32_t kMemoryNs = 1000;
// 20 ns to memory, 20 ns back, and some 20 ns for the receive-queue unit's own steps around it.
constexpr double kWqeReadNs = 20 + kMemoryNs + 20 + 20;

// Queue pairs that have receives posted and get no message hold the buffer; one gets all messages.
CauseRun beside_idle_ones(unsigned idle, unsigned lines, unsigned prefetch, bool at_once) {
  constexpr unsigned kMessages = 64;
  Lines trace = connections(idle + 1, "max_send_wr=64 max_recv_wr=256 max_recv_sge=1");
  for (unsigned i = 0; i < idle * prefetch; ++i) {
    trace.push_back(fmt::format("b post_recv q{} length=8", i % idle));
  }
  for (unsigned i = 0; i < kMessages; ++i) {
    trace.push_back(fmt::format("b post_recv q{} length=8", idle));
  }
  for (unsigned i = 0; i < kMessages; ++i) {
    trace.push_back(fmt::format("a post_send q{} SEND length=8 inline at={}us", idle,
                                at_once ? 100 : 100 + 10 * i));
  }
  return {trace,
          with_read_latency(kMemoryNs,
                            {fmt::format("node.b.hca.receive_queue.lines={}", lines),
                             fmt::format("node.b.hca.receive_queue.prefetch_wqes={}", prefetch)})};
}

// With one SGE a WQE takes a line. The knee: queue pairs * prefetch = lines.
TEST(ReceiveWqes, OneQueueTooManyMissesWithEachMessage) {
  const CauseRun fits = beside_idle_ones(15, 16, 1, false);
  const CauseRun over = beside_idle_ones(16, 16, 1, false);
  EXPECT_EQ(fits.cache("b", "rwqe_cache_miss"), 0u);
  EXPECT_EQ(over.cache("b", "rwqe_cache_miss"), over.messages());
  EXPECT_NEAR(over.latency("p50") - fits.latency("p50"), kWqeReadNs, 30);
}

// Up to the knee a read time brings `prefetch` WQEs of the queue, beyond it one.
TEST(ReceiveWqes, MissesLimitTheRate) {
  constexpr unsigned kPrefetch = 4;
  const CauseRun fits = beside_idle_ones(7, 8 * kPrefetch, kPrefetch, true);
  const CauseRun over = beside_idle_ones(8, 8 * kPrefetch, kPrefetch, true);
  EXPECT_NEAR(fits.ns_per_message(), kWqeReadNs / kPrefetch, 0.15 * kWqeReadNs / kPrefetch);
  EXPECT_NEAR(over.ns_per_message(), kWqeReadNs, 0.15 * kWqeReadNs);
}

}  // namespace
}  // namespace hcasim::test
