// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/event_wheel.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/engine/engine.hpp"

namespace hcasim::sim {
namespace {

class Nobody : public Unit {
 public:
  using Unit::Unit;
  void on_event(std::uint64_t) override {}
};

struct EventWheelTest : ::testing::Test {
  Engine engine{"node"};
  Nobody unit{engine, "unit"};
  EventWheel wheel;
};

TEST_F(EventWheelTest, EmptyWheelHasNoNextTime) {
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next_time(), hw::kNever);
  wheel.push(5, 0, unit, 1);
  EXPECT_EQ(wheel.next_time(), 5);
  EXPECT_EQ(wheel.pop().argument, 1u);
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next_time(), hw::kNever);
}

TEST_F(EventWheelTest, PopsByTimeThenOrder) {
  wheel.push(20, 0, unit, 3);
  wheel.push(10, 2, unit, 2);
  wheel.push(10, 1, unit, 1);
  wheel.push(1024, 0, unit, 4);   // the next bucket
  wheel.push(1023, 9, unit, 35);  // the last of the first
  std::vector<std::uint64_t> arguments;
  while (!wheel.empty()) arguments.push_back(wheel.pop().argument);
  EXPECT_EQ(arguments, (std::vector<std::uint64_t>{1, 2, 3, 35, 4}));
}

TEST_F(EventWheelTest, FarEventsComeInTheirTurn) {
  constexpr hw::Time kRound = 4096 * 1024;  // one turn of the wheel
  wheel.push(10 * hw::kSecond, 0, unit, 5);
  wheel.push(kRound, 0, unit, 3);
  wheel.push(kRound - 1, 0, unit, 2);
  wheel.push(0, 0, unit, 1);
  wheel.push(kRound + 1, 0, unit, 4);
  for (std::uint64_t i = 1; i <= 5; ++i) EXPECT_EQ(wheel.pop().argument, i);
}

TEST_F(EventWheelTest, NearEventOvertakesAFarOnePushedBefore) {
  constexpr hw::Time kRound = 4096 * 1024;
  wheel.push(kRound + 500, 0, unit, 2);
  wheel.push(600, 0, unit, 1);
  EXPECT_EQ(wheel.pop().argument, 1u);
  // The wheel has come near enough for these to be near, while the first is still in the heap.
  wheel.push(kRound + 400, 0, unit, 3);
  wheel.push(kRound + 700, 0, unit, 4);
  EXPECT_EQ(wheel.pop().argument, 3u);
  EXPECT_EQ(wheel.pop().argument, 2u);
  EXPECT_EQ(wheel.pop().argument, 4u);
}

TEST_F(EventWheelTest, AgreesWithASortedSetOnRandomTraffic) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    EventWheel random_wheel;
    std::set<std::tuple<hw::Time, std::uint64_t, std::uint64_t>> reference;
    hw::Time now = 0;
    std::uint64_t order = 0;
    for (int i = 0; i < 20'000; ++i) {
      if (reference.empty() || random() % 100 < 52) {
        // Delays from nothing to a second, many ties.
        const auto delay = static_cast<hw::Time>(random() % (std::uint64_t{1} << random() % 41));
        const hw::Time at = now + (random() % 4 == 0 ? 0 : delay);
        const std::uint64_t key = (random() % 8) << 48 | order++;
        random_wheel.push(at, key, unit, static_cast<std::uint64_t>(i));
        reference.insert({at, key, static_cast<std::uint64_t>(i)});
      } else {
        ASSERT_EQ(random_wheel.next_time(), std::get<0>(*reference.begin()));
        const Event event = random_wheel.pop();
        ASSERT_EQ(std::make_tuple(event.time, event.order, event.argument), *reference.begin())
            << "seed " << seed;
        reference.erase(reference.begin());
        now = event.time;
      }
      ASSERT_EQ(random_wheel.size(), reference.size());
    }
  }
}

}  // namespace
}  // namespace hcasim::sim
