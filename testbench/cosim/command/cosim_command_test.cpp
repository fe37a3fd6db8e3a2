// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// `hcasim cosim` as a person runs it.
#include "unit/command_line/program.hpp"

#include "sim/cosim/profile.hpp"
#include "sim/cosim/wave_file.hpp"

namespace hcasim::test {
namespace {

namespace fs = std::filesystem;

const std::string kRight = "--rtl " HCASIM_PLUGIN_FOLDER "right_plugin.so";
const std::string kFaulty = "--rtl " HCASIM_PLUGIN_FOLDER "faulty_plugin.so";

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Cosim, EveryProfileHasALineAndCoverageIsTold) {
  const Outcome outcome = hcasim("cosim --cycles 500 " + kRight);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("compared: model, model-skipping, right_plugin\n"));
  for (const sim::cosim::Profile& profile : sim::cosim::profiles()) {
    EXPECT_EQ(lines_with(outcome.out, "\n" + std::string(profile.name) + " "), 1U) << profile.name;
  }
  EXPECT_THAT(outcome.out, testing::HasSubstr("functional coverage: "));
  EXPECT_EQ(outcome.err, "");
}

TEST(Cosim, TheSameSeedPrintsTheSame) {
  const std::string arguments = "cosim --cycles 1000 --profile churn --profile wrap " + kRight;
  const Outcome first = hcasim(arguments + " --seed 3");
  EXPECT_EQ(first.out, hcasim(arguments + " --seed 3").out);
  EXPECT_NE(first.out, hcasim(arguments + " --seed 4").out);
}

TEST(Cosim, BelowItsGoalItFails) {
  const Outcome outcome = hcasim("cosim --cycles 500 --profile wrap --goal 99.5 " + kRight);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, testing::HasSubstr("HOLE  "));
  EXPECT_THAT(outcome.err, testing::HasSubstr("below the goal of 99.5 %"));
}

TEST(Cosim, AllPointsAreInAFile) {
  const Scratch scratch;
  const Outcome outcome =
      hcasim("cosim --cycles 500 --profile wrap " + kRight + " --out " + scratch.file("out"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string table = contents(scratch.file("out/coverage.txt"));
  EXPECT_THAT(table, testing::StartsWith("functional coverage: "));
  EXPECT_THAT(table, testing::HasSubstr("  wrap.tail\n"));
}

TEST(Cosim, ADifferenceIsShownShrunkAndReplayed) {
  const Scratch scratch;
  const Outcome outcome =
      hcasim("cosim --profile wrap " + kFaulty + " --out " + scratch.file("out"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, testing::ContainsRegex(
                               "cycle [0-9]+, take_rsp.remaining, queue [0-9]+: expected [0-9]+, "
                               "faulty_plugin has [0-9]+\n"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("last transactions of queue "));
  const std::string waves(sim::cosim::wave_extension());
  for (const std::string& name :
       {std::string("difference.txt"), std::string("failure.stimulus"),
        std::string("shrunk.stimulus"), "failure." + waves, "shrunk." + waves,
        std::string("failure.gtkw"), std::string("shrunk.gtkw")}) {
    EXPECT_GT(contents(scratch.file("out/" + name)).size(), 50U) << name;
  }
  const std::string shrunk = scratch.file("out/shrunk.stimulus");
  EXPECT_LT(lines_with(contents(shrunk), "\n"), 20U) << contents(shrunk);
  EXPECT_THAT(contents(scratch.file("out/shrunk.gtkw")),
              testing::HasSubstr("bench.faulty_plugin.take_rsp_remaining[15:0]"));
  for (const char* name : {"failure", "shrunk"}) {
    const std::string file = scratch.file(std::string("out/") + name + ".stimulus");
    EXPECT_EQ(hcasim("cosim --replay " + file + " " + kFaulty).status, 1) << name;
    EXPECT_EQ(hcasim("cosim --replay " + file + " " + kRight).status, 0) << name;
  }
}

TEST(Cosim, OrderIsComparedWhenAsked) {
  EXPECT_EQ(hcasim("cosim --compare order --cycles 300 --profile wrap " + kRight).status, 0);
  const Outcome outcome = hcasim("cosim --compare order --cycles 1000 --profile wrap " + kFaulty);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("take_rsp.remaining"));
}

TEST(Cosim, WhatCannotBeUnderstoodIsRefused) {
  expect_refused("cosim --profile rap", "expected a profile, found 'rap'; did you mean 'wrap'?");
  expect_refused("cosim --compare time", "--compare: expected cycle or order, found 'time'");
  expect_refused("cosim --goal 101", "--goal: expected a number from 0 to 100, found '101'");
  expect_refused("cosim --cycles many", "--cycles: expected a number");
  expect_refused("cosim --rtl /nonexistent.so", "/nonexistent.so: expected ");
  expect_refused("cosim --cycles 500", "--rtl: expected a plug-in, since this program was built");
  expect_refused("cosim --replay /nonexistent.stimulus", "/nonexistent.stimulus: expected ");
}

TEST(Cosim, AFaultInAStimulusIsSaidWhereItIs) {
  const Scratch scratch;
  const std::string file = scratch.file("x.stimulus");
  std::ofstream(file)
      << "hcasim-receive-queue-stimulus 1\nparameters queues=64 takes=16 prefetch=8 "
         "tags=32 fetch_bytes=512 lines=64 events=8\ntke queue=1\n";
  expect_refused("cosim --replay " + file, ":3:1: expected an operation, found 'tke'");
}

TEST(Cosim, RtlOfOtherSizesIsNotReplayedOn) {
  const Scratch scratch;
  const std::string file = scratch.file("x.stimulus");
  std::ofstream(file) << "hcasim-receive-queue-stimulus 1\nparameters queues=4 takes=16 prefetch=8 "
                         "tags=32 fetch_bytes=512 lines=64 events=8\ntake queue=1\n";
  expect_refused("cosim --replay " + file + " " + kRight, "expected the parameters of the RTL");
  EXPECT_EQ(hcasim("cosim --replay " + file).status, 0);
}

}  // namespace
}  // namespace hcasim::test
