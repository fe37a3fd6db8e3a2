// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hcasim::testbench {

/// One cover point as the plan has it.
struct PlannedPoint {
  std::string name;
  std::string rule;     ///< of the contract, or section of its README
  std::string meaning;  ///< in words
};

struct TestPlan {
  std::vector<PlannedPoint> points;
};

/// Reads testbench/cosim/test_plan.txt. Throws std::runtime_error with file and line.
TestPlan load_test_plan();

/// The names that a pattern with braces stands for.
std::vector<std::string> expand(const std::string& pattern);

}  // namespace hcasim::testbench
