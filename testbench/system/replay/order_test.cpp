// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The lines of a node as one ordered stream: what waits for what.
#include <gtest/gtest.h>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

const std::string kConnect = "connect a.q b.q";
const std::string kReceive = "b post_recv q length=4";
const std::string kSend = "a post_send q SEND length=4";

void expect_all_delivered(const RunOfLines& run, std::uint64_t messages) {
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.rows.size(), messages) << run.csv;
  for (const auto& row : run.rows) EXPECT_EQ(row[5], "SUCCESS") << run.csv;
}

TEST(PostOrder, WaitsForAnMrMadeAfterTheFirstPost) {
  expect_all_delivered(run_lines({kConnect, kReceive, kSend, "a reg_mr m length=4096",
                                  "a post_send q SEND sge=m:0:4", kReceive}),
                       2);
}

TEST(PostOrder, WaitsForAnMrOfThePeer) {
  const RunOfLines run = run_lines({kConnect, kReceive, kSend, "b reg_mr m length=4096 at=20us",
                                    "a post_send q RDMA_WRITE length=4 remote=m"});
  expect_all_delivered(run, 2);
  EXPECT_GT(run.posted("q", "1"), 20000);
}

TEST(PostOrder, ANameOfTheNodeIsNotThatOfThePeer) {
  const RunOfLines run =
      run_lines({kConnect, "b reg_mr m length=4096", kReceive, kSend, "a reg_mr m length=4 at=50us",
                 "a post_send q RDMA_WRITE length=4 remote=m"});
  expect_all_delivered(run, 2);
  EXPECT_LT(run.posted("q", "1"), 1000);
}

TEST(PostOrder, WaitsForAnyMrOfItsList) {
  expect_all_delivered(run_lines({kConnect, kReceive, kReceive, "a post_send q SEND length=4 more",
                                  "a reg_mr m length=4096", "a post_send q SEND sge=m:0:4"}),
                       2);
}

TEST(PostOrder, WaitsForItsQueuePair) {
  expect_all_delivered(
      run_lines({kConnect, kReceive, kSend, "a create_qp z send_cq=cq recv_cq=cq",
                 "b create_qp z send_cq=cq recv_cq=cq",
                 "a modify_qp z state=INIT qp_access_flags=all pkey_index=0 port_num=1",
                 "b modify_qp z state=INIT qp_access_flags=all pkey_index=0 port_num=1",
                 "a modify_qp z state=RTR path_mtu=1024 dest=b.z rq_psn=0 max_dest_rd_atomic=1 "
                 "min_rnr_timer=1",
                 "b modify_qp z state=RTR path_mtu=1024 dest=a.z rq_psn=0 max_dest_rd_atomic=1 "
                 "min_rnr_timer=1",
                 "a modify_qp z state=RTS sq_psn=0 timeout=14 retry_cnt=7 rnr_retry=7 "
                 "max_rd_atomic=1",
                 "b post_recv z length=4", "a post_send z SEND length=4"}),
      2);
}

TEST(PostOrder, ConnectWorksAfterTheFirstPost) {
  const RunOfLines run =
      run_lines({kConnect, kReceive, kSend, "a modify_qp q min_rnr_timer=1 at=5us",
                 "connect a.z b.z", "b post_recv z length=4", "a post_send z SEND length=4"});
  expect_all_delivered(run, 2);
  EXPECT_GT(run.posted("z", "0"), 5000);
}

TEST(PostOrder, NamesOfLateLinesAreKnown) {
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) {
    const std::string q = "q" + std::to_string(i);
    lines.push_back("connect a." + q + " b." + q);
  }
  lines.insert(lines.end(), {"b post_recv q7 length=4", "a post_send q7 SEND length=4",
                             "a create_qp late send_cq=cq recv_cq=cq"});
  expect_all_delivered(run_lines(lines), 1);
}

TEST(PostOrder, OtherQueuesGoAhead) {
  const RunOfLines run = run_lines({kConnect, "connect a.p b.p", kReceive, "b post_recv p length=4",
                                    "a reg_mr m length=4096 at=1ms", "a post_send q SEND sge=m:0:4",
                                    "a post_send p SEND length=4"});
  expect_all_delivered(run, 2);
  EXPECT_LT(run.posted("p", "0"), 1000);
  EXPECT_GE(run.posted("q", "0"), 1'000'000);
}

