// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_post_recv, in ERR too.
#include <array>
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class RvtPostRecv : public DriverTest {
 protected:
  /// A list of receives with ascending wr_id.
  template <std::size_t N>
  static std::array<ib_recv_wr, N> list(std::uint64_t first) {
    std::array<ib_recv_wr, N> wr;
    for (std::size_t i = 0; i < N; ++i) wr[i].wr_id = first + i;
    return wr;
  }
  template <std::size_t N>
  int post(ib_qp* qp, std::array<ib_recv_wr, N>& wr) {
    for (std::size_t i = 0; i + 1 < N; ++i) wr[i].next = &wr[i + 1];
    return rvt_post_recv(qp, wr.data(), &bad_recv);
  }
};

TEST_F(RvtPostRecv, StoresTheReceiveAsItIs) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  const std::array<ib_sge, 2> data{ib_sge{1, 2, 3}, ib_sge{4, 0, 5}};  // keys are not looked at
  ib_recv_wr wr;
  wr.wr_id = 0xabcdef;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  ASSERT_EQ(ib_post_recv(qp, &wr, nullptr), 0);
  const std::uint64_t slot = rvt(qp)->r_rq.wq;
  hw::ReceiveWqe header;
  host.read(slot, &header, sizeof header);
  EXPECT_EQ(header.wr_id, 0xabcdefu);
  EXPECT_EQ(header.num_sge, 2);
  hw::Sge second;
  host.read(slot + 32, &second, sizeof second);
  EXPECT_EQ(second.addr, 4u);
  EXPECT_EQ(second.lkey, 5u);
}

TEST_F(RvtPostRecv, OneDoorbellPerCallFromRtrOn) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  auto wr = list<2>(1);
  ASSERT_EQ(post(qp, wr), 0);
  EXPECT_TRUE(host.rung(hw::bar::kReceiveDoorbell).empty());
  ASSERT_EQ(to_state(qp, IB_QPS_RTR), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 2u);
  EXPECT_TRUE(host.rung(hw::bar::kReceiveDoorbell).empty());
  ASSERT_EQ(post(qp, wr), 0);
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kReceiveDoorbell, qp->qp_num, 4}};
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell), expected);
}

TEST_F(RvtPostRecv, StateIsCheckedBeforeElementsAndNamesTheFirstRequest) {
  auto wr = list<2>(1);
  wr[0].num_sge = 99;
  EXPECT_EQ(post(make_qp(), wr), -EINVAL);
  EXPECT_EQ(bad_recv, &wr[0]);
  wr[0].num_sge = 0;
  EXPECT_EQ(post(make_qp(), wr), -EINVAL);
  EXPECT_EQ(bad_recv, &wr[0]);
  EXPECT_EQ(rvt(qps.back())->r_rq.head, 0u);
}

TEST_F(RvtPostRecv, EveryStateButResetAccepts) {
  for (const ib_qp_state state :
       {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE, IB_QPS_ERR}) {
    ib_qp* qp = make_qp_in(state == IB_QPS_SQE ? IB_QPS_RTS : state);
    rvt(qp)->state = state;
    auto wr = list<1>(1);
    const ib_recv_wr* untouched = &wr[0];
    EXPECT_EQ(rvt_post_recv(qp, wr.data(), &untouched), 0) << state;
    EXPECT_EQ(untouched, &wr[0]);
    EXPECT_EQ(poll().size(), state == IB_QPS_ERR ? 1u : 0u);
    EXPECT_EQ(rvt(qp)->r_rq.head, state == IB_QPS_ERR ? 0u : 1u);
  }
}

TEST_F(RvtPostRecv, SharedQueueIsRefusedInEveryState) {
  ib_qp_init_attr attr = init_attr();
  attr.srq = make_srq();
  for (const ib_qp_state state : kStates) {
    ib_qp* qp = make_qp_in(state, attr);
    auto wr = list<2>(1);
    EXPECT_EQ(post(qp, wr), -EINVAL);
    EXPECT_EQ(bad_recv, &wr[0]);
  }
  EXPECT_TRUE(poll().empty());
}

TEST_F(RvtPostRecv, TooManyElementsIsRefusedBeforeFull) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ib_recv_wr wr;
  wr.num_sge = 3;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -EINVAL);
  EXPECT_EQ(bad_recv, &wr);
  wr.num_sge = -1;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -EINVAL);
  wr.num_sge = 0;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -ENOMEM);
}

TEST_F(RvtPostRecv, PartOfAListStaysPosted) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  auto wr = list<6>(1);
  EXPECT_EQ(post(qp, wr), -ENOMEM);
  EXPECT_EQ(bad_recv, &wr[4]);
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell).back().index, 4u);
}

TEST_F(RvtPostRecv, SpaceFollowsTheTailRecordRoundTheRing) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  for (std::uint64_t i = 4; i < 40; ++i) {
    EXPECT_EQ(post_recv(qp, i), -ENOMEM);
    ASSERT_TRUE(complete_recv(qp, i - 4));
    ASSERT_EQ(post_recv(qp, i), 0);
    EXPECT_EQ(ids(poll()), std::vector{i - 4});
  }
}

TEST_F(RvtPostRecv, AfterTheFlushAPostCompletesAtOnce) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  const std::size_t bells = host.doorbells.size();
  auto wr = list<6>(1);  // more than the ring holds
  ASSERT_EQ(post(qp, wr), 0);
  EXPECT_EQ(poll().size(), 6u);
  EXPECT_EQ(host.doorbells.size(), bells);
}

TEST_F(RvtPostRecv, ElementsAreCheckedInErrToo) {
  ib_qp* qp = make_qp_in(IB_QPS_ERR);
  auto wr = list<3>(1);
  wr[1].num_sge = 3;
  EXPECT_EQ(post(qp, wr), -EINVAL);
  EXPECT_EQ(bad_recv, &wr[1]);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{1});
}

TEST_F(RvtPostRecv, BetweenErrorAndFlushAPostIsKeptAndFlushedInOrder) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  rvt_rc_error(rvt(qp), IB_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell).size(), 1u);
  const std::size_t bells = host.doorbells.size();
  ASSERT_EQ(post_recv(qp, 2), 0);
  EXPECT_EQ(host.doorbells.size(), bells);
  EXPECT_TRUE(poll().empty());
  host.settle();
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2}));
  ASSERT_EQ(post_recv(qp, 3), 0);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{3});
}

TEST_F(RvtPostRecv, CostsAreChargedPerRequest) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  device->dparms.costs.post_recv = 15;
  const hw::Time before = host.charged;
  auto wr = list<3>(1);
  ASSERT_EQ(post(qp, wr), 0);
  EXPECT_EQ(host.charged - before, 45);
}

TEST_F(RvtPostRecv, Quirk24_KernelRulesHoldForQueuePairsOfUsers) {
  ib_udata udata;
  rvt_pd user;
  user.ibpd.device = ibdev;
  ASSERT_EQ(rvt_alloc_pd(&user.ibpd, &udata), 0);
  ib_qp_init_attr attr = init_attr();
  ib_qp* qp = ib_create_qp(&user.ibpd, &attr);
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(post_recv(qp, 1), -EINVAL);  // in RESET
  ASSERT_EQ(to_state(qp, IB_QPS_INIT), 0);
  ASSERT_EQ(post_recv(qp, 2), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].wr_id, 2u);
  EXPECT_EQ(wcs[0].status, IB_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  EXPECT_EQ(rvt_dealloc_pd(&user.ibpd, &udata), 0);
}

}  // namespace
}  // namespace hcasim::rvt
