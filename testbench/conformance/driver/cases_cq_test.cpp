// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Resizing completion queues: what waits, what is armed and what comes meanwhile.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using Ids = std::vector<std::uint64_t>;

class CqCases : public DriverTest {
 protected:
  ib_qp* make_qp_on(ib_cq* queue) {
    ib_qp_init_attr attr = init_attr();
    attr.cap.max_recv_wr = 16;
    attr.send_cq = attr.recv_cq = queue;
    return make_qp_in(IB_QPS_RTS, attr);
  }
  void complete(ib_qp* qp, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i <= last; ++i) {
      ASSERT_EQ(post_recv(qp, i), 0);
      ASSERT_TRUE(complete_recv(qp, i));
    }
  }
  Ids polled(ib_cq* queue) {
    Ids ids;
    for (const ib_wc& wc : poll(queue)) ids.push_back(wc.wr_id);
    return ids;
  }
};

TEST_F(CqCases, N_ResizeCq) {
  ib_cq* queue = make_cq(3);
  ib_qp* qp = make_qp_on(queue);
  EXPECT_EQ(ib_resize_cq(queue, 1), 0);
  EXPECT_EQ(ib_resize_cq(queue, 7), 0);
  complete(qp, 1, 6);
  EXPECT_EQ(ib_resize_cq(queue, 1), -EINVAL);
  EXPECT_EQ(queue->cqe, 7);
  EXPECT_EQ(polled(queue), (Ids{1, 2, 3, 4, 5, 6}));
}

TEST_F(CqCases, N_ResizeCq_ExactlyWhatWaitsFits) {
  ib_cq* queue = make_cq(7);
  ib_qp* qp = make_qp_on(queue);
  complete(qp, 1, 6);
  EXPECT_EQ(ib_resize_cq(queue, 6), 0);
  EXPECT_FALSE(complete_recv(qp, 7));  // and nothing more
  EXPECT_EQ(polled(queue), (Ids{1, 2, 3, 4, 5, 6}));
  complete(qp, 8, 13);
  EXPECT_FALSE(complete_recv(qp, 14));
  EXPECT_EQ(polled(queue), (Ids{8, 9, 10, 11, 12, 13}));
}

TEST_F(CqCases, N_ResizeCq_OrderIsKeptRoundBothRings) {
  ib_cq* queue = make_cq(5);
  ib_qp* qp = make_qp_on(queue);
  std::uint64_t next = 1;
  for (const int size : {3, 9, 4, 4, 5}) {
    complete(qp, next, next + 1);
    ASSERT_EQ(ib_resize_cq(queue, size), 0);
    complete(qp, next + 2, next + 2);
    EXPECT_EQ(polled(queue), (Ids{next, next + 1, next + 2}));
    next += 3;
  }
}

TEST_F(CqCases, N_ResizeCq_Refusals) {
  ib_cq* queue = make_cq(3);
  const std::size_t blocks = host.blocks_allocated();
  EXPECT_EQ(ib_resize_cq(queue, 0), -EINVAL);
  EXPECT_EQ(ib_resize_cq(queue, -1), -EINVAL);
  EXPECT_EQ(ib_resize_cq(queue, ibdev->attrs.max_cqe + 1), -EINVAL);
  host.set_may_wait(false);
  EXPECT_EQ(ib_resize_cq(queue, 5), -EDEADLK);
  host.set_may_wait(true);
  host.allocations_until_failure = 0;
  EXPECT_EQ(ib_resize_cq(queue, 5), -ENOMEM);
  host.allocations_until_failure = -1;
  host.commands_until_failure = 0;
  EXPECT_EQ(ib_resize_cq(queue, 5), -EINVAL);
  EXPECT_EQ(queue->cqe, 3);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  complete(make_qp_on(queue), 1, 3);
  EXPECT_EQ(polled(queue), (Ids{1, 2, 3}));
  EXPECT_EQ(ib_resize_cq(queue, ibdev->attrs.max_cqe), 0);
}

// A completion of the old ring, and one of the new ring that comes before the driver knows it.
TEST_F(CqCases, N_ResizeCq_CompletionsMeanwhileAreNotified) {
  for (const bool in_new_ring : {false, true}) {
    ib_cq* queue = make_cq(4);
    ib_qp* qp = make_qp_on(queue);
    complete(qp, 1, 1);
    ASSERT_EQ(ib_req_notify_cq(queue, IB_CQ_NEXT_COMP), 0);
    cq_seen.completions = 0;
    ASSERT_EQ(post_recv(qp, 2), 0);
    const auto arrives = [&] {
      ASSERT_TRUE(complete_recv(qp, 2));
      host.notify(cqn(queue));
      EXPECT_EQ(cq_seen.completions, 0);  // nothing could be found yet
    };
    if (in_new_ring) {
      host.on_answer = arrives;
    } else {
      host.on_command = [&](const hw::Mailbox&) { arrives(); };
    }
    ASSERT_EQ(ib_resize_cq(queue, 8), 0);
    host.on_answer = nullptr;
    host.on_command = nullptr;
    EXPECT_EQ(cq_seen.completions, 1);
    EXPECT_EQ(polled(queue), (Ids{1, 2}));
  }
}

}  // namespace
}  // namespace hcasim::rvt
