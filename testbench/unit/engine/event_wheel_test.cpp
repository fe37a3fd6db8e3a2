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
  Nobody second{engine, "second"};
  Nobody third{engine, "third"};
  EventWheel wheel;
};

TEST_F(EventWheelTest, EmptyWheelHasNoNextTime) {
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next_time(), hw::kNever);
  wheel.push(5, unit, 1);
  EXPECT_FALSE(wheel.empty());
  EXPECT_EQ(wheel.next_time(), 5);
  EXPECT_EQ(wheel.pop().argument, 1u);
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next_time(), hw::kNever);
}

TEST_F(EventWheelTest, PopsByTimeThenRankThenInsertion) {
  wheel.push(20, unit, 4);
  wheel.push(10, third, 3);
  wheel.push(10, second, 1);
  wheel.push(10, second, 2);
  wheel.push(1024, unit, 6);  // later in the same bucket
  wheel.push(1023, third, 5);
  wheel.push(4096, unit, 7);  // another bucket
  std::vector<std::uint64_t> arguments;
  while (!wheel.empty()) arguments.push_back(wheel.pop().argument);
  EXPECT_EQ(arguments, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(EventWheelTest, FarEventsComeInTheirTurn) {
  constexpr hw::Time kRound = 4096 * 1024;  // beyond a turn of the wheel
  wheel.push(10 * hw::kSecond, unit, 8);
  wheel.push(kRound, second, 5);
  wheel.push(kRound, second, 6);
  wheel.push(kRound, unit, 3);
  wheel.push(kRound, unit, 4);
  wheel.push(kRound - 1, unit, 2);
  wheel.push(0, unit, 1);
  wheel.push(kRound + 1, unit, 7);
  for (std::uint64_t i = 1; i <= 8; ++i) EXPECT_EQ(wheel.pop().argument, i);
}

TEST_F(EventWheelTest, NearEventOvertakesAFarOnePushedBefore) {
  constexpr hw::Time kFar = 1'000'000'000;
  wheel.push(kFar + 500, unit, 2);
  wheel.push(kFar - 1'000'000, unit, 1);
  EXPECT_EQ(wheel.pop().argument, 1u);
  // The wheel has come near enough for these and for what was far.
  wheel.push(kFar + 500, unit, 3);
  wheel.push(kFar + 400, unit, 4);
  wheel.push(kFar + 700, unit, 5);
  for (const std::uint64_t argument : {4u, 2u, 3u, 5u}) EXPECT_EQ(wheel.pop().argument, argument);
}

TEST_F(EventWheelTest, AgreesWithASortedSetOnRandomTraffic) {
  std::vector<std::unique_ptr<Nobody>> units;
  for (int i = 0; i < 8; ++i) units.push_back(std::make_unique<Nobody>(engine, "one of many"));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    EventWheel random_wheel;
    std::set<std::tuple<hw::Time, std::uint64_t, std::uint64_t>> reference;
    hw::Time now = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      if (reference.empty() || random() % 100 < 52) {
        // Delays from nothing to a second, many ties.
        const auto delay = static_cast<hw::Time>(random() % (std::uint64_t{1} << random() % 41));
        const hw::Time at = now + (random() % 4 == 0 ? 0 : delay);
        Nobody& whose = *units[random() % units.size()];
        random_wheel.push(at, whose, i);
        reference.insert({at, whose.rank(), i});
      } else {
        ASSERT_EQ(random_wheel.next_time(), std::get<0>(*reference.begin()));
        const Event event = random_wheel.pop();
        ASSERT_EQ(std::make_tuple(event.time, event.unit->rank(), event.argument),
                  *reference.begin())
            << "seed " << seed;
        reference.erase(reference.begin());
        now = event.time;
      }
      ASSERT_EQ(random_wheel.empty(), reference.empty());
    }
  }
}

}  // namespace
}  // namespace hcasim::sim
