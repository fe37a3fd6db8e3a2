// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The traces that are shipped are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

TEST(TracesByHand, AllParse) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HCASIM_SOURCE_DIR "/traces/hand")) {
    if (entry.path().extension() != ".trace") continue;
    SCOPED_TRACE(entry.path());
    names.insert(entry.path().stem());
    EXPECT_GE(test::parse(contents(entry.path())).operations.size(), 3U);
  }
  EXPECT_GE(names.size(), 3U);
}

TEST(TracesByHand, ExampleOfTheReadmeHasSixLinesAndParses) {
  const std::string readme = contents(HCASIM_SOURCE_DIR "/traces/README.md");
  const std::size_t begin = readme.find("hcasim-trace 1\n");
  const std::string example = readme.substr(begin, readme.find("```", begin) - begin);
  EXPECT_EQ(std::ranges::count(example, '\n'), 6);
  EXPECT_EQ(test::parse(example).operations.size(), 5U);
}

}  // namespace
}  // namespace hcasim::sim
