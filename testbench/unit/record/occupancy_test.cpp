// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "sim/record/occupancy.hpp"

namespace hcasim::sim {
namespace {

using hw::Time;

// Times of the random tests are multiples of it, so that they can be walked through one by one and
// yet be long enough for changes to settle.
constexpr Time kUnit = 100;
constexpr Time kEpoch = 50'000;     // in units
constexpr Time kLongest = 400'000;  // in units
static_assert(kLongest * kUnit > 5 * Occupancy::kSettle);

// The level at each moment, one unit at a time.
OccupancyStatistics by_hand(const std::vector<ChangeQueue::Change>& changes, Time end) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(end + 1), 0);
  for (const auto& change : changes) {
    if (change.at <= end) steps[static_cast<std::size_t>(change.at)] += change.entries;
  }
  std::vector<std::uint64_t> time_at(changes.size() + 1, 0);
  std::int64_t level = 0;
  for (Time now = 0; now < end; ++now) {
    level += steps[static_cast<std::size_t>(now)];
    if (now >= kEpoch) ++time_at[static_cast<std::size_t>(level)];
  }
  OccupancyStatistics result;
  const auto time = static_cast<std::uint64_t>(end - kEpoch);
  std::uint64_t sum = 0;
  std::uint64_t seen = 0;
  bool found = false;
  for (std::size_t value = 0; value < time_at.size(); ++value) {
    const std::uint64_t duration = time_at[value];
    sum += value * duration;
    seen += duration;
    if (!found && seen * 100 >= time * 99) {
      result.p99 = value;
      found = true;
    }
    if (duration != 0) result.max = value;
  }
  result.mean_thousandths = (sum * 1000 + time / 2) / time;
  result.empty_millionths = (time_at[0] * 1'000'000 + time / 2) / time;
  return result;
}

void expect_equal(const OccupancyStatistics& got, const OccupancyStatistics& expected) {
  EXPECT_EQ(got.mean_thousandths, expected.mean_thousandths);
  EXPECT_EQ(got.p99, expected.p99);
  EXPECT_EQ(got.max, expected.max);
  EXPECT_EQ(got.empty_millionths, expected.empty_millionths);
}

// Entries that arrive at random and stay for a random time.
std::vector<ChangeQueue::Change> random_changes(std::mt19937_64& random) {
  std::vector<ChangeQueue::Change> changes;
  const std::uint64_t gap = 1 + random() % 400;
  const std::uint64_t stay = 1 + random() % 20'000;
  Time now = 0;
  while (now < kLongest) {
    now += static_cast<Time>(random() % gap);
    changes.push_back({now, 1});
    changes.push_back({now + static_cast<Time>(random() % stay), -1});
  }
  return changes;
}

// The changes up to `last`, each put off by up to `mixed_up` units.
std::vector<ChangeQueue::Change> reported(const std::vector<ChangeQueue::Change>& changes,
                                          Time last, Time mixed_up, std::mt19937_64& random) {
  std::vector<std::pair<Time, ChangeQueue::Change>> keyed;
  for (const auto& change : changes) {
    const Time delay = static_cast<Time>(random()) & 0x7fffffff;
    if (change.at <= last) keyed.push_back({change.at + delay % (mixed_up + 1), change});
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ChangeQueue::Change> order;
  order.reserve(keyed.size());
  for (const auto& [key, change] : keyed) order.push_back(change);
  return order;
}

void compare(std::uint64_t seed, Time mixed_up) {
  std::mt19937_64 random(seed);
  const auto changes = random_changes(random);
  const Time end = 300'000 + static_cast<Time>(random() % 100'000);
  Occupancy occupancy;
  bool begun = false;
  for (const auto& change : reported(changes, end + 2000, mixed_up, random)) {
    if (!begun && change.at >= kEpoch) {
      occupancy.begin(kEpoch * kUnit);
      begun = true;
    }
    if (random() % 4 == 0) {
      occupancy.change_later(change.at * kUnit, change.entries);
    } else {
      occupancy.change(change.at * kUnit, change.entries);
    }
  }
  occupancy.end(end * kUnit);
  expect_equal(occupancy.statistics(), by_hand(changes, end));
}

