// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/link_clock.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

#include "fabric/link_ring.hpp"

namespace hcasim::fabric {
namespace {

TEST(ByteRate, IsExactForLinkRates) {
  EXPECT_EQ(ByteRate::from_gbps(100).floor(1), 80);
  EXPECT_EQ(ByteRate::from_gbps(400).floor(1), 20);
  EXPECT_EQ(ByteRate::from_gbps(56).numerator(), 1000u);  // 1000/7 ps a byte
  EXPECT_EQ(ByteRate::from_gbps(56).denominator(), 7u);
  EXPECT_EQ(ByteRate::from_gbps(0.1).floor(1), 80'000);
}

TEST(ByteRate, RoundsAsAsked) {
  const ByteRate rate(1000, 7);
  EXPECT_EQ(rate.floor(1), 142);
  EXPECT_EQ(rate.ceil(1), 143);
  EXPECT_EQ(rate.floor(7), 1000);
  EXPECT_EQ(rate.ceil(7), 1000);
}

TEST(ByteRate, LargeFractionsAreRoundedAndDoNotOverflow) {
  const ByteRate rate(3'000'000'000'000'000'001, 1'000'000'000'000'000'003);
  EXPECT_NEAR(static_cast<double>(rate.floor(1'000'000)), 3'000'000, 1);
}

TEST(LinkClock, BackToBackTrafficKeepsItsFractions) {
  LinkClock clock(ByteRate(1000, 7));
  for (int i = 0; i < 7'000'000; ++i) clock.reserve(0, 1);
  EXPECT_EQ(clock.free_at(), 1'000'000'000);
  EXPECT_DOUBLE_EQ(clock.busy_ps(), 1e9);
}

TEST(LinkClock, ShortAndLongTransfersAddUpToTheFraction) {
  LinkClock clock(ByteRate(1000, 7));
  std::uint64_t total = 0;
  for (std::uint64_t bytes = 0; bytes < 1100; ++bytes) {
    total += bytes;
    EXPECT_EQ(clock.reserve(0, bytes).end, static_cast<Time>((total * 1000 + 6) / 7));
  }
}

TEST(LinkClock, StartsNowOrWhenFree) {
  LinkClock clock(ByteRate(80, 1));
  EXPECT_EQ(clock.reserve(1000, 10).start, 1000);
  EXPECT_EQ(clock.reserve(1700, 10).start, 1800);
  const LinkClock::Slot slot = clock.reserve(2600, 1);  // exactly when it is free
  EXPECT_EQ(slot.start, 2600);
  EXPECT_EQ(slot.end, 2680);
}

TEST(LinkClock, IdleTimeForgetsTheFraction) {
  LinkClock clock(ByteRate(1, 3));
  EXPECT_EQ(clock.reserve(0, 1).end, 1);  // a third
  EXPECT_EQ(clock.reserve(0, 1).end, 1);  // two thirds
  EXPECT_EQ(clock.reserve(1, 1).end, 2);  // at one, not at two thirds
  EXPECT_EQ(clock.reserve(1, 1).end, 2);
  EXPECT_EQ(clock.reserve(1, 1).end, 2);
  EXPECT_EQ(clock.reserve(1, 1).end, 3);
}

TEST(LinkRing, BehavesLikeADeque) {
  std::mt19937 random(4);
  LinkRing<std::unique_ptr<int>> ring;
  std::deque<int> reference;
  for (int i = 0; i < 100'000; ++i) {
    if (reference.empty() || random() % 1000 < (i < 50'000 ? 520 : 480)) {
      ring.push(std::make_unique<int>(i));
      reference.push_back(i);
    } else {
      ASSERT_EQ(*ring.pop(), reference.front());
      reference.pop_front();
    }
    ASSERT_EQ(ring.size(), reference.size());
    if (!reference.empty()) {
      ASSERT_EQ(*ring.front(), reference.front());
      ASSERT_EQ(*ring.back(), reference.back());
      ASSERT_EQ(*ring[reference.size() / 2], reference[reference.size() / 2]);
    }
  }
}

TEST(LinkRing, SortedPushKeepsTheOrderOfEquals) {
  LinkRing<std::pair<int, int>> ring;
  const auto push = [&ring](int key, int tag) {
    ring.push_sorted({key, tag}, [key](const auto& other) { return other.first > key; });
  };
  push(5, 0);
  push(3, 1);
  push(5, 2);
  push(3, 3);
  push(4, 4);
  std::vector<int> tags;
  while (!ring.empty()) tags.push_back(ring.pop().second);
  EXPECT_EQ(tags, (std::vector<int>{1, 3, 4, 0, 2}));
}

}  // namespace
}  // namespace hcasim::fabric
