// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// UC and UD in a run: latency ends at the receiver, and what is lost has no receiver's times.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

std::size_t column(const std::string& csv, const std::string& name) {
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string before = header.substr(0, header.find(name));
  return static_cast<std::size_t>(std::count(before.begin(), before.end(), ','));
}

TEST(UnreliableRun, LatencyIsFromThePostToTheReceiversCompletion) {
  for (const std::string type : {"UC", "UD"}) {
    const auto ran = run_lines({"connect a.q b.q type=" + type, "b post_recv q length=104",
                                "a post_send q SEND length=64 at=10us"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    ASSERT_EQ(ran.rows.size(), 1u);
    const double posted = std::stod(ran.rows[0][column(ran.csv, "posted")]);
    const double visible = std::stod(ran.rows[0][column(ran.csv, "recv_cqe_visible")]);
    EXPECT_NEAR(ran.statistics["latency_ns"]["min"].get<double>(), visible - posted, 0.001);
    EXPECT_EQ(ran.rows[0][column(ran.csv, "acknowledged")], "");
    EXPECT_EQ(ran.count("messages_completed"), 1u);
  }
}

TEST(UnreliableRun, ALostMessageIsCompleteForItsSenderOnly) {
  for (const std::string type : {"UC", "UD"}) {
    const auto ran = run_lines(
        {"connect a.q b.q type=" + type, "a post_send q SEND length=64 unsignaled at=10us"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    ASSERT_EQ(ran.rows.size(), 1u);
    EXPECT_EQ(ran.rows[0][column(ran.csv, "recv_cqe_visible")], "");
    EXPECT_EQ(ran.count("messages_completed"), 1u);
    EXPECT_TRUE(ran.statistics["latency_ns"]["min"].is_null());
    EXPECT_EQ(ran.statistics["counters"]["b"]["responder"]["out_of_buffer"], 1);
  }
}

// The timer of its command is still running when all else is over.
TEST(UnreliableRun, EndsAfterAControlLineToo) {
  for (const std::string type : {"UC", "UD"}) {
    const auto ran = run_lines({"connect a.q b.q type=" + type, "b post_recv q length=104",
                                "a post_send q SEND length=64 at=10us", "b reg_mr x length=4096"});
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
}

// Both QPs of a UD pair may go to RTS before either knows the other.
TEST(UnreliableRun, DatagramQueuePairsNeedNoPeer) {
  const auto ran = run_lines(
      {"node a", "node b", "a reg_mr mr length=4096", "b reg_mr mr length=4096", "a create_cq cq",
       "b create_cq cq", "a create_qp q send_cq=cq recv_cq=cq type=UD",
       "a modify_qp q state=INIT pkey_index=0 port_num=1 qkey=0x7", "a modify_qp q state=RTR",
       "a modify_qp q state=RTS sq_psn=5", "b create_qp q send_cq=cq recv_cq=cq type=UD",
       "b modify_qp q state=INIT pkey_index=0 port_num=1 qkey=0x7", "b modify_qp q state=RTR",
       "b modify_qp q state=RTS sq_psn=9", "a modify_qp q dest=b.q", "b post_recv q length=104",
       "a post_send q SEND length=64 at=10us"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.count("messages_completed"), 1u);
  EXPECT_FALSE(ran.statistics["latency_ns"]["min"].is_null());
}

// The driver has timers that run on for seconds after a control operation.
TEST(UnreliableRun, EndsAfterAControlOperationUnderTraffic) {
  for (const std::string type : {"UC", "UD"}) {
    const auto ran =
        run_lines({"connect a.q b.q type=" + type, "b destroy_qp q at=5us",
                   "a post_send q SEND length=64 at=10us", "a modify_qp q state=ERR at=20us"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    ASSERT_FALSE(ran.statistics.is_null());
    EXPECT_FALSE(ran.statistics["partial"].get<bool>());
    EXPECT_EQ(ran.count("messages_completed"), 1u);
  }
}

}  // namespace
}  // namespace hcasim::test
