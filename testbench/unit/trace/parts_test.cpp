// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The small parts: name table, nearest word, documentation from the tables.
#include <gtest/gtest.h>

#include <fstream>

#include <hcasim/sim/nearest.hpp>
#include <hcasim/sim/trace.hpp>
#include "sim/trace/grammar.hpp"

namespace hcasim::sim {
namespace {

TEST(NameTable, NumbersNamesInOrder) {
  NameTable names;
  EXPECT_EQ(names.intern("x"), 1U);
  EXPECT_EQ(names.intern("y"), 2U);
  EXPECT_EQ(names.intern("x"), 1U);
  EXPECT_EQ(names.find("y"), 2U);
  EXPECT_EQ(names.find("z"), kNoName);
  EXPECT_EQ(names.find(""), kNoName);
  EXPECT_EQ(names.text(2), "y");
  EXPECT_EQ(names.text(kNoName), "");
}

TEST(NameTable, GrowsAndKeepsTexts) {
  NameTable names;
  const std::string_view first = names.text(names.intern("first"));
  for (int i = 0; i < 100000; ++i) names.intern("n" + std::to_string(i));
  EXPECT_EQ(names.size(), 100001U);
  EXPECT_EQ(first, "first");
  for (int i = 0; i < 100000; ++i) {
    const std::string name = "n" + std::to_string(i);
    ASSERT_EQ(names.text(names.find(name)), name);
  }
}

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("ABC", "abc"), 0U);
  EXPECT_EQ(edit_distance("acb", "abc"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, SuggestsWhatIsNearOnly) {
  const std::vector<std::string> words = {"mtu", "timeout", "retry_cnt"};
  EXPECT_EQ(nearest("mut", words), "mtu");
  EXPECT_EQ(nearest("TIMEOUT", words), "timeout");
  EXPECT_EQ(nearest("retrycount", words), "retry_cnt");
  EXPECT_EQ(nearest("access", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("a", std::vector<std::string>{"b"}), "");
}

TEST(Grammar, VerbsStandAtTheirNumbers) {
  for (std::size_t i = 0; i < kVerbs; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(trace::verb_rows()[i].verb), i);
  }
}

TEST(Grammar, EveryArgumentHasARow) {
  for (std::size_t i = 0; i < kArgs; ++i) {
    const auto arg = static_cast<Arg>(i);
    const bool second_half = arg == Arg::kPsnPeer || arg == Arg::kRemoteOffset ||
                             arg == Arg::kMemoryOffset || arg == Arg::kGidLow;
    bool found = second_half;
    for (const trace::KeyRow& row : trace::key_rows()) found = found || row.arg == arg;
    EXPECT_TRUE(found) << i;
  }
}

// After a change of the tables: HCASIM_WRITE_DOCS=1 test_unit_trace, and commit traces/README.md.
TEST(Grammar, ReferenceInTheReadmeIsUpToDate) {
  const std::string path = HCASIM_SOURCE_DIR "/traces/README.md";
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string begin = "<!-- reference: begin -->\n";
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find("<!-- reference: end -->");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::size_t start = from + begin.size();
  if (std::getenv("HCASIM_WRITE_DOCS") != nullptr) {
    text.replace(start, to - start, grammar_markdown());
    std::ofstream(path) << text;
  } else {
    EXPECT_EQ(text.substr(start, to - start), grammar_markdown());
  }
}

}  // namespace
}  // namespace hcasim::sim