TEST(ControlOrder, DestroyWaitsForThePostsAboveIt) {
  const RunOfLines run =
      run_lines({kConnect, kReceive, "a post_send q SEND length=4 at=100us", "a destroy_qp q"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.posted("q", "0"), 100'000);
}

TEST(ControlOrder, AQueuePairMayBeMadeAgainUnderItsName) {
  const RunOfLines run = run_lines({kConnect, kReceive, "a post_send q SEND length=4 label=x",
                                    "a destroy_qp q after=x", "b destroy_qp q at=50us",
                                    "connect a.q b.q", kReceive, kSend});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 2u);
}

TEST(ControlOrder, DeregWaitsForThePostsAboveIt) {
  expect_all_delivered(
      run_lines({kConnect, "a reg_mr m length=64", kReceive,
                 "a post_send q SEND sge=m:0:4 at=100us label=x", "a dereg_mr m after=x"}),
      1);
  const RunOfLines run = run_lines(
      {kConnect, "a reg_mr m length=64", kReceive, "a dereg_mr m", "a post_send q SEND sge=m:0:4"});
  EXPECT_NE(run.err.find("it.trace:6: at "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("post_send was refused: Invalid argument"), std::string::npos) << run.err;
}

TEST(ControlOrder, APostMayWaitForAControlLine) {
  const RunOfLines run = run_lines({kConnect, "a reg_mr m length=4096 label=x at=30us",
                                    "a post_send q SEND length=4 after=x+5us", kReceive});
  expect_all_delivered(run, 1);
  EXPECT_GT(run.posted("q", "0"), 35'000);
  EXPECT_LT(run.posted("q", "0"), 50'000);
}

TEST(ControlOrder, AControlLineMayWaitForAPost) {
  for (const char* control : {"modify_qp q state=ERR", "destroy_qp q"}) {
    const RunOfLines run = run_lines({kConnect, kReceive, "a post_send q SEND length=4 label=x",
                                      "a " + std::string(control) + " after=x"});
    expect_all_delivered(run, 1);
  }
}

TEST(ControlOrder, TheRunWaitsForTheLastControlLine) {
  expect_all_delivered(run_lines({kConnect, kReceive, kSend, "a reg_mr m length=4 at=1s"}), 1);
}

TEST(ControlOrder, LatenessIsCounted) {
  const RunOfLines run = run_lines(
      {kConnect, kReceive, kSend, "a reg_mr m length=4 at=50us", "a reg_mr n length=4 at=50us"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "hcasim: 1 control operations began after their time\n");
}

TEST(ControlOrder, ARefusalEndsTheRunWithOneLine) {
  setenv("ASAN_OPTIONS", "detect_leaks=0", 0);  // such a run does not take its objects down
  const RunOfLines run = run_lines(
      {kConnect, "a modify_qp q state=ERR at=50us", "b modify_qp q max_rd_atomic=1 at=50us"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("it.trace:4: at 50000 ns, node b: modify_qp was refused: "),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
  EXPECT_TRUE(run.statistics.is_null());
  unsetenv("ASAN_OPTIONS");
}

// A trace of control lines on both nodes gives the same with nodes running apart and together.
TEST(ControlOrder, DoesNotDependOnRunAhead) {
  const std::vector<std::string> lines = {kConnect,
                                          kReceive,
                                          kSend,
                                          "b reg_mr m length=4096",
                                          "connect a.z b.z",
                                          "a post_send z RDMA_WRITE length=64 remote=m label=x",
                                          "a modify_qp q state=ERR after=x",
                                          "b post_recv z length=4",
                                          "a post_send z SEND length=4",
                                          "b destroy_qp q at=60us"};
  const RunOfLines apart = run_lines(lines);
  const RunOfLines together = run_lines(lines, "--no-run-ahead");
  EXPECT_EQ(apart.status, 0) << apart.err;
  EXPECT_EQ(apart.csv, together.csv);
  EXPECT_EQ(apart.statistics, together.statistics);
}

TEST(PostOrder, ADoorbellThatMergesIsSeenAfterItsPost) {
  const std::string receive = "b post_recv q length=64";
  const std::string send = "a post_send q SEND length=1 at=";
  const RunOfLines run = run_lines(
      {"connect a.q b.q", receive, receive, receive, send + "40ns", send + "40ns", send + "1us"},
      "--set hca.doorbell.interval_cycles=1000");
  ASSERT_EQ(run.rows.size(), 3u);
  for (const auto& row : run.rows) EXPECT_GE(std::stod(row[7]), std::stod(row[6]));
}

}  // namespace
}  // namespace hcasim::test
