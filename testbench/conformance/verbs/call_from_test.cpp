// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// That the data verbs of these tests come from where HCASIM_CALL_FROM says, in a task and outside.
#include <cerrno>

#include "verbs_bench.hpp"

namespace hcasim::verbs {
namespace {

using support::CallFrom;

class CallFromTest : public VerbsTest {
 protected:
  void expect_here(bool in_task) {
    const CallFrom from = support::call_from();
    EXPECT_EQ(cpu().may_wait(), in_task && from == CallFrom::kThread);
    // The engine, which calls handlers, is an SC_METHOD itself.
    EXPECT_EQ(support::inside_method(), from != CallFrom::kThread);
    EXPECT_EQ(interrupts().delivered(), from == CallFrom::kHandler ? before_ + 1 : before_);
  }
  int look_from(bool in_task) {
    before_ = interrupts().delivered();
    return call(device(0), [&] {
      expect_here(in_task);
      return ib_resize_cq(pair_.end(0).cq, 4096);
    });
  }
  host::CpuPort& cpu() { return pair_.system().node(0).host().cpu(); }
  host::InterruptController& interrupts() { return pair_.system().node(0).host().interrupts(); }

  std::uint64_t before_ = 0;
};

TEST_F(CallFromTest, ATaskIsLeftForTheCallAndGoesOnAfterIt) {
  int error = 1;
  task(0, [&] {
    for (int round = 0; round < 4; ++round) error = look_from(true);
    EXPECT_TRUE(cpu().may_wait());
  });
  EXPECT_EQ(error, support::call_from() == CallFrom::kThread ? 0 : -EDEADLK);
}

TEST_F(CallFromTest, OutsideTheRunNoTimePasses) {
  const hw::Time start = pair_.system().now();
  for (int round = 0; round < 4; ++round) EXPECT_EQ(look_from(false), -EDEADLK);
  EXPECT_EQ(pair_.system().now(), start);
}

TEST_F(CallFromTest, WhatATaskIsChargedPassesBeforeItGoesOn) {
  const auto [qp, peer] = make_pair();
  task(0, [&, on = qp] {
    const hw::Time start = cpu().now();
    ASSERT_EQ(post(on, {.opcode = IB_WR_RDMA_WRITE}), 0);
    const hw::Time end = cpu().now();
    EXPECT_GT(end, start);
  });
  EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_SUCCESS});
}

}  // namespace
}  // namespace hcasim::verbs
