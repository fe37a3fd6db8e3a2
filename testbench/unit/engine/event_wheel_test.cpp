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

constexpr hw::Time kNear = 4096 * 1024;  // beyond it events are far

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
  wheel.push(10 * hw::kSecond, unit, 8);
  wheel.push(kNear, second, 5);
  wheel.push(kNear, second, 6);
  wheel.push(kNear, unit, 3);
  wheel.push(kNear, unit, 4);
  wheel.push(kNear - 1, unit, 2);
  wheel.push(0, unit, 1);
  wheel.push(kNear + 1, unit, 7);
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

TEST_F(EventWheelTest, AFarEventThatIsWithdrawnLeavesNothingBehind) {
  const std::uint64_t only = wheel.push(kNear, unit, 1);
  wheel.withdraw(only);
  EXPECT_TRUE(wheel.empty());
  const std::uint64_t first = wheel.push(kNear, unit, 2);
  wheel.push(kNear + 1, unit, 3);
  wheel.withdraw(first);
  EXPECT_EQ(wheel.next_time(), kNear + 1);
  EXPECT_EQ(wheel.pop().argument, 3u);
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.push(wheel.now(), unit, 4), 0u) << "a near event has no ticket";
}

TEST_F(EventWheelTest, AgreesWithASortedSetOnRandomTraffic) {
  std::vector<std::unique_ptr<Nobody>> units;
  for (int i = 0; i < 8; ++i) units.push_back(std::make_unique<Nobody>(engine, "one of many"));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    EventWheel random_wheel;
    std::set<std::tuple<hw::Time, std::uint64_t, std::uint64_t>> reference;
    std::vector<std::tuple<std::uint64_t, hw::Time, Nobody*, std::uint64_t>> far;  // ticket, event
    hw::Time now = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      if (reference.empty() || random() % 100 < 52) {
        // Delays from nothing to a second, many ties.
        const auto delay = static_cast<hw::Time>(random() % (std::uint64_t{1} << random() % 41));
        const hw::Time at = now + (random() % 4 == 0 ? 0 : delay);
        Nobody& whose = *units[random() % units.size()];
        const std::uint64_t ticket = random_wheel.push(at, whose, i);
        if (ticket != 0) far.push_back({ticket, at, &whose, i});
        reference.insert({at, whose.rank(), i});
      } else if (!far.empty() && random() % 3 == 0) {
        const std::size_t which = random() % 2 == 0 ? far.size() - 1 : random() % far.size();
        const auto [ticket, at, whose, argument] = far[which];
        far.erase(far.begin() + static_cast<std::ptrdiff_t>(which));
        if (at - now < kNear) continue;  // it may have come near
        random_wheel.withdraw(ticket);
        reference.erase({at, whose->rank(), argument});
      } else if (random() % 8 == 0) {
        now += (std::get<0>(*reference.begin()) - now) / static_cast<hw::Time>(random() % 3 + 1);
        random_wheel.advance_to(now);
      } else {
        ASSERT_EQ(random_wheel.next_time(), std::get<0>(*reference.begin()));
        const Event event = random_wheel.pop();
        ASSERT_EQ(std::make_tuple(event.time, event.unit->rank(), event.argument),
                  *reference.begin())
            << "seed " << seed;
        reference.erase(reference.begin());
        now = event.time;
      }
      ASSERT_EQ(random_wheel.now(), now);
      ASSERT_EQ(random_wheel.empty(), reference.empty());
    }
  }
}

}  // namespace
}  // namespace hcasim::sim
