// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/context_cache.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/engine/engine.hpp"
#include "support/adapter_bench/scripted_dma.hpp"

namespace hcasim::testing {
namespace {

using hca::ContextCache;

constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint64_t kPlaces = 64;
constexpr std::uint32_t kBytes = 128;
constexpr Time kRead = 400 * hw::kNanosecond;

struct CacheBench final : hca::ContextUser {
  explicit CacheBench(hca::Parameters::ContextCache parameters, bool changes = false)
      : cache(dma, parameters, changes) {
    cache.set_area(true, kBase, kPlaces);
  }
  void on_context(std::uint64_t token) override { served.push_back(token); }
  std::vector<DmaOperation> reads() const { return dma.reads(kBase, kPlaces * kBytes); }
  std::vector<DmaOperation> writes() const { return dma.writes(kBase, kPlaces * kBytes); }
  std::vector<bool> look_up(const std::vector<std::uint64_t>& keys) {
    std::vector<bool> found;
    for (const std::uint64_t key : keys) found.push_back(cache.look_up(key));
    return found;
  }
  void run() { engine.run_before(engine.now() + hw::kMillisecond); }

  sim::Engine engine{"cache"};
  ScriptedDma dma{engine, kRead, 0};
  ContextCache cache;
  std::vector<std::uint64_t> served;
};

hca::Parameters::ContextCache four(std::uint32_t ways, std::uint32_t misses = 8) {
  return {.entries = 4, .ways = ways, .entry_bytes = kBytes, .misses = misses};
}

TEST(ContextCache, TheLeastRecentlyUsedLeaves) {
  CacheBench bench(four(4));
  for (std::uint64_t key = 0; key < 4; ++key) bench.cache.install(key);
  EXPECT_TRUE(bench.cache.look_up(0));
  bench.cache.install(4);
  EXPECT_EQ(bench.look_up({0, 1, 2, 3, 4}), (std::vector<bool>{true, false, true, true, true}));
  EXPECT_EQ(bench.cache.counters().hit, 5u);
  EXPECT_EQ(bench.cache.counters().miss, 1u);
}

TEST(ContextCache, OnlyItsSetHoldsAContext) {
  CacheBench bench(four(1));
  bench.cache.install(1);
  bench.cache.install(2);
  bench.cache.install(4);  // the set of 1
  EXPECT_EQ(bench.look_up({1, 2, 4}), (std::vector<bool>{false, true, true}));
}

// As those of queue pairs are where classes of service take the lowest bit.
TEST(ContextCache, EvenNumbersHaveAllSets) {
  CacheBench bench({.entries = 16, .ways = 2, .entry_bytes = kBytes, .misses = 8});
  for (std::uint64_t key = 0; key < 32; key += 2) bench.cache.install(key);
  for (std::uint64_t key = 0; key < 32; key += 2) EXPECT_TRUE(bench.cache.look_up(key)) << key;
}

TEST(ContextCache, MoreWaysThanEntriesIsFullyAssociative) {
  CacheBench bench(four(64));
  for (const std::uint64_t key : {0, 4, 8, 12}) bench.cache.install(key);
  EXPECT_EQ(bench.look_up({0, 4, 8, 12}), (std::vector<bool>{true, true, true, true}));
}

// Round robin over what fits hits always, over one more never.
TEST(ContextCache, RoundRobinOverOneTooManyMissesAlways) {
  for (const std::uint64_t keys : {4u, 5u}) {
    CacheBench bench(four(4));
    for (std::uint64_t key = 0; key < keys; ++key) bench.cache.install(key);
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t key = static_cast<std::uint64_t>(i) % keys;
      EXPECT_EQ(bench.cache.look_up(key), keys == 4);
      bench.cache.install(key);
    }
  }
}

TEST(ContextCache, AMissReadsTheContextAndItsUserWaits) {
  CacheBench bench(four(4));
  EXPECT_FALSE(bench.cache.look_up(3));
  bench.cache.fetch(3, bench, 77);
  ASSERT_EQ(bench.reads().size(), 1u);
  EXPECT_EQ(bench.reads()[0].address, kBase + 3 * kBytes);
  EXPECT_EQ(bench.reads()[0].bytes, kBytes);
  bench.engine.run_before(kRead);
  EXPECT_TRUE(bench.served.empty());
  bench.engine.run_before(kRead + 1);
  EXPECT_EQ(bench.served, (std::vector<std::uint64_t>{77}));
  EXPECT_TRUE(bench.cache.look_up(3));
}

TEST(ContextCache, MissesOfOneLineAreOneRead) {
  CacheBench bench(four(4));
  for (const std::uint64_t token : {1, 2, 3}) bench.cache.fetch(9, bench, token);
  bench.run();
  EXPECT_EQ(bench.reads().size(), 1u);
  EXPECT_EQ(bench.served, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(ContextCache, NoMoreReadsThanMissesAreOutstanding) {
  CacheBench bench(four(4, 2));
  for (const std::uint64_t key : {1, 2, 3, 3, 4}) bench.cache.fetch(key, bench, key);
  EXPECT_EQ(bench.reads().size(), 2u);
  bench.run();
  const auto reads = bench.reads();
  ASSERT_EQ(reads.size(), 4u);  // both of 3 are one
  EXPECT_EQ(reads[2].at, kRead);
  EXPECT_EQ(reads[3].at, kRead);
  EXPECT_EQ(bench.served, (std::vector<std::uint64_t>{1, 2, 3, 3, 4}));
}

TEST(ContextCache, AChangedContextIsWrittenBackWhenItLeaves) {
  for (const bool changes : {false, true}) {
    CacheBench bench(four(1), changes);
    bench.cache.install(2);
    bench.cache.install(7);  // the set of 2
    const auto writes = bench.writes();
    ASSERT_EQ(writes.size(), changes ? 1u : 0u);
    for (const DmaOperation& write : writes) EXPECT_EQ(write.address, kBase + 2 * kBytes);
    EXPECT_EQ(bench.cache.counters().written, changes ? 1u : 0u);
  }
}

TEST(ContextCache, WhatIsNoMoreLeavesWithoutAWrite) {
  CacheBench bench(four(4), true);
  for (std::uint64_t key = 0; key < 4; ++key) bench.cache.install(key);
  bench.cache.drop(1);
  bench.cache.drop(33);  // was never here
  EXPECT_FALSE(bench.cache.look_up(1));
  bench.cache.install(8);
  EXPECT_TRUE(bench.writes().empty());
  EXPECT_EQ(bench.look_up({0, 2, 3, 8}), (std::vector<bool>{true, true, true, true}));
}

TEST(ContextCache, WithoutAnAreaEverythingIsOnChip) {
  CacheBench bench(four(1), true);
  bench.cache.set_area(false, 0, kPlaces);
  for (std::uint64_t key = 0; key < 20; ++key) {
    bench.cache.install(key);
    EXPECT_TRUE(bench.cache.look_up(key));
    EXPECT_TRUE(bench.cache.look_up(key + 1));
  }
  EXPECT_TRUE(bench.dma.log().empty());
  EXPECT_EQ(bench.cache.counters().hit + bench.cache.counters().miss, 0u);
}

}  // namespace
}  // namespace hcasim::testing
