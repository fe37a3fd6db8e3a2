// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Completion queues that change their size in a trace.
#include <gtest/gtest.h>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

constexpr int kMessages = 40;

/// SENDs, one a microsecond, while both queues change as said.
RunOfLines send(const Lines& resizes, const std::string& options = {}) {
  Lines lines = {"node a", "node b", "connect a.q b.q cqe=64"};
  for (int i = 0; i < kMessages; ++i) lines.emplace_back("b post_recv q length=64");
  lines.insert(lines.end(), resizes.begin(), resizes.end());
  for (int i = 0; i < kMessages; ++i) {
    lines.push_back("a post_send q SEND length=64 at=" + std::to_string(10 + i) + "us");
  }
  return run_lines(lines, options);
}

std::ptrdiff_t completed(const RunOfLines& run) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = 0; (at = run.csv.find(",SUCCESS,", at)) != std::string::npos; ++at) ++found;
  return found;
}

Lines many_resizes() {
  Lines resizes;
  for (int i = 0; i < 8; ++i) {
    const std::string size = i % 2 == 0 ? "50" : "70";
    const std::string time = std::to_string(12 + 5 * i) + "us";
    for (const std::string node : {"a", "b"}) {
      resizes.push_back(node + " resize_cq cq cqe=" + size + " at=" + time);
    }
  }
  return resizes;
}

TEST(ResizeCq, WhoPollsFindsEachCompletionInTheNewRing) {
  const RunOfLines run = send(many_resizes());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(completed(run), kMessages);
  EXPECT_EQ(run.statistics["counters"]["b"]["completion"]["cqes"], kMessages);
  const RunOfLines apart = send(many_resizes(), "--no-run-ahead");
  EXPECT_TRUE(apart.statistics == run.statistics && apart.csv == run.csv);
}

TEST(ResizeCq, OfAnIdleQueueIsSeenByItsSleepingPoller) {
  const RunOfLines run = send({"b resize_cq cq cqe=50 at=1us", "a resize_cq cq cqe=100 at=2us"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(completed(run), kMessages);
}

TEST(ResizeCq, RefusedByTheVerb) {
  const RunOfLines run = send({"b resize_cq cq cqe=101 at=1us"}, "--set hca.device.max_cqe=100");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("resize_cq was refused"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace hcasim::test
