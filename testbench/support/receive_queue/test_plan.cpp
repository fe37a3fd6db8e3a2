// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The test plan: lines of POINT | RULE | MEANING.
#include "support/receive_queue/test_plan.hpp"

#include <fstream>
#include <stdexcept>

namespace hcasim::testbench {
namespace {

constexpr const char* kFile = HCASIM_SOURCE_DIR "/testbench/cosim/test_plan.txt";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::vector<std::string> expand(const std::string& pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) return {pattern};
  const std::size_t close = pattern.find('}', open);
  if (close == std::string::npos) throw std::runtime_error("no } in " + pattern);
  std::vector<std::string> names;
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t end = std::min(pattern.find(',', begin), close);
    const std::string chosen = pattern.substr(0, open) + pattern.substr(begin, end - begin);
    for (const std::string& rest : expand(pattern.substr(close + 1))) {
      names.push_back(chosen + rest);
    }
    begin = end + 1;
  }
  return names;
}

TestPlan load_test_plan() {
  std::ifstream file(kFile);
  if (!file) throw std::runtime_error(std::string(kFile) + ": cannot be read");
  TestPlan plan;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t first = line.find(" | ");
    const std::size_t second = line.find(" | ", first == std::string::npos ? first : first + 3);
    if (second == std::string::npos) {
      throw std::runtime_error(std::string(kFile) + ":" + std::to_string(number) +
                               ": expected POINT | RULE | MEANING");
    }
    const std::string rule = trimmed(line.substr(first + 3, second - first - 3));
    for (const std::string& name : expand(trimmed(line.substr(0, first)))) {
      plan.points.push_back({name, rule, trimmed(line.substr(second + 3))});
    }
  }
  return plan;
}

}  // namespace hcasim::testbench
