// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Shared receive queues in a trace: what takes which receive, what waits for what.
#include <gtest/gtest.h>

#include <algorithm>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

Lines with(const Lines& head, const Lines& rest) {
  Lines all = head;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

const Lines kPool = {"node a", "node b", "b create_srq pool max_wr=8",
                     "connect a.one b.one srq=pool", "connect a.two b.two srq=pool"};

double column(const RunOfLines& run, const std::string& qp, const std::string& wqe,
              std::size_t column) {
  for (const auto& row : run.rows) {
    if (row[1] == qp && row[2] == wqe) return row[column].empty() ? -1 : std::stod(row[column]);
  }
  return -1;
}

constexpr std::size_t kBytes = 4;
constexpr std::size_t kReceivePolled = 15;

std::uint64_t shared_max(const RunOfLines& run, const std::string& node) {
  return run.statistics["occupancy"][node]["shared_receive_queue"]["max"].get<std::uint64_t>();
}

// Eight senders, 40 messages each, a pool of 16 that is filled as fast as it empties: nothing is
// lost, and each row is of the message that it names.
TEST(SharedReceives, EightSenders) {
  Lines lines = {"node a", "node b", "b create_srq pool max_wr=16"};
  constexpr int kSenders = 8;
  constexpr int kMessages = 40;
  for (int q = 0; q < kSenders; ++q) {
    const std::string name = "q" + std::to_string(q);
    lines.push_back("connect a." + name + " b." + name + " srq=pool min_rnr_timer=1");
  }
  for (int i = 0; i < kSenders * kMessages; ++i)
    lines.push_back("b post_srq_recv pool length=4096");
  for (int i = 0; i < kMessages; ++i) {
    for (int q = 0; q < kSenders; ++q) {
      lines.push_back("a post_send q" + std::to_string(q) +
                      " SEND length=" + std::to_string(100 * q + i + 1));
    }
  }
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), std::uint64_t{kSenders * kMessages});
  const auto receives = run.statistics["receives"]["b"];
  EXPECT_EQ(receives["completed"], kSenders * kMessages);
  EXPECT_EQ(receives["bytes"], run.statistics["bytes_delivered"]);
  EXPECT_EQ(shared_max(run, "b"), 16u);
  for (int q = 0; q < kSenders; ++q) {
    for (int i = 0; i < kMessages; ++i) {
      const std::string qp = "q" + std::to_string(q);
      const std::string wqe = std::to_string(i);
      EXPECT_EQ(run.status_of(qp, wqe), "SUCCESS");
      EXPECT_EQ(column(run, qp, wqe, kBytes), 100 * q + i + 1);
    }
  }
  const RunOfLines apart = run_lines(lines, "--no-run-ahead");
  EXPECT_EQ(apart.csv, run.csv);
  EXPECT_EQ(apart.statistics, run.statistics);
}

// The long message takes the first receive and ends last: the label is that of its receive, and the
// times of either message are its own.
TEST(SharedReceives, EndOutOfTurn) {
  const RunOfLines run = run_lines(
      with(kPool, {"b post_srq_recv pool sge=mr:0:200000 label=first",
                   "b post_srq_recv pool sge=mr:200000:64 label=second",
                   "a post_send one SEND length=200000", "a post_send two SEND length=64 at=3us",
                   "b post_recv one length=1 after=first", "b post_recv two length=1 after=second",
                   "b reg_mr x length=64 after=first", "b reg_mr y length=64 after=second"}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.status_of("one", "0"), "SUCCESS");
  EXPECT_EQ(run.status_of("two", "0"), "SUCCESS");
  EXPECT_LT(column(run, "two", "0", kReceivePolled), column(run, "one", "0", kReceivePolled));
  EXPECT_EQ(run.statistics["receives"]["b"]["bytes"], 200064);
  // The queue pairs have no receive queue of their own.
  EXPECT_NE(run.err.find("post_recv was refused: Invalid argument"), std::string::npos) << run.err;
}

// The window of a pool is its depth, also where receives in the middle have ended: it is filled up
// while the first one is still in use.
TEST(SharedReceives, RoomIsThatOfThePool) {
  Lines lines = {"node a", "node b", "b create_srq pool max_wr=4", "connect a.one b.one srq=pool",
                 "connect a.two b.two srq=pool"};
  for (int i = 0; i < 9; ++i) lines.push_back("b post_srq_recv pool sge=mr:0:600000");
  lines.push_back("a post_send one SEND length=600000");
  for (int i = 0; i < 8; ++i) {
    lines.push_back("a post_send two SEND length=8 at=" + std::to_string(3 + 4 * i) + "us");
  }
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 9u);
  EXPECT_EQ(run.statistics["counters"]["b"]["responder"]["out_of_buffer"], 0);
  EXPECT_LT(column(run, "two", "7", kReceivePolled), column(run, "one", "0", kReceivePolled));
}

