// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Planted faults are found, reported where they are, and shrunk to a few operations.
#include <gtest/gtest.h>

#include <ostream>

#include "sim/cosim/cross_check.hpp"
#include "support/receive_queue/faulty_units.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;

struct Fault {
  Side side;
  const char* profile;
  const char* port;
  const char* field;
  std::size_t most_operations;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.side.name;
}

class PlantedFault : public testing::TestWithParam<Fault> {};

FailingStimulus find(std::span<const Side> sides, const char* profile) {
  const RandomRun run{find_profile(profile), {}, 7, 50'000};
  const RunResult result = cross_check(sides, run);
  if (!result.failing) throw std::runtime_error("the fault was not found");
  return *result.failing;
}

TEST_P(PlantedFault, IsFoundReportedAndShrunk) {
  const Fault& fault = GetParam();
  const std::vector<Side> sides{model_side(), fault.side};
  const FailingStimulus found = find(sides, fault.profile);
  EXPECT_EQ(found.difference.port(), fault.port) << to_text(found.difference);
  EXPECT_EQ(found.difference.field(), fault.field) << to_text(found.difference);
  EXPECT_EQ(found.difference.side, fault.side.name);
  ASSERT_TRUE(found.difference.queue);

  const auto again = replay(sides, found.stimulus);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_text(*again), to_text(found.difference)) << "the stimulus replays the run";

  const FailingStimulus small = shrink(sides, found);
  const std::string text = to_text(small.stimulus, to_text(small.difference));
  SCOPED_TRACE(text);
  EXPECT_LE(small.stimulus.operations.size(), fault.most_operations);
  const auto shown = replay(sides, read_stimulus(text, "shrunk"));
  ASSERT_TRUE(shown);
  EXPECT_EQ(to_text(*shown), to_text(small.difference));
  EXPECT_TRUE(small.difference.same_kind(found.difference));
  EXPECT_NE(describe(sides, small).find("queue " + std::to_string(*small.difference.queue)),
            std::string::npos);
  // Without the fault it passes: it is fit to be a regression test.
  const std::vector<Side> right{model_side(), skipping_model_side()};
  EXPECT_FALSE(replay(right, small.stimulus));
  std::cout << describe(sides, small) << text;
}

TEST_P(PlantedFault, IsShrunkAlikeEveryTime) {
  const std::vector<Side> sides{model_side(), GetParam().side};
  const FailingStimulus found = find(sides, GetParam().profile);
  EXPECT_EQ(shrink(sides, found).stimulus, shrink(sides, found).stimulus);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, PlantedFault,
    testing::Values(Fault{wrong_remaining_at_wrap(), "wrap", "take_rsp", "remaining", 12},
                    Fault{limit_event_twice(), "srq_limit", "event", "valid", 12},
                    Fault{stale_line_after_init(), "churn", "take_rsp", "wqe", 20}),
    [](const auto& param_info) { return param_info.param.side.name; });

}  // namespace
}  // namespace hcasim::testbench
