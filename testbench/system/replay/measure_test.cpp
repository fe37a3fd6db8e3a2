// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Results that leave the beginning of a run out.
#include <gtest/gtest.h>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using testing::HasSubstr;

/// Two messages of 64 bytes, then one of 1024, 10 us apart.
const std::vector<std::string> kLines = {"connect a.q b.q",
                                         "b post_recv q length=1024",
                                         "b post_recv q length=1024",
                                         "b post_recv q length=1024",
                                         "a post_send q SEND length=64",
                                         "a post_send q SEND length=64 at=10us",
                                         "a post_send q SEND length=1024 at=20us"};

std::uint64_t counter(const RunOfLines& run, const char* node, const char* unit, const char* name) {
  return run.statistics["counters"][node][unit][name].get<std::uint64_t>();
}

TEST(MeasureFrom, WhatIsPostedBeforeIsInNoNumber) {
  const RunOfLines all = run_lines(kLines);
  const RunOfLines rest = run_lines(kLines, "--measure-from 15us");
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_EQ(all.count("messages_completed"), 3u);
  EXPECT_EQ(rest.count("messages_completed"), 1u);
  EXPECT_EQ(rest.count("bytes_delivered"), 1024u);
  ASSERT_EQ(rest.rows.size(), 1u);
  EXPECT_EQ(rest.rows[0], all.rows[2]);  // on the same clock
  EXPECT_EQ(counter(all, "a", "port", "packets_out"), 3u);
  EXPECT_EQ(counter(rest, "a", "port", "packets_out"), 1u);
  EXPECT_EQ(rest.statistics["receives"]["b"]["completed"], 1);
  EXPECT_EQ(rest.statistics["measured_from_ns"], 15000);
  EXPECT_FALSE(all.statistics.contains("measured_from_ns"));
  EXPECT_EQ(rest.statistics["latency_ns"]["min"], rest.statistics["latency_ns"]["max"]);
  // One of three receives is left in the queue, and it is for a part of the time that is measured.
  EXPECT_EQ(rest.statistics["occupancy"]["b"]["receive_queue"]["max"], 1);
}

TEST(MeasureFrom, SharesAreOfTheTimeThatIsMeasured) {
  const RunOfLines all = run_lines(kLines);
  const RunOfLines rest = run_lines(kLines, "--measure-from 15us");
  const double end = all.statistics["sim_time_ns"].get<double>();
  EXPECT_EQ(rest.statistics["sim_time_ns"].get<double>(), end);
  // The wire of `a` is busy for 82 bytes around each payload, at 12.5 bytes a nanosecond.
  const double share = rest.statistics["utilisation"]["a"]["wire"].get<double>();
  EXPECT_NEAR(share * (end - 15000), (1024 + 82) / 12.5, 0.01);
}

TEST(MeasureFrom, DoesNotDependOnRunAhead) {
  for (const char* from : {"9.999us", "10us", "10.5us", "12us", "20.001us"}) {
    const std::string option = std::string("--measure-from ") + from;
    const RunOfLines ahead = run_lines(kLines, option);
    const RunOfLines in_step = run_lines(kLines, option + " --no-run-ahead");
    EXPECT_EQ(ahead.statistics, in_step.statistics) << from;
    EXPECT_EQ(ahead.csv, in_step.csv) << from;
  }
}

TEST(MeasureFrom, ARunThatEndsBeforeHasNoResults) {
  const RunOfLines run = run_lines(kLines, "--measure-from 1s");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("before measuring began: there are no results"));
  EXPECT_EQ(run.statistics["messages_completed"], 0);
  expect_refused("run nowhere.trace --measure-from 15", "expected a time such as");
}

}  // namespace
}  // namespace hcasim::test