TEST(SharedReceives, ALimitRefillsThePool) {
  const Lines refill = {"b modify_srq pool srq_limit=2 label=low",
                        "b post_srq_recv pool length=64 after=low",
                        "b post_srq_recv pool length=64"};
  Lines lines = with(kPool, {"b post_srq_recv pool length=64", "b post_srq_recv pool length=64"});
  for (int round = 0; round < 3; ++round) lines = with(lines, refill);
  for (int i = 0; i < 6; ++i) {
    lines.push_back("a post_send " + std::string(i % 2 == 0 ? "one" : "two") +
                    " SEND length=64 at=" + std::to_string(20 + 20 * i) + "us");
  }
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 6u);
  EXPECT_EQ(run.statistics["counters"]["b"]["responder"]["out_of_buffer"], 0);
}

// A label that waits for a limit goes on when there is nothing to wait for any more.
TEST(SharedReceives, ALimitThatIsSetAnewOrGone) {
  const RunOfLines run = run_lines(
      {"node a", "node b", "b create_srq pool srq_limit=1", "connect a.q b.q",
       "b modify_srq pool srq_limit=2 label=one", "b modify_srq pool srq_limit=0 label=two",
       "b modify_srq pool srq_limit=3 label=three", "b destroy_srq pool", "b post_recv q length=8",
       "b post_recv q length=8 after=one", "b post_recv q length=8 after=two",
       "b post_recv q length=8 after=three", "a post_send q SEND length=8",
       "a post_send q SEND length=8", "a post_send q SEND length=8",
       "a post_send q SEND length=8"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 4u);
}

// A pool that is too small shows as RNR. With rnr_retry 7 all arrives, if late; with 0
// the first NAK ends the connection.
TEST(SharedReceives, B86_B88_StarvationIsRnrAndEndsAsTheSenderSaid) {
  for (const bool patient : {true, false}) {
    Lines lines = {"node a", "node b", "b create_srq pool max_wr=1"};
    const std::string how =
        " srq=pool min_rnr_timer=1 rnr_retry=" + std::string(patient ? "7" : "0");
    for (int q = 0; q < 4; ++q) {
      const std::string name = "q" + std::to_string(q);
      lines.push_back("connect a." + name + " b." + name + how);
    }
    for (int i = 0; i < 12; ++i) lines.push_back("b post_srq_recv pool length=64");
    for (int i = 0; i < 12; ++i) {
      lines.push_back("a post_send q" + std::to_string(i % 4) + " SEND length=64");
    }
    const RunOfLines run = run_lines(lines);
    EXPECT_GT(run.statistics["counters"]["a"]["requester"]["n_rnr_naks"].get<int>(), 0);
    EXPECT_EQ(run.count("messages_completed") == 12, patient);
    EXPECT_EQ(run.csv.find("RNR_RETRY_EXC_ERR") == std::string::npos, patient);
  }
}

// Many senders into a pool that is too small lose time alone, and the counters say by what.
TEST(SharedReceives, B91_ASmallPoolCostsTimeAndSaysSo) {
  constexpr int kSenders = 192;
  constexpr int kMessages = 2;  // of each
  double last[2] = {};          // ns, when the last message was seen
  std::uint64_t naks[2] = {};
  for (const bool large : {false, true}) {
    Lines lines = {"node a", "node b",
                   std::string("b create_srq pool max_wr=") + (large ? "512" : "8")};
    for (int q = 0; q < kSenders; ++q) {
      const std::string name = "q" + std::to_string(q);
      lines.push_back("connect a." + name + " b." + name + " srq=pool");
    }
    for (int i = 0; i < kSenders * kMessages; ++i) {
      lines.push_back("b post_srq_recv pool length=64");
      lines.push_back("a post_send q" + std::to_string(i % kSenders) + " SEND length=64");
    }
    const RunOfLines run = run_lines(lines);
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.count("messages_completed"), std::uint64_t{kSenders * kMessages});
    const auto& requester = run.statistics["counters"]["a"]["requester"];
    naks[large] = requester["n_rnr_naks"].get<std::uint64_t>();
    EXPECT_EQ(requester["local_ack_timeout_err"], 0);
    EXPECT_EQ(run.statistics["counters"]["b"]["responder"]["out_of_buffer"], naks[large]);
    for (const auto& row : run.rows) {
      last[large] = std::max(last[large], std::stod(row[kReceivePolled]));
    }
  }
  EXPECT_GT(naks[false], 0u);
  EXPECT_EQ(naks[true], 0u);
  EXPECT_GT(last[false], 3 * last[true]);
}

