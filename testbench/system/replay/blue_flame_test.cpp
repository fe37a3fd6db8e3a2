// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Runs in which sends go with their doorbells.
#include <gtest/gtest.h>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kOn = " --set rvt.blue_flame=true ";

/// Messages of all sizes on four queue pairs, as fast as their queues take them.
Lines storm(int messages) {
  Lines lines = {"node a", "node b"};
  for (int q = 0; q < 4; ++q) {
    const std::string name = "q" + std::to_string(q);
    lines.push_back("connect a." + name + " b." + name +
                    " max_send_wr=7 max_inline_data=512 min_rnr_timer=1 timeout=4");
  }
  for (int i = 0; i < messages; ++i) {
    const std::string queue = "q" + std::to_string(i % 4);
    const bool in_wqe = i % 3 != 0;
    const int bytes = i * 37 % (in_wqe ? 500 : 5000);
    lines.push_back("b post_recv " + queue + " length=5000");
    lines.push_back("a post_send " + queue + " SEND length=" + std::to_string(bytes) +
                    (in_wqe ? " inline" : ""));
  }
  return lines;
}

std::uint64_t counter(const RunOfLines& run, const char* unit, const char* name) {
  return run.statistics["counters"]["a"][unit].value(name, std::uint64_t{0});
}

TEST(BlueFlame, EachPostIsTakenOrFetched) {
  constexpr int kMessages = 400;
  const RunOfLines run = run_lines(storm(kMessages), kOn);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), std::uint64_t{kMessages});
  const std::uint64_t taken = counter(run, "doorbell", "blue_flame");
  EXPECT_GT(taken, 100u);
  EXPECT_GE(taken + counter(run, "wqe_fetch", "wqes"), std::uint64_t{kMessages});
  EXPECT_GT(counter(run, "wqe_fetch", "wqes"), 0u);  // some do not fit
  const RunOfLines apart = run_lines(storm(kMessages), std::string(kOn) + "--no-run-ahead");
  EXPECT_EQ(apart.csv, run.csv);
  EXPECT_EQ(apart.statistics, run.statistics);
  const RunOfLines off = run_lines(storm(kMessages));
  EXPECT_EQ(counter(off, "doorbell", "blue_flame"), 0u);
  EXPECT_EQ(off.statistics["bytes_delivered"], run.statistics["bytes_delivered"]);
}

// Lost packets are sent again, from WQEs that are then read from the ring.
TEST(BlueFlame, OverALossyLink) {
  const RunOfLines run = run_lines(storm(400), std::string(kOn) + "--set fabric.faults.loss=0.03");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 400u);
  EXPECT_GT(counter(run, "requester", "n_rc_resends"), 0u);
  EXPECT_GT(counter(run, "doorbell", "blue_flame"), 0u);
}

// A burst takes credits line by line, and waits for them.
TEST(BlueFlame, BurstsWaitForCredits) {
  const RunOfLines run =
      run_lines(storm(200), std::string(kOn) +
                                "--set pcie.posted_header_credits=8 --set pcie.propagation_ns=500 "
                                "--set host.post_send_ns=1");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 200u);
  EXPECT_GT(counter(run, "pcie", "mmio_credit_waits"), 0u);
}

// One post, nothing else: what leaves is one burst, and the adapter reads no WQE.
TEST(BlueFlame, OnePostIsOneBurst) {
  const Lines lines = {"connect a.q b.q", "b post_recv q length=64",
                       "a post_send q SEND length=64 at=5us"};
  const RunOfLines on = run_lines(lines, kOn);
  const RunOfLines off = run_lines(lines);
  ASSERT_EQ(on.status, 0) << on.err;
  EXPECT_EQ(counter(on, "wqe_fetch", "fetches"), 0u);
  EXPECT_EQ(counter(off, "wqe_fetch", "fetches"), 1u);
  EXPECT_EQ(counter(on, "doorbell", "doorbells"), counter(off, "doorbell", "doorbells"));
}

}  // namespace
}  // namespace hcasim::test
