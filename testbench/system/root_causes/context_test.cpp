// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Contexts that do not fit on the adapter.

#include "root_cause.hpp"

namespace hcasim::test {
namespace {

constexpr unsigned kEntries = 8;
constexpr std::uint32_t kMemoryNs = 1000;
// A read of a context of 512 bytes: the request crosses the link (20 ns), memory answers (1000 ns),
// the two completions of 256 + 20 bytes cross it (20 ns, and 552 bytes at some 227 Gb/s are 20 ns).
constexpr double kContextReadNs = 20 + kMemoryNs + 20 + 20;

Lines small_cache(unsigned entries, unsigned misses = 64) {
  return with_read_latency(kMemoryNs, {fmt::format("node.a.hca.qpc_cache.entries={}", entries),
                                       fmt::format("node.a.hca.qpc_cache.misses={}", misses)});
}

// One message at a time, queue pair by queue pair.
CauseRun one_after_the_other(unsigned queue_pairs) {
  Lines lines = connections(queue_pairs, "max_send_wr=4");
  for (unsigned i = 0; i < 6 * queue_pairs; ++i) {
    lines.push_back(fmt::format("a post_send q{} RDMA_WRITE length=8 inline remote=mr at={}us",
                                i % queue_pairs, 10 + 10 * i));
  }
  return {lines, small_cache(kEntries)};
}

// LRU holds what is used in turn while it fits, and nothing of it as soon as one does not fit: the
// knee lies at `entries` exactly. Each message then has one miss, of its WQE fetch, since the rest
// of its life follows at once.
TEST(QpContexts, OneMoreThanFitMissesWithEachMessage) {
  const CauseRun fits = one_after_the_other(kEntries);
  const CauseRun over = one_after_the_other(kEntries + 1);
  EXPECT_EQ(fits.cache("a", "qpc_cache_miss"), 0u);
  EXPECT_EQ(over.cache("a", "qpc_cache_miss"), over.messages());
  EXPECT_EQ(over.cache("a", "qpc_cache_fetch"), over.messages());
  EXPECT_NEAR(over.latency("min") - fits.latency("max"), kContextReadNs, 20);
}

// Each queue pair posts its next message when the last is acknowledged.
CauseRun all_at_once(unsigned queue_pairs, unsigned entries, unsigned misses) {
  Lines lines = connections(queue_pairs, "max_send_wr=1");
  for (unsigned i = 0; i < 40 * queue_pairs; ++i) {
    lines.push_back(
        fmt::format("a post_send q{} RDMA_WRITE length=8 inline remote=mr", i % queue_pairs));
  }
  return {lines, small_cache(entries, misses)};
}

// While contexts fit, twice the queue pairs send twice the messages. Beyond, the adapter is busy
// with reading contexts, `misses` at a time: reads * read time / misses = time of the run.
TEST(QpContexts, BeyondTheCacheReadsOfContextsLimitTheRate) {
  const CauseRun half = all_at_once(8, 64, 64);
  const CauseRun all = all_at_once(16, 64, 64);
  EXPECT_EQ(all.cache("a", "qpc_cache_miss"), 0u);
  EXPECT_NEAR(half.ns_per_message() / all.ns_per_message(), 2, 0.1);
  double before = all.ns_per_message();
  for (const unsigned misses : {4u, 1u}) {
    const CauseRun over = all_at_once(16, kEntries, misses);
    const auto reads = static_cast<double>(over.cache("a", "qpc_cache_fetch"));
    EXPECT_NEAR(over.active_ns() / (reads * kContextReadNs / misses), 1, 0.1) << misses;
    EXPECT_GT(over.ns_per_message(), 1.2 * before) << misses;
    before = over.ns_per_message();
  }
}

// An MTT line of 64 bytes has 8 translations of 4 KiB: 4 lines are 128 KiB. A region of twice that,
// read from its start to its end again and again, misses with each line.
CauseRun gathers(unsigned pages) {
  Lines lines = connections(1, "max_send_wr=4");
  for (unsigned i = 0; i < 4 * pages; ++i) {
    lines.push_back(fmt::format("a post_send q0 RDMA_WRITE sge=mr:{}:8 remote=mr at={}us",
                                std::uint64_t{4096} * (i % pages), 10 + 10 * i));
  }
  return {lines, with_read_latency(kMemoryNs, {"node.a.hca.mtt_cache.entries=4"})};
}

TEST(Translations, BeyondTheCacheEachLineMissesOnce) {
  constexpr unsigned kPagesOfALine = 8;
  const CauseRun fits = gathers(4 * kPagesOfALine);
  const CauseRun over = gathers(5 * kPagesOfALine);
  // What registration left on chip was the end of the 16 MiB, so the first round misses too.
  EXPECT_EQ(fits.cache("a", "mtt_cache_miss"), 4u);
  EXPECT_EQ(over.cache("a", "mtt_cache_miss"), over.messages() / kPagesOfALine);
  EXPECT_NEAR(over.latency("max") - over.latency("min"), kContextReadNs - 20, 20);
}

}  // namespace
}  // namespace hcasim::test