TEST(SharedReceives, ResizedWhileInUse) {
  Lines lines = kPool;
  for (int i = 0; i < 8; ++i) lines.push_back("b post_srq_recv pool length=64");
  lines.push_back("b modify_srq pool max_wr=20");
  for (int i = 0; i < 12; ++i) lines.push_back("b post_srq_recv pool length=64");
  for (int i = 0; i < 20; ++i) lines.push_back("a post_send one SEND length=64");
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 20u);
  EXPECT_GT(shared_max(run, "b"), 8u);
}

// What is left out of the results is still in the queue.
TEST(SharedReceives, OccupancyAfterTheWarmUp) {
  Lines lines = kPool;
  for (int i = 0; i < 5; ++i) lines.push_back("b post_srq_recv pool length=64");
  lines.push_back("a post_send one SEND length=64 at=5us");
  lines.push_back("a post_send two SEND length=64 at=50us");
  const RunOfLines run = run_lines(lines, "--measure-from 30us");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 1u);
  EXPECT_EQ(shared_max(run, "b"), 4u);
}

TEST(SharedReceives, MadeAndUsedAfterSetUp) {
  const RunOfLines run = run_lines({"connect a.first b.first", "b create_srq pool max_wr=4 at=5us",
                                    "b post_srq_recv pool length=64", "connect a.q b.q srq=pool",
                                    "a post_send q SEND length=64", "b destroy_qp q at=80us",
                                    "b destroy_srq pool", "b create_srq pool max_wr=2"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.status_of("q", "0"), "SUCCESS");
}

TEST(SharedReceives, WhatTheDeviceRefuses) {
  const RunOfLines sges =
      run_lines({"node a", "node b", "b create_srq pool max_sge=32", "connect a.q b.q srq=pool"});
  EXPECT_EQ(sges.status, 1);
  EXPECT_NE(sges.err.find("max_sge=32 is above hca.device.max_recv_sge="), std::string::npos)
      << sges.err;
  const RunOfLines wrs = run_lines({"node b", "b create_srq pool max_wr=65535"});
  EXPECT_NE(wrs.err.find("max_wr=65535 is above the device's max_srq_wr=65534"), std::string::npos)
      << wrs.err;
  const RunOfLines more = run_lines({"node b", "b create_srq pool", "b create_srq other"},
                                    "--set hca.device.max_srq=1");
  EXPECT_NE(more.err.find("no more shared receive queues than hca.device.max_srq=1"),
            std::string::npos)
      << more.err;
  const RunOfLines busy = run_lines(with(kPool, {"b destroy_srq pool"}));
  EXPECT_EQ(busy.status, 1);
  EXPECT_NE(busy.err.find("destroy_srq was refused"), std::string::npos) << busy.err;
  const RunOfLines nowhere = run_lines({"connect a.q b.q srq=pool"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_NE(nowhere.err.find("for srq the name of a SRQ"), std::string::npos) << nowhere.err;
}

}  // namespace
}  // namespace hcasim::test
