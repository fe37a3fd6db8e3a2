// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Nodes that share a host, through the whole program.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

Lines behind(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

// Large and small messages both ways, as many as a queue takes.
Lines traffic(const std::string& a, const std::string& b) {
  Lines lines = {"connect " + a + ".q " + b + ".q mtu=4096 mr_length=65536"};
  for (int i = 0; i < 12; ++i) {
    lines.push_back(a + " post_send q RDMA_WRITE length=65536 remote=mr");
    lines.push_back(b + " post_send q RDMA_READ length=60000 remote=mr");
    lines.push_back(b + " post_send q RDMA_WRITE length=64 remote=mr");
  }
  return lines;
}

void expect_same_without_run_ahead(const Lines& lines, const RunOfLines& run) {
  const RunOfLines stepwise = run_lines(lines, "--no-run-ahead");
  EXPECT_EQ(stepwise.csv, run.csv);
  EXPECT_EQ(stepwise.statistics, run.statistics);
}

// Slots have nothing to do with each other but memory, which takes no time of its own: messages
// over a cable take as long within a host as between two.
TEST(SharedHost, SlotsAreAsFastAsHosts) {
  const RunOfLines apart = run_lines(behind({"node a", "node b"}, traffic("a", "b")));
  const Lines lines = behind({"node a", "node b host=a"}, traffic("a", "b"));
  const RunOfLines together = run_lines(lines);
  ASSERT_EQ(together.status, 0) << together.err;
  EXPECT_EQ(together.rows.size(), 36u);
  EXPECT_EQ(together.csv, apart.csv);
  EXPECT_EQ(together.statistics["counters"], apart.statistics["counters"]);
  EXPECT_EQ(together.statistics["utilisation"], apart.statistics["utilisation"]);
  EXPECT_EQ(together.statistics["hosts"], (nlohmann::json{{"b", "a"}}));
  EXPECT_FALSE(apart.statistics.contains("hosts"));
  expect_same_without_run_ahead(lines, together);
}

TEST(SharedHost, BothAdaptersReachAThirdNodeAndEachOtherThroughASwitch) {
  Lines lines = {"node a", "node b host=a"};
  const auto to = [&](const char* left, const char* right, const std::string& qp) {
    lines.push_back(std::string("connect ") + left + "." + qp + ' ' + right + "." + qp);
  };
  to("a", "c", "x");
  to("b", "c", "y");
  to("a", "b", "z");
  for (const char* post : {"a post_send x", "b post_send y", "a post_send z", "b post_send z",
                           "c post_send x", "c post_send y"}) {
    for (int i = 0; i < 10; ++i)
      lines.push_back(post + std::string(" RDMA_WRITE length=9000 remote=mr"));
  }
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 60u);
  expect_same_without_run_ahead(lines, run);
}

TEST(SharedHost, EachSlotHasItsOwnLink) {
  const Lines lines =
      behind(behind({"node a", "node b host=a", "node c", "node d"}, traffic("a", "c")),
             traffic("b", "d"));
  const auto busy = [&](const std::string& options, const char* node) {
    const RunOfLines run = run_lines(lines, options);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.statistics["utilisation"][node]["pcie_up"].get<double>() *
           run.statistics["sim_time_ns"].get<double>();
  };
  const std::string narrow = "--set node.b.pcie.width=4";
  EXPECT_NEAR(busy(narrow, "a") / busy("", "a"), 1.0, 0.01);
  EXPECT_NEAR(busy(narrow, "b") / busy("", "b"), 4.0, 0.2);  // DLLPs take more of a wide one
}

// A line that registers memory of a neighbour waits until it is there.
TEST(SharedHost, MemoryOfANeighbourIsWaitedFor) {
  const Lines lines = {"node a",
                       "node b host=a",
                       "connect a.q b.q",
                       "a post_send q RDMA_WRITE length=8 remote=mr",
                       "a reg_mr late length=4096 at=50us",
                       "b reg_mr again length=4096 memory=a.late",
                       "b post_send q RDMA_WRITE sge=again:0:4096 remote=mr"};
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_GE(std::stod(run.rows[1][6]), 50'000);
  EXPECT_LT(std::stod(run.rows[1][6]), 70'000);
  expect_same_without_run_ahead(lines, run);
}

// What is registered in place of the memory that the reader saw may be too small.
TEST(SharedHost, MemoryThatHasShrunkMeanwhileIsRefused) {
  const RunOfLines run =
      run_lines({"node a", "node b host=a", "connect a.q b.q", "a reg_mr m length=4096",
                 "a post_recv q length=8", "b reg_mr again length=4096 memory=a.m at=50us",
                 "a dereg_mr m", "a reg_mr m length=64"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("it.trace:7: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("node b: reg_mr was refused"), std::string::npos) << run.err;
}

TEST(SharedHost, SummaryNamesTheHost) {
  const std::string trace = HCASIM_SOURCE_DIR "/traces/hand/two_adapters.trace";
  const Outcome ran = hcasim("run " + trace);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("\nhosts       out in the host of in\n"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace hcasim::test
