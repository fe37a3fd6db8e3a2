// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Moderated completion queues in a trace.
#include <gtest/gtest.h>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

/// `messages` SENDs, 2 us apart, to a queue that is armed once; and what is said of its moderation.
RunOfLines receive(int messages, const Lines& moderation, const std::string& options = {}) {
  Lines lines = {"node a", "node b", "b create_cq cq cqe=256"};
  lines.insert(lines.end(), moderation.begin(), moderation.end());
  lines.emplace_back("connect a.q b.q");
  for (int i = 0; i < messages; ++i) lines.emplace_back("b post_recv q length=64");
  lines.emplace_back("b req_notify_cq cq at=0ns");
  for (int i = 0; i < messages; ++i) {
    lines.push_back("a post_send q SEND length=64 at=" + std::to_string(10 + 2 * i) + "us");
  }
  return run_lines(lines, options);
}

nlohmann::json events(const RunOfLines& run) {
  return run.statistics["counters"]["b"]["event"];
}
std::uint64_t raised(const RunOfLines& run) {
  return events(run)["events"].get<std::uint64_t>();
}

TEST(Moderation, HoldsAnEventBackUntilTheCount) {
  const RunOfLines plain = receive(8, {});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(events(plain)["held"], 0);
  const RunOfLines five = receive(8, {"b modify_cq cq cq_count=5 cq_period=1000"});
  ASSERT_EQ(five.status, 0) << five.err;
  EXPECT_EQ(raised(five), raised(plain));
  EXPECT_EQ(events(five)["held"], 1);
  EXPECT_EQ(events(five)["expired"], 0);
  EXPECT_EQ(five.csv, plain.csv);  // who polls sees no difference
  // More than ever come.
  EXPECT_EQ(events(receive(8, {"b modify_cq cq cq_count=9 cq_period=4095"}))["expired"], 1);
}

TEST(Moderation, UntilThePeriodIsOver) {
  const RunOfLines run = receive(8, {"b modify_cq cq cq_count=100 cq_period=5"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(events(run)["held"], 1);
  EXPECT_EQ(events(run)["expired"], 1);
  const RunOfLines apart =
      receive(8, {"b modify_cq cq cq_count=100 cq_period=5"}, "--no-run-ahead");
  EXPECT_EQ(apart.statistics, run.statistics);
  EXPECT_EQ(apart.csv, run.csv);
}

TEST(Moderation, OfANewQueue) {
  const RunOfLines run = receive(
      8, {"b create_cq other cq_count=5 cq_period=9", "b destroy_cq other",
          "b modify_cq cq cq_count=3 cq_period=9", "b modify_cq cq cq_count=0 cq_period=0"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(events(run)["held"], 0);
}

TEST(Moderation, RefusedByTheVerb) {
  const RunOfLines run = receive(1, {"b modify_cq cq cq_count=5 cq_period=4096"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("modify_cq was refused: Invalid argument"), std::string::npos) << run.err;
  const RunOfLines made = receive(1, {"b create_cq other cq_count=5 cq_period=4096"});
  EXPECT_EQ(made.status, 1);
  EXPECT_NE(made.err.find("modify_cq was refused"), std::string::npos) << made.err;
}

}  // namespace
}  // namespace hcasim::test
