// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Comparison by order: another latency passes, other content does not.
#include <gtest/gtest.h>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "sim/cosim/order_check.hpp"
#include "support/receive_queue/faulty_units.hpp"
#include "support/receive_queue/slow_unit.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;

RandomRun run_of(const char* profile) {
  return {find_profile(profile), {}, 1, 3'000};
}

TEST(OrderCheck, AnotherLatencyPassesInEveryProfile) {
  const std::vector<Side> sides{model_side(), slow_side()};
  for (const Profile& profile : profiles()) {
    const RunResult result = order_check(sides, {&profile, {}, 1, 1'000});
    ASSERT_FALSE(result.failing) << profile.name << ": " << to_text(result.failing->difference)
                                 << "\n"
                                 << to_text(order_shrink(sides, *result.failing).stimulus);
    EXPECT_GT(result.operations, 100U) << profile.name;
  }
}

TEST(OrderCheck, AnotherLatencyFailsCycleByCycle) {
  const std::vector<Side> sides{model_side(), slow_side()};
  const RunResult result = cross_check(sides, run_of("mixed"));
  ASSERT_TRUE(result.failing);
}

TEST(OrderCheck, OtherContentFailsAndIsShrunk) {
  const std::vector<Side> sides{model_side(), wrong_remaining_at_wrap()};
  const RunResult result = order_check(sides, run_of("wrap"));
  ASSERT_TRUE(result.failing);
  EXPECT_EQ(result.failing->difference.port(), "take_rsp");
  EXPECT_EQ(result.failing->difference.field(), "remaining");
  const FailingStimulus small = order_shrink(sides, *result.failing);
  EXPECT_LE(small.stimulus.operations.size(), 6U) << to_text(small.stimulus);
  const auto again = order_replay(sides, small.stimulus);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->same_kind(small.difference));
}

TEST(OrderCheck, AnEventTooManyFails) {
  const std::vector<Side> sides{model_side(), limit_event_twice()};
  const RunResult result = order_check(sides, run_of("srq_limit"));
  ASSERT_TRUE(result.failing);
  EXPECT_EQ(result.failing->difference.port(), "event");
}

}  // namespace
}  // namespace hcasim::testbench
