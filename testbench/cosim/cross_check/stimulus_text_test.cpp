// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Stimulus files: what is written is read back, and what is wrong is said where it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcasim/sim/input_error.hpp>
#include <random>

#include "sim/cosim/cross_check.hpp"
#include "sim/cosim/generator.hpp"
#include "support/seed.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;

Operation random_operation(std::mt19937_64& random) {
  Operation operation;
  operation.kind = static_cast<OperationKind>(random() % kOperationKinds);
  for (const Field& field : form_of(operation.kind).fields) {
    const std::uint64_t draw = random();
    std::uint32_t& value = operation.*field.member;
    switch (field.form) {
      case FieldForm::kNumber:
        value = static_cast<std::uint32_t>(field.least +
                                           draw % (std::uint64_t{field.most} - field.least + 1));
        break;
      case FieldForm::kWord:
        value = static_cast<std::uint32_t>(draw % field.words.size());
        break;
      case FieldForm::kBits:
        value = static_cast<std::uint32_t>(2 + draw % ((2U << kPatternBits) - 2));
        break;
    }
  }
  return operation;
}

TEST(StimulusText, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(support::test_seed(1));
  StimulusList list;
  list.parameters = {13, 5, 3, 7, 1024, 41, 3};
  for (int i = 0; i < 5000; ++i) list.operations.push_back(random_operation(random));
  EXPECT_EQ(read_stimulus(to_text(list, "two lines\nof remark"), "text"), list);
}

TEST(StimulusText, CommentsBlanksAndEmptyLinesDoNotMatter) {
  const StimulusList list = read_stimulus(
      "hcasim-receive-queue-stimulus 1\r\n\n# why\n  parameters queues=4 takes=16 prefetch=8 "
      "tags=32 fetch_bytes=512 lines=64 events=8 # small\n\ttake   queue=3\t# one\n\n",
      "text");
  ASSERT_EQ(list.operations.size(), 1U);
  EXPECT_EQ(list.parameters.queues, 4U);
  EXPECT_EQ(to_text(list.operations.front()), "take queue=3");
}

TEST(StimulusText, TheLinesOfAllKindsAreAsDocumented) {
  const char* const lines[] = {"init queue=1 size=4 stride=64 head=0 offset=128",
                               "set_limit queue=1 limit=2 arm=77",
                               "pause queue=1",
                               "resume queue=1 size=8 tail=3 offset=0",
                               "to_error queue=1",
                               "invalidate queue=1",
                               "query queue=1",
                               "command op=7 queue=1 size=1 stride=2 head=3 tail=4 limit=5 arm=6 "
                               "offset=7",
                               "post queue=1 slots=2",
                               "doorbell queue=1 head=9",
                               "take queue=1",
                               "peek queue=1",
                               "ready port=take_rsp pattern=0110 cycles=64",
                               "memory delay=20 gap=1 order=turns",
                               "fault kind=short",
                               "beat tag=3",
                               "wait cycles=5"};
  static_assert(std::size(lines) == kOperationKinds);
  std::string text = to_text(StimulusList{});
  for (const char* line : lines) text += std::string(line) + "\n";
  const StimulusList list = read_stimulus(text, "text");
  ASSERT_EQ(list.operations.size(), kOperationKinds);
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    EXPECT_EQ(list.operations[i].kind, static_cast<OperationKind>(i));
    EXPECT_EQ(to_text(list.operations[i]), lines[i]);
  }
}

std::string error_of(const std::string& text) {
  try {
    read_stimulus(text, "f");
  } catch (const sim::InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(StimulusText, FaultsAreSaidWhereTheyAre) {
  const std::string head = to_text(StimulusList{});
  const auto line = [&head](const std::string& text) { return error_of(head + text + "\n"); };
  EXPECT_EQ(error_of(""),
            "f:1:1: expected hcasim-receive-queue-stimulus 1, found 'the end of the "
            "file'");
  EXPECT_THAT(error_of("hello\n"), testing::HasSubstr("f:1:1: expected hcasim-receive-queue"));
  EXPECT_THAT(error_of("hcasim-receive-queue-stimulus 1\n"),
              testing::HasSubstr("f:2:1: expected parameters"));
  EXPECT_THAT(error_of("hcasim-receive-queue-stimulus 1\ntake queue=1\n"),
              testing::HasSubstr("f:2:1: expected parameters, found 'take'"));
  EXPECT_THAT(error_of("hcasim-receive-queue-stimulus 1\nparameters queues=0"),
              testing::HasSubstr("f:2:19: expected a value of queues within its range, found '0'"));
  EXPECT_EQ(line("tke queue=1"), "f:3:1: expected an operation, found 'tke'; did you mean 'take'?");
  EXPECT_EQ(line("take"), "f:3:5: expected queue=, found 'the end of the line'");
  EXPECT_EQ(line("take quue=1"), "f:3:6: expected queue=, found 'quue'");
  EXPECT_EQ(line("take queue=x"), "f:3:12: expected a number from 0 to 16777215, found 'x'");
  EXPECT_EQ(line("take queue=-1"), "f:3:12: expected a number from 0 to 16777215, found '-1'");
  EXPECT_EQ(line("take queue=1 2"), "f:3:14: expected the end of the line, found '2'");
  EXPECT_EQ(line("wait cycles=0"), "f:3:13: expected a number from 1 to 1000000, found '0'");
  EXPECT_EQ(line("fault kind=shrt"),
            "f:3:12: expected error, error_last, short, long or unknown_tag, found 'shrt'; did you "
            "mean 'short'?");
  EXPECT_EQ(line("ready port=event pattern=012 cycles=1"),
            "f:3:26: expected 1 to 16 digits 0 or 1, found '012'");
  EXPECT_THAT(line("ready port=event pattern=01010101010101010 cycles=1"),
              testing::HasSubstr("f:3:26: expected 1 to 16 digits"));
}

TEST(StimulusText, AFileThatCannotBeReadIsSaid) {
  EXPECT_THROW(load_stimulus("/nonexistent/x.stimulus"), sim::InputError);
  EXPECT_THROW(load_stimulus("/"), sim::InputError);
}

}  // namespace
}  // namespace hcasim::testbench
