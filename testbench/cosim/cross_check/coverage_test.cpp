// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Functional coverage: the plan names the points of the code, and random traffic reaches them all.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "sim/cosim/coverage.hpp"
#include "sim/cosim/cross_check.hpp"
#include "support/receive_queue/test_plan.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;

std::set<std::string> points_of_code() {
  std::set<std::string> names;
  for (const Coverage::Point& point : Coverage().points()) names.insert(point.name);
  return names;
}

TEST(TestPlan, NamesThePointsOfTheCodeAndNoOthers) {
  const TestPlan plan = load_test_plan();
  std::set<std::string> planned;
  for (const PlannedPoint& point : plan.points) {
    EXPECT_TRUE(planned.insert(point.name).second) << point.name << " is planned twice";
    EXPECT_FALSE(point.rule.empty()) << point.name;
    EXPECT_FALSE(point.meaning.empty()) << point.name;
  }
  const std::set<std::string> code = points_of_code();
  for (const std::string& name : code) EXPECT_TRUE(planned.count(name)) << name << " has no plan";
  for (const std::string& name : planned) EXPECT_TRUE(code.count(name)) << name << " has no code";
}

TEST(TestPlan, BracesStandForSeveralPoints) {
  EXPECT_EQ(expand("a.{b,c}.{d,e}"),
            (std::vector<std::string>{"a.b.d", "a.b.e", "a.c.d", "a.c.e"}));
  EXPECT_EQ(expand("a"), std::vector<std::string>{"a"});
}

TEST(Coverage, RandomTrafficReachesEveryPoint) {
  const std::vector<Side> sides{model_side()};
  Coverage all;
  for (const Profile& profile : profiles()) {
    const RunResult result = cross_check(sides, {&profile, {}, 1, 200'000}, &all);
    ASSERT_FALSE(result.failing) << describe(sides, *result.failing);
  }
  EXPECT_EQ(all.holes(), 0U) << all.table().substr(0, 2000);
  EXPECT_EQ(all.percent(), 100.0);
  for (const Coverage::Point& point : all.impossible_hits()) {
    ADD_FAILURE() << point.name << " was hit and is called impossible";
  }
}

TEST(Coverage, HolesComeFirst) {
  Coverage coverage;
  coverage.hit(CoverGroup::kEvent, 1);
  const std::string table = coverage.table();
  EXPECT_NE(table.find("functional coverage: 1 of "), std::string::npos);
  EXPECT_GT(table.find("event.bad_doorbell"), table.find("HOLE  event.srq_limit"));
  EXPECT_LT(coverage.percent(), 1.0);
}

TEST(Coverage, SumsOfRuns) {
  Coverage left;
  Coverage right;
  left.hit(CoverGroup::kEvent, 0);
  right.hit(CoverGroup::kEvent, 0);
  right.hit(CoverGroup::kEvent, 2);
  left.add(right);
  EXPECT_EQ(left.holes() + 2, left.points().size());
}

}  // namespace
}  // namespace hcasim::testbench
