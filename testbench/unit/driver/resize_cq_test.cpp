// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What rvt_resize_cq returns, in the order of its checks, and what it leaves alone. Cases:
// conformance/driver/cases_cq_test.cpp.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using Ids = std::vector<std::uint64_t>;

class RvtResizeCq : public DriverTest {
 protected:
  static constexpr int kCqe = 8;

  void SetUp() override {
    DriverTest::SetUp();
    queue = make_cq(kCqe);
    ib_qp_init_attr attr = init_attr();
    attr.cap.max_recv_wr = 16;
    attr.send_cq = attr.recv_cq = queue;
    qp = make_qp_in(IB_QPS_RTS, attr);
  }
  int resize(int cqe) { return rvt_resize_cq(queue, cqe, nullptr); }
  bool complete(std::uint64_t wr_id) {
    return post_recv(qp, wr_id) == 0 && complete_recv(qp, wr_id);
  }
  bool enter(std::uint64_t wr_id) {
    ib_wc wc;
    wc.wr_id = wr_id;
    return rvt_cq_enter(ibcq_to_rvtcq(queue), wc, false);
  }
  Ids polled() { return ids(poll(queue)); }
  std::size_t commands() const { return host.commands.size(); }

  ib_cq* queue = nullptr;
  ib_qp* qp = nullptr;
};

TEST_F(RvtResizeCq, ZeroBothWays) {
  EXPECT_EQ(resize(1), 0);
  EXPECT_EQ(queue->cqe, 1);
  EXPECT_EQ(resize(ibdev->attrs.max_cqe), 0);
  EXPECT_EQ(queue->cqe, ibdev->attrs.max_cqe);
}

// Each request breaks all later rules too.
TEST_F(RvtResizeCq, ChecksInThisOrder) {
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(complete(i));
  const std::size_t before = commands();
  host.allocations_until_failure = 0;
  host.set_may_wait(false);
  EXPECT_EQ(resize(0), -EINVAL);
  EXPECT_EQ(resize(ibdev->attrs.max_cqe + 1), -EINVAL);
  EXPECT_EQ(resize(2), -EDEADLK);
  host.set_may_wait(true);
  EXPECT_EQ(resize(2), -ENOMEM);
  host.allocations_until_failure = -1;
  EXPECT_EQ(resize(2), -EINVAL);
  EXPECT_EQ(commands(), before);
  EXPECT_EQ(queue->cqe, kCqe);
  EXPECT_EQ(resize(3), 0);
  EXPECT_EQ(polled(), (Ids{0, 1, 2}));
}

TEST_F(RvtResizeCq, NoAnswer) {
  ASSERT_TRUE(complete(1));
  host.answers = false;
  EXPECT_EQ(resize(4), -EIO);
  EXPECT_TRUE(rvt_device_failed(device.get()));
  EXPECT_EQ(resize(4), -EIO);
  EXPECT_EQ(queue->cqe, kCqe);
  EXPECT_EQ(polled(), Ids{1});
}

TEST_F(RvtResizeCq, CompletionsOfBothWritersCount) {
  ASSERT_TRUE(complete(1));
  ASSERT_TRUE(enter(2));
  ASSERT_TRUE(complete(3));
  EXPECT_EQ(resize(2), -EINVAL);
  EXPECT_EQ(resize(3), 0);
  EXPECT_FALSE(enter(4));
  EXPECT_EQ(polled(), (Ids{1, 2, 3}));
}

TEST_F(RvtResizeCq, AnOverflowIsNotCured) {
  for (std::uint64_t i = 0; i < kCqe; ++i) ASSERT_TRUE(enter(i));
  ASSERT_FALSE(enter(99));
  ASSERT_EQ(resize(100), 0);
  EXPECT_FALSE(enter(99));
  EXPECT_EQ(polled(), (Ids{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(enter(99));
}

// The size was right when the command was given; what comes before the adapter carries it out is
// not lost.
TEST_F(RvtResizeCq, MoreThanTheNewSizeMeanwhileIsKept) {
  ASSERT_TRUE(complete(1));
  host.on_command = [&](const hw::Mailbox&) {
    for (std::uint64_t i = 2; i <= 4; ++i) ASSERT_TRUE(complete(i));
  };
  EXPECT_EQ(resize(2), 0);
  host.on_command = nullptr;
  EXPECT_TRUE(cq_seen.events.empty());
  EXPECT_EQ(polled(), (Ids{1, 2, 3, 4}));
  EXPECT_TRUE(complete(5));
  EXPECT_EQ(polled(), Ids{5});
}

// A consumer that polls during the command: nothing twice, nothing missed.
TEST_F(RvtResizeCq, PolledMeanwhile) {
  ASSERT_TRUE(complete(1));
  Ids taken;
  const auto poll_and_complete = [&](std::uint64_t wr_id) {
    for (const std::uint64_t id : polled()) taken.push_back(id);
    ASSERT_TRUE(complete(wr_id));
    for (const std::uint64_t id : polled()) taken.push_back(id);
  };
  host.on_command = [&](const hw::Mailbox&) { poll_and_complete(2); };
  host.on_answer = [&] { poll_and_complete(3); };  // into the new ring
  EXPECT_EQ(resize(3), 0);
  host.on_command = nullptr;
  host.on_answer = nullptr;
  for (const std::uint64_t id : polled()) taken.push_back(id);
  EXPECT_EQ(taken, (Ids{1, 2, 3}));
}

TEST_F(RvtResizeCq, WhatIsArmedStaysArmed) {
  ASSERT_EQ(ib_req_notify_cq(queue, IB_CQ_NEXT_COMP), 0);
  ASSERT_EQ(resize(5), 0);
  EXPECT_EQ(cq_seen.completions, 0);
  EXPECT_EQ(ibcq_to_rvtcq(queue)->notify, IB_CQ_NEXT_COMP);
  ASSERT_TRUE(complete(1));
  host.notify(cqn(queue));
  EXPECT_EQ(cq_seen.completions, 1);
  EXPECT_EQ(polled(), Ids{1});
}

// Who sleeps on the ring learns that it is another one, but not of a resize that was refused.
TEST_F(RvtResizeCq, WhoWatchesTheRingIsTold) {
  int told = 0;
  ibcq_to_rvtcq(queue)->entered = {[](void* count, std::uint64_t) { ++*static_cast<int*>(count); },
                                   &told};
  ASSERT_EQ(resize(5), 0);
  EXPECT_EQ(told, 1);
  host.commands_until_failure = 0;
  EXPECT_EQ(resize(6), -EINVAL);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace hcasim::rvt