using Changes = std::vector<std::pair<Time, std::int64_t>>;

Changes taken_until(ChangeQueue& queue, Time limit) {
  Changes taken;
  queue.take_until(limit, [&](const ChangeQueue::Change& change) {
    taken.emplace_back(change.at, change.entries);
  });
  return taken;
}

TEST(ChangeQueue, WhatHappensAtOneTimeIsOneChange) {
  ChangeQueue queue;
  queue.insert(10, 1);
  queue.insert(10, 2);
  queue.insert(30, 1);
  queue.insert(10, -1);
  queue.insert(20, 5);
  EXPECT_EQ(taken_until(queue, 20), (Changes{{10, 2}, {20, 5}}));
  EXPECT_EQ(taken_until(queue, 40), (Changes{{30, 1}}));
  EXPECT_TRUE(queue.empty());
}

TEST(ChangeQueue, ATimeThatWasTakenCanComeAgain) {
  ChangeQueue queue;
  queue.insert(10, 1);
  EXPECT_EQ(taken_until(queue, 10), (Changes{{10, 1}}));
  queue.insert(10, 1);
  queue.insert(5, 7);
  EXPECT_EQ(taken_until(queue, 10), (Changes{{5, 7}, {10, 1}}));
}

TEST(ChangeQueue, RoomIsMadeWithoutLosingAnything) {
  ChangeQueue queue;
  Time next = 0;
  Time taken = 0;
  for (int lap = 0; lap < 20; ++lap) {
    for (; !queue.full(); ++next) queue.insert(next + 1, next + 1);
    for (const auto& [at, entries] : taken_until(queue, next - 10 * lap)) {
      EXPECT_EQ(at, ++taken);
      EXPECT_EQ(entries, at);
    }
    queue.make_room();
    EXPECT_FALSE(queue.full());
  }
  for (const auto& [at, entries] : taken_until(queue, next)) EXPECT_EQ(at, ++taken);
  EXPECT_EQ(taken, next);
}

TEST(Occupancy, AgreesWithWalkingThroughTime) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    compare(seed, 0);
  }
}

TEST(Occupancy, ReportsMayBeOutOfOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    compare(seed, 30'000);
  }
}

TEST(Occupancy, ALongBacklogDoesNotDisturbThePresent) {
  Occupancy occupancy;
  occupancy.begin(0);
  // Known now, visible much later; what happens until then is still counted where it belongs.
  occupancy.change_later(900 * hw::kMicrosecond, 1);
  occupancy.change(100 * hw::kMicrosecond, 1);
  occupancy.change(200 * hw::kMicrosecond, -1);
  occupancy.end(1000 * hw::kMicrosecond);
  EXPECT_EQ(occupancy.statistics().mean_thousandths, 200u);
  EXPECT_EQ(occupancy.statistics().empty_millionths, 800'000u);
}

TEST(Occupancy, LevelsBeforeTheEpochCountFromItOn) {
  Occupancy occupancy;
  occupancy.change(1 * hw::kMicrosecond, 7);
  occupancy.begin(20 * hw::kMicrosecond);
  occupancy.change(30 * hw::kMicrosecond, -7);
  occupancy.end(40 * hw::kMicrosecond);
  EXPECT_EQ(occupancy.statistics().mean_thousandths, 3500u);
  EXPECT_EQ(occupancy.statistics().max, 7u);
}

TEST(Occupancy, DeepQueuesToOneInAThousand) {
  Occupancy occupancy;
  occupancy.begin(0);
  occupancy.change(0, 1'000'003);
  occupancy.end(hw::kMillisecond);
  const OccupancyStatistics statistics = occupancy.statistics();
  EXPECT_EQ(statistics.max, 1'000'003u);
  EXPECT_EQ(statistics.mean_thousandths, 1'000'003'000u);
  EXPECT_NEAR(static_cast<double>(statistics.p99), 1'000'003, 1000);
  EXPECT_EQ(statistics.empty_millionths, 0u);
}

}  // namespace
}  // namespace hcasim::sim
