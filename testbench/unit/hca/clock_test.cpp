// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/clock.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace hcasim::hca {
namespace {

TEST(CoreClock, CyclesAreThoseOfADivision) {
  std::mt19937_64 random(1);
  for (const std::uint32_t mhz : {1u, 3u, 7u, 156u, 250u, 333u, 500u, 997u, 1600u, 500'000u}) {
    const CoreClock clock(mhz);
    const Time period = clock.period();
    const auto check = [&](Time time) {
      ASSERT_EQ(clock.cycle_at(time), static_cast<std::uint64_t>(time / period)) << time;
    };
    check(std::numeric_limits<Time>::max());
    for (unsigned bits = 1; bits < 64; ++bits) {
      for (int i = 0; i < 100; ++i) {
        const auto time = static_cast<Time>(random() >> bits);
        check(time);
        check(time / period * period);
        check(std::max<Time>(0, time / period * period - 1));
      }
    }
  }
}

TEST(CoreClock, EdgeAfterATimeIsStrictlyLater) {
  const CoreClock clock(500);
  EXPECT_EQ(clock.edge_after(0), 2000);
  EXPECT_EQ(clock.edge_after(1999), 2000);
  EXPECT_EQ(clock.edge_after(2000), 4000);
}

TEST(Stage, HoldsNobodyLongerThanAsked) {
  const CoreClock clock(500);
  Stage stage(clock, {4, 1});
  stage.hold_until(-5000);
  EXPECT_EQ(stage.enter(0), 2000 + 8000);
  stage.hold_until(3000);
  EXPECT_EQ(stage.next_free(), 4000);
  stage.hold_until(8000);
  EXPECT_EQ(stage.next_free(), 8000);
  stage.hold_until(8001);
  EXPECT_EQ(stage.next_free(), 10'000);
}

}  // namespace
}  // namespace hcasim::hca
