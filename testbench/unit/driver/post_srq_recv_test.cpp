// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_post_srq_recv.
#include <cerrno>

#include "unit/driver/srq_fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtPostSrqRecv = Srq;

TEST_F(RvtPostSrqRecv, PostTakesItsLimitsAndRingsOnce) {
  ib_srq* srq = create();
  EXPECT_EQ(post(srq, 1, 3), -EINVAL);
  EXPECT_EQ(post(srq, 1, -1), -EINVAL);
  EXPECT_TRUE(host.rung(hw::bar::kReceiveDoorbell).empty());
  ib_recv_wr wr[6];
  for (int i = 0; i < 6; ++i) {
    wr[i].wr_id = static_cast<std::uint64_t>(i) + 1;
    wr[i].next = i == 5 ? nullptr : &wr[i + 1];
  }
  EXPECT_EQ(ib_post_srq_recv(srq, wr, &bad_recv), -ENOMEM);
  EXPECT_EQ(bad_recv, &wr[4]);
  EXPECT_EQ(in_ring(srq), (Ids{1, 2, 3, 4}));
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kReceiveDoorbell, rvt(srq)->srqn, 4}};
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell), expected);
}

TEST_F(RvtPostSrqRecv, PostDoesNotWaitAndNeedsNoQueuePair) {
  ib_srq* srq = create();
  host.set_may_wait(false);
  EXPECT_EQ(post(srq, 1, 2), 0);
  host.set_may_wait(true);
  ib_qp* qp = make_srq_qp(srq, IB_QPS_ERR);
  EXPECT_EQ(post(srq, 2), 0);
  destroy(qp);
  EXPECT_EQ(post(srq, 3), 0);
  EXPECT_EQ(in_ring(srq), (Ids{1, 2, 3}));
}

TEST_F(RvtPostSrqRecv, SpaceFollowsTheTailRecordRoundTheRing) {
  ib_srq* srq = create();
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post(srq, i), 0);
  for (std::uint64_t i = 4; i < 40; ++i) {
    EXPECT_EQ(post(srq, i), -ENOMEM);
    take(srq, 1);
    ASSERT_EQ(post(srq, i), 0);
  }
  EXPECT_EQ(in_ring(srq), (Ids{36, 37, 38, 39}));
}

TEST_F(RvtPostSrqRecv, ElementsAreCheckedBeforeRoom) {
  ib_srq* srq = create();
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post(srq, i), 0);
  EXPECT_EQ(post(srq, 4, 3), -EINVAL);
  EXPECT_EQ(post(srq, 4, 2), -ENOMEM);
  EXPECT_EQ(in_ring(srq), (Ids{0, 1, 2, 3}));
}

TEST_F(RvtPostSrqRecv, StoresElementsAsTheyAreAndKeepsBadWr) {
  ib_srq* srq = create();
  const ib_sge data[2] = {{1, 2, 3}, {4, 0, 5}};  // keys are not looked at
  ib_recv_wr wr;
  wr.wr_id = 9;
  wr.sg_list = data;
  wr.num_sge = 2;
  const ib_recv_wr* untouched = &wr;
  ASSERT_EQ(rvt_post_srq_recv(srq, &wr, &untouched), 0);
  EXPECT_EQ(untouched, &wr);
  hw::Sge second;
  host.read(rvt(srq)->rq.wq + sizeof(hw::ReceiveWqe) + sizeof second, &second, sizeof second);
  EXPECT_EQ(second.addr, 4u);
  EXPECT_EQ(second.length, 0u);
  EXPECT_EQ(second.lkey, 5u);
}

TEST_F(RvtPostSrqRecv, DoesNotLookAtTheLimit) {
  ib_srq* srq = create();
  ASSERT_EQ(set_limit(srq, 4), 0);
  ASSERT_EQ(post(srq, 1), 0);
  EXPECT_EQ(rvt(srq)->limit, 4u);
  EXPECT_TRUE(srq_seen.events.empty());
}

}  // namespace
}  // namespace hcasim::rvt
