// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "host/posted_writes.hpp"
#include "support/pcie_node.hpp"

namespace hcasim::host {
namespace {

using testing::At;

struct MemoryTest : ::testing::Test {
  void run_until(Time time) {
    at.at(time, [] {});
    engine.run_before(time + 1);
  }
  std::uint64_t read64(std::uint64_t address) {
    std::uint64_t value = 0;
    memory.read(address, &value, sizeof value);
    return value;
  }
  void post64(std::uint64_t address, std::uint64_t value, Time at_time) {
    posted.post(address, &value, sizeof value, at_time);
  }

  sim::Engine engine{"node"};
  At at{engine};
  Memory memory{engine, 64 << 20};
  PostedWrites posted{memory};
};

TEST_F(MemoryTest, PostedWriteIsVisibleAtItsTimeAndNotEarlier) {
  const std::uint64_t a = memory.allocate(64, 64);
  post64(a, 42, 1000);
  run_until(999);
  EXPECT_EQ(read64(a), 0u);
  run_until(1000);
  EXPECT_EQ(read64(a), 42u);
  EXPECT_EQ(posted.pending(), 0u);
}

TEST_F(MemoryTest, PostedWritesApplyInOrderUnderCpuWrites) {
  const std::uint64_t a = memory.allocate(64, 64);
  post64(a, 1, 1000);
  post64(a, 2, 2000);
  run_until(1500);
  const std::uint64_t three = 3;
  memory.write(a, &three, 8);  // over the first, before the second
  EXPECT_EQ(read64(a), 3u);
  run_until(2000);
  EXPECT_EQ(read64(a), 2u);
}

TEST_F(MemoryTest, PostedWritesOfAllSizesComeThroughAcrossPagesAndChunks) {
  const std::uint64_t a = memory.allocate(4 << 20, 2 << 20);
  std::vector<std::uint8_t> shadow(4 << 20, 0);
  Time time = 1000;
  std::uint8_t seed = 0;
  for (const std::uint64_t edge : {4096u, 2u << 20}) {
    for (const std::uint64_t before : {100u, 64u, 40u, 8u, 1u, 0u}) {
      for (const std::uint32_t bytes : {5000u, 65u, 64u, 17u, 8u, 1u}) {
        std::vector<std::uint8_t> data(bytes, ++seed);
        std::ranges::copy(data, shadow.begin() + static_cast<std::ptrdiff_t>(edge - before));
        ASSERT_TRUE(posted.try_post(a + edge - before, data.data(), bytes, time++));
      }
    }
  }
  run_until(time);
  std::vector<std::uint8_t> back(shadow.size());
  ASSERT_TRUE(memory.try_read(a, back.data(), back.size()));
  EXPECT_EQ(back, shadow);
}

TEST_F(MemoryTest, WritesThatNobodyLooksAtTakeNoMoreRoomThanThoseOnTheirWay) {
  const std::uint64_t a = memory.allocate(4096, 4096);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    run_until(static_cast<Time>(i) * 1000);
    post64(a + i % 512 * 8, i, static_cast<Time>(i) * 1000 + 3500);  // four are on their way
    std::uint8_t entry[64] = {static_cast<std::uint8_t>(i)};
    ASSERT_TRUE(posted.post_if_simple(a, entry, 64, static_cast<Time>(i) * 1000 + 3500) ||
                posted.try_post(a, entry, 64, static_cast<Time>(i) * 1000 + 3500));
    most = std::max(most, posted.pending());
  }
  EXPECT_LE(most, 16u);
  run_until(2'000'000);
  EXPECT_EQ(read64(a), 999u % 256);
  EXPECT_EQ(read64(a + 999 % 512 * 8), 999u);
}

TEST_F(MemoryTest, TheSimpleWayIsTakenOnlyWhereItIsOne) {
  const std::uint64_t a = memory.allocate(8192, 4096);
  std::uint8_t entry[64] = {1};
  EXPECT_TRUE(memory.write_if_simple(a, entry, 64));
  EXPECT_FALSE(memory.write_if_simple(a, entry, 63));
  EXPECT_FALSE(memory.write_if_simple(a + 4090, entry, 8));
  EXPECT_FALSE(memory.read_if_simple(a + 8192, entry, 8));
  const std::uint32_t id = memory.watch(a + 4096, 8, {[](void*, std::uint64_t, Time) {}, this, 0});
  EXPECT_FALSE(posted.post_if_simple(a + 4096 + 512, entry, 8, 1000));  // its page is watched
  memory.unwatch(id);
  EXPECT_TRUE(posted.post_if_simple(a + 4096, entry, 8, 1000));
  run_until(999);
  std::uint64_t value = 7;
  EXPECT_TRUE(memory.read_if_simple(a + 4096, &value, 8));
  EXPECT_EQ(value, 0u);
  run_until(1000);
  EXPECT_FALSE(memory.read_if_simple(a + 4096, &value, 8));
  EXPECT_EQ(read64(a + 4096), 1u);
  EXPECT_TRUE(memory.read_if_simple(a + 4096, &value, 8));
  EXPECT_EQ(value, 1u);
}

TEST_F(MemoryTest, NothingIsDoneWhereNothingIsMapped) {
  const std::uint64_t a = memory.allocate(4096, 4096);
  std::uint8_t bytes[64] = {1};
  for (const std::uint64_t address :
       {a - 64, a + 4095, a + 4096, Memory::kBase - 8, a + (1 << 30)}) {
    EXPECT_FALSE(memory.try_read(address, bytes, 64));
    EXPECT_FALSE(memory.try_write(address, bytes, 64));
    EXPECT_FALSE(posted.try_post(address, bytes, 64, 10));
  }
  EXPECT_EQ(posted.pending(), 0u);
  EXPECT_TRUE(memory.try_write(a + 4032, bytes, 64));
  EXPECT_EQ(read64(a + 4032), 1u);
}

TEST_F(MemoryTest, AllocationIsZeroedEvenWhenReused) {
  for (const std::uint64_t bytes : {64u, 4096u, 10'000u, 5u << 20}) {
    const std::uint64_t a = memory.allocate(bytes, 64);
    ASSERT_NE(a, 0u);
    std::vector<std::uint8_t> ones(bytes, 0xff);
    memory.write(a, ones.data(), bytes);
    memory.release(a);
    const std::uint64_t b = memory.allocate(bytes, 64);
    EXPECT_EQ(a, b);
    std::vector<std::uint8_t> back(bytes, 1);
    memory.read(b, back.data(), bytes);
    EXPECT_EQ(back, std::vector<std::uint8_t>(bytes, 0));
    memory.release(b);
  }
}

TEST_F(MemoryTest, ReleaseKeepsNeighboursOnTheSamePage) {
  const std::uint64_t a = memory.allocate(64, 64);
  const std::uint64_t b = memory.allocate(64, 64);
  EXPECT_EQ(b, a + 64);  // packed
  const std::uint64_t value = 7;
  memory.write(b, &value, 8);
  memory.release(a);
  EXPECT_EQ(read64(b), 7u);
  EXPECT_TRUE(memory.mapped(b, 64));
  memory.release(b);
  EXPECT_FALSE(memory.mapped(b, 64));
}

TEST_F(MemoryTest, MappedSeesEveryPage) {
  const std::uint64_t a = memory.allocate(8192, 4096);
  EXPECT_TRUE(memory.mapped(a, 8192));
  EXPECT_FALSE(memory.mapped(a, 8193));
  EXPECT_FALSE(memory.mapped(a - 1, 2));
  EXPECT_FALSE(memory.mapped(0, 8));
  EXPECT_FALSE(memory.mapped(~std::uint64_t{0} - 4, 8));
}

TEST_F(MemoryTest, ExhaustedMemoryAnswersZero) {
  const std::uint64_t all = memory.allocate(64 << 20, 64);
  EXPECT_NE(all, 0u);
  EXPECT_EQ(memory.allocate(64, 64), 0u);
  memory.release(all);
  EXPECT_NE(memory.allocate(64, 64), 0u);
  EXPECT_EQ(memory.allocate(~std::uint64_t{0}, 64), 0u);
}

TEST_F(MemoryTest, ReleaseOfNothingIsAnError) {
  EXPECT_THROW(memory.release(Memory::kBase), sim::SimulationError);
  const std::uint64_t a = memory.allocate(128, 64);
  EXPECT_THROW(memory.release(a + 64), sim::SimulationError);
}

TEST_F(MemoryTest, HoldsTheObjectsOfAHundredThousandQueuePairs) {
  Memory large(engine, std::uint64_t{8} << 30);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_NE(large.allocate(64, 64), 0u);
    ASSERT_NE(large.allocate(4096, 4096), 0u);
    ASSERT_NE(large.allocate(16'384, 4096), 0u);
  }
  EXPECT_EQ(large.bytes_in_use(), 100'000u * (64 + 4096 + 16'384));
}

TEST_F(MemoryTest, RandomAllocationsNeverOverlapAndKeepTheirBytes) {
  std::mt19937_64 random(2);
  struct Block {
    std::uint64_t bytes;
    std::uint8_t fill;
  };
  std::map<std::uint64_t, Block> blocks;
  for (int i = 0; i < 5000; ++i) {
    if (blocks.size() > 60 || (random() % 3 == 0 && !blocks.empty())) {
      auto victim = std::next(blocks.begin(), static_cast<long>(random() % blocks.size()));
      std::vector<std::uint8_t> bytes(victim->second.bytes);
      memory.read(victim->first, bytes.data(), bytes.size());
      ASSERT_EQ(bytes, std::vector<std::uint8_t>(bytes.size(), victim->second.fill));
      memory.release(victim->first);
      blocks.erase(victim);
      continue;
    }
    const std::uint64_t alignment = std::uint64_t{1} << random() % 14;
    const std::uint64_t bytes = random() % (random() % 10 == 0 ? 300'000 : 3000) + 1;
    const std::uint64_t a = memory.allocate(bytes, alignment);
    ASSERT_NE(a, 0u);
    ASSERT_EQ(a % alignment, 0u);
    const auto next = blocks.lower_bound(a);
    ASSERT_TRUE(next == blocks.end() || a + bytes <= next->first);
    ASSERT_TRUE(next == blocks.begin() ||
                std::prev(next)->first + std::prev(next)->second.bytes <= a);
    const auto fill = static_cast<std::uint8_t>(random());
    const std::vector<std::uint8_t> data(bytes, fill);
    memory.write(a, data.data(), bytes);
    blocks[a] = {bytes, fill};
  }
  for (const auto& [address, block] : blocks) memory.release(address);
  EXPECT_EQ(memory.bytes_in_use(), 0u);
  EXPECT_NE(memory.allocate(64 << 20, 64), 0u);  // all free ranges joined again
}

// --- Watches
// --------------------------------------------------------------------------------------

struct WatchTest : MemoryTest {
  static void told(void* self, std::uint64_t argument, Time visible_at) {
    static_cast<WatchTest*>(self)->calls.push_back({argument, visible_at});
  }
  std::uint32_t watch(std::uint64_t address, std::uint64_t bytes, std::uint64_t argument) {
    return memory.watch(address, bytes, {&WatchTest::told, this, argument});
  }
  std::vector<std::pair<std::uint64_t, Time>> calls;
};

TEST_F(WatchTest, IsToldTheVisibleTimeAtOnceAndOnce) {
  const std::uint64_t a = memory.allocate(4096, 4096);
  watch(a + 64, 64, 1);
  post64(a, 1, 100);
  post64(a + 128, 1, 100);
  EXPECT_TRUE(calls.empty());
  post64(a + 120, 1, 5000);
  post64(a + 64, 1, 6000);
  EXPECT_EQ(calls, (std::vector<std::pair<std::uint64_t, Time>>{{1, 5000}}));
}

TEST_F(WatchTest, OverlapIsEnoughAndTouchingIsNot) {
  const std::uint64_t a = memory.allocate(4096, 4096);
  watch(a + 64, 64, 1);
  post64(a + 56, 1, 1);
  EXPECT_TRUE(calls.empty());
  post64(a + 57, 1, 1);
  EXPECT_EQ(calls.size(), 1u);
}

TEST_F(WatchTest, SeesAWriteThatIsPostedAndNotYetVisible) {
  const std::uint64_t a = memory.allocate(64, 64);
  post64(a, 1, 700);
  EXPECT_EQ(watch(a, 64, 3), 0u);
  EXPECT_EQ(calls, (std::vector<std::pair<std::uint64_t, Time>>{{3, 700}}));
  run_until(700);
  EXPECT_NE(watch(a, 64, 4), 0u);  // what is visible is no news
}

TEST_F(WatchTest, IsToldTheFirstToBeVisibleOfAllSlots) {
  const std::uint64_t a = memory.allocate(64, 64);
  PostedWrites other(memory);
  const std::uint64_t value = 1;
  posted.post(a, &value, sizeof value, 700);
  other.post(a, &value, sizeof value, 600);
  other.post(a, &value, sizeof value, 650);
  EXPECT_EQ(watch(a, 64, 3), 0u);
  EXPECT_EQ(calls, (std::vector<std::pair<std::uint64_t, Time>>{{3, 600}}));
}

TEST_F(WatchTest, SpansPagesAndCanBeTakenBack) {
  const std::uint64_t a = memory.allocate(16'384, 4096);
  watch(a, 16'384, 1);
  const std::uint32_t second = watch(a, 16'384, 2);
  memory.unwatch(second);
  post64(a + 9000, 1, 10);
  EXPECT_EQ(calls.size(), 1u);
  watch(a, 16'384, 5);
  std::vector<std::uint8_t> wide(8192);
  posted.post(a + 100, wide.data(), 8192, 20);  // touches several of its pages, fires once
  EXPECT_EQ(calls.size(), 2u);
}

TEST_F(WatchTest, ManyWatchesFireOldestFirst) {
  const std::uint64_t a = memory.allocate(1 << 20, 4096);
  for (std::uint64_t i = 0; i < 1000; ++i) watch(a + i * 64, 64, i);
  for (std::uint64_t i = 0; i < 1000; ++i) watch(a + i * 64, 64, 1000 + i);
  post64(a + 7 * 64, 1, 1);
  EXPECT_EQ(calls, (std::vector<std::pair<std::uint64_t, Time>>{{7, 1}, {1007, 1}}));
}

}  // namespace
}  // namespace hcasim::host
