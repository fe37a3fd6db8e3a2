// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Both ends of a connection on one node: by the driver, or by the adapter and a switch.
#include <gtest/gtest.h>

#include <string>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

const std::string kOnWire = "--set rvt.loopback_on_wire=true --set fabric.topology=switch";

const std::vector<std::string> kLines = {
    "connect a.q a.r",
    "a post_recv r length=4096 label=there",
    "a post_send q SEND length=4096 at=10us",
    "a post_send q RDMA_WRITE length=64 remote=mr after=there",
    "a post_send q RDMA_READ length=5000 remote=mr",
    "a post_send q ATOMIC_FETCH_AND_ADD length=8 remote=mr:8 add=1",
    "a post_recv q length=64",
    "a post_send r SEND_WITH_IMM length=64 imm=7"};

TEST(LoopbackRun, DriverAndAdapterEndTheSameSendsInTheSameWay) {
  const auto driver = run_lines(kLines);
  const auto wire = run_lines(kLines, kOnWire);
  for (const auto* ran : {&driver, &wire}) {
    ASSERT_EQ(ran->status, 0) << ran->err;
    ASSERT_EQ(ran->rows.size(), 5u);
    for (const auto& row : ran->rows) EXPECT_EQ(row[5], "SUCCESS") << row[1] << row[2];
    EXPECT_EQ(ran->count("messages_completed"), 5u);
  }
  const auto& by_driver = driver.statistics["counters"]["a"];
  EXPECT_EQ(by_driver["rvt"]["n_loop_pkts"], 5);
  EXPECT_EQ(by_driver["port"]["packets_out"], 0);
  const auto& by_wire = wire.statistics["counters"]["a"];
  EXPECT_EQ(by_wire["rvt"]["n_loop_pkts"], 0);
  EXPECT_GT(by_wire["port"]["packets_out"], 5);
}

TEST(LoopbackRun, TimeIsThatOfTheCopy) {
  const std::vector<std::string> lines = {"connect a.q a.r mtu=4096",
                                          "a post_send q RDMA_WRITE length=4096 remote=mr at=10us"};
  const std::string free = "--set rvt.copy_gb_per_s=0";
  const std::string slow = "--set rvt.copy_gb_per_s=1";
  const auto latency = [](const RunOfLines& ran) {
    return ran.statistics["latency_ns"]["min"].get<double>();
  };
  EXPECT_NEAR(latency(run_lines(lines, slow)) - latency(run_lines(lines, free)), 4096, 0.01);
}

TEST(LoopbackRun, ReceiverThatIsNotReadyIsCounted) {
  const auto ran = run_lines(
      {"connect a.q a.r rnr_retry=1 min_rnr_timer=1", "a post_send q SEND length=64 at=10us"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.status_of("q", "0"), "RNR_RETRY_EXC_ERR");
  EXPECT_EQ(ran.statistics["counters"]["a"]["rvt"]["n_rnr_naks"], 2);
}

TEST(LoopbackRun, ReceivesOfASharedQueueServeBoth) {
  const std::vector<std::string> lines = {"node a",
                                          "a create_srq pool max_wr=4",
                                          "connect a.q a.r srq=pool",
                                          "a post_srq_recv pool length=64",
                                          "a post_srq_recv pool length=64",
                                          "a post_srq_recv pool length=64",
                                          "a post_send q SEND length=64 at=10us",
                                          "a post_send r SEND length=64",
                                          "a post_send q SEND length=64 at=20us",
                                          "a post_send q SEND length=64 at=30us",
                                          "a post_srq_recv pool length=64 at=40us"};
  for (const std::string& options : {std::string{}, kOnWire}) {
    const auto ran = run_lines(lines, options);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.count("messages_completed"), 4u);
    EXPECT_EQ(ran.statistics["receives"]["a"]["completed"], 4);
    EXPECT_EQ(ran.statistics["counters"]["a"]["rvt"]["n_rnr_naks"], options.empty() ? 1 : 0);
  }
}

TEST(LoopbackRun, UcIsCopiedAndLostWithoutAReceive) {
  const auto ran =
      run_lines({"connect a.q a.r type=UC", "a post_recv r length=64",
                 "a post_send q SEND length=64 at=10us", "a post_send q SEND length=64"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.count("messages_completed"), 2u);
  EXPECT_EQ(ran.statistics["receives"]["a"]["completed"], 1);
  EXPECT_TRUE(ran.statistics["latency_ns"]["min"].is_null());
}

TEST(LoopbackRun, ConnectsDuringTheRunToo) {
  const auto ran = run_lines(
      {"connect a.q b.q", "b post_recv q length=64 label=in", "a post_send q SEND length=64",
       "connect b.x b.y", "b post_recv y length=64", "b post_send x SEND length=64",
       "connect a.u a.v", "a post_recv v length=64", "a post_send u SEND length=64"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.rows.size(), 3u);
  EXPECT_EQ(ran.count("messages_completed"), 3u);
}

}  // namespace
}  // namespace hcasim::test
