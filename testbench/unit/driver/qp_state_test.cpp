// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Ways down without a verb: rvt_error_qp, _rvt_reset_qp, rvt_reset_qp; and rvt_comm_est.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtErrorQp = DriverTest;
using RvtResetQpLocked = DriverTest;
using RvtResetQp = DriverTest;
using RvtCommEst = DriverTest;

TEST_F(RvtErrorQp, NoEffectInErrAndReset) {
  ib_qp* fresh = make_qp();
  EXPECT_EQ(error_qp(fresh), 0);
  EXPECT_EQ(rvt(fresh)->state, IB_QPS_RESET);
  ib_qp* failed = make_qp_in(IB_QPS_ERR);
  EXPECT_EQ(error_qp(failed), 0);
  EXPECT_TRUE(host.rung(hw::bar::kQpErrorDoorbell).empty());
}

TEST_F(RvtErrorQp, MovesFromEveryOtherStateAndAsksTheAdapterOnce) {
  for (const ib_qp_state state : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE}) {
    ib_qp* qp = make_qp_in(state == IB_QPS_SQE ? IB_QPS_RTS : state);
    host.doorbells.clear();
    rvt(qp)->state = state;
    EXPECT_EQ(error_qp(qp), 0);
    EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
    EXPECT_EQ(error_qp(qp), 0);
    const std::vector<FakeHost::Doorbell> expected{{hw::bar::kQpErrorDoorbell, qp->qp_num, 0}};
    EXPECT_EQ(host.doorbells, expected);
    EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qp->qp_num), rvt(qp));  // stays in the table
  }
}

TEST_F(RvtErrorQp, NeverWaits) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.set_may_wait(false);
  const hw::Time before = host.now();
  EXPECT_EQ(error_qp(qp), 0);
  EXPECT_EQ(host.now(), before);
}

TEST_F(RvtErrorQp, FlushesReceivesAtTheEventAndLeavesSendsToTheAdapter) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_EQ(post_send(qp, 9), 0);
  take_receive(qp);  // in hand: the adapter completes it
  error_qp(qp, IB_WC_LOC_QP_OP_ERR);
  EXPECT_TRUE(poll().empty());
  host.settle();
  const auto wc = poll();
  EXPECT_EQ(ids(wc), (std::vector<std::uint64_t>{2, 3}));
  for (const ib_wc& each : wc) EXPECT_EQ(each.status, IB_WC_WR_FLUSH_ERR);
  EXPECT_TRUE(qp_seen.events.empty());
}

TEST_F(RvtErrorQp, TouchesNoReceiveOfASharedQueue) {
  ib_qp_init_attr attr = init_attr();
  attr.srq = make_srq();
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  ib_recv_wr wr;
  ASSERT_EQ(ib_post_srq_recv(attr.srq, &wr, nullptr), 0);
  EXPECT_EQ(error_qp(qp), 0);  // the adapter raises IB_EVENT_QP_LAST_WQE_REACHED
  host.settle();
  EXPECT_TRUE(poll().empty());
  EXPECT_EQ(ibsrq_to_rvtsrq(attr.srq)->rq.head, 1u);
}

TEST_F(RvtErrorQp, FlushHappensOnce) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  host.event(0, hw::EqeType::kQpError, qp->qp_num, 12);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_TRUE(host.rung(hw::bar::kQpErrorDoorbell).empty());  // the adapter has stopped by itself
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  host.event(0, hw::EqeType::kQpErrorDone, qp->qp_num, 0);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{1});
}

// --- _rvt_reset_qp, rvt_reset_qp ----------------------------------------------------------------

TEST_F(RvtResetQpLocked, OnlyInitialisesInReset) {
  ib_qp* qp = make_qp();
  rvt(qp)->qkey = 5;
  const std::size_t commands = host.commands.size();
  EXPECT_EQ(_rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), 0);
  EXPECT_EQ(host.commands.size(), commands);
  EXPECT_EQ(rvt(qp)->qkey, 0u);
}

TEST_F(RvtResetQpLocked, StateGoesFirstThenTheTableThenTheAdapter) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  host.on_command = [&](const hw::Mailbox&) {
    EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
    EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qp->qp_num), nullptr);
    EXPECT_EQ(rvt(qp)->s_head, 1u);  // the rings are the adapter's until it answers
  };
  EXPECT_EQ(_rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).state, hw::QpState::kReset);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
}

TEST_F(RvtResetQpLocked, EmptiesBothQueuesWithoutCompletions) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(post_recv(qp, i), 0);
    ASSERT_EQ(post_send(qp, i), 0);
  }
  ASSERT_TRUE(complete_send(qp, 0));
  ASSERT_EQ(_rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), 0);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);  // from before
  EXPECT_EQ(wc[0].wr_id, 1u);
  EXPECT_TRUE(qp_seen.events.empty());
  EXPECT_EQ(rvt(qp)->s_head, 0u);
  EXPECT_EQ(rvt(qp)->s_last, 0u);
  bring(qp, IB_QPS_RTS);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 0u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_send(qp, i), 0);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_recv(qp, i), 0);
  EXPECT_EQ(post_recv(qp, 4), -ENOMEM);
}

TEST_F(RvtResetQpLocked, ResetsThoughTheAdapterDoesNotAnswer) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  host.answers = false;
  EXPECT_EQ(_rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), -EIO);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
}

TEST_F(RvtResetQp, TakesAndGivesBackTheMutex) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.on_command = [&](const hw::Mailbox&) { EXPECT_TRUE(rvt(qp)->mutex.held()); };
  EXPECT_EQ(rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), 0);
  EXPECT_FALSE(rvt(qp)->mutex.held());
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
}

TEST_F(RvtResetQp, HandsOnTheErrors) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.set_may_wait(false);
  EXPECT_EQ(rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), -EDEADLK);
  host.set_may_wait(true);
  ib_qp* other = make_qp_in(IB_QPS_RTS);
  host.answers = false;
  EXPECT_EQ(rvt_reset_qp(device.get(), rvt(other), IB_QPT_RC), -EIO);
}

// --- rvt_comm_est -------------------------------------------------------------------------------

TEST_F(RvtCommEst, MarksAndRaisesEveryTime) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  rvt_comm_est(rvt(qp));
  EXPECT_EQ(rvt(qp)->r_flags, RVT_R_COMM_EST);
  rvt_comm_est(rvt(qp));  // once is the caller's business
  EXPECT_EQ(qp_seen.events, (std::vector{IB_EVENT_COMM_EST, IB_EVENT_COMM_EST}));
  EXPECT_EQ(qp_seen.elements[0], qp);
}

TEST_F(RvtCommEst, NeedsNoHandler) {
  ib_qp_init_attr attr = init_attr();
  attr.event_handler = nullptr;
  ib_qp* qp = make_qp_in(IB_QPS_RTR, attr);
  rvt_comm_est(rvt(qp));
  EXPECT_EQ(rvt(qp)->r_flags, RVT_R_COMM_EST);
}

TEST_F(RvtCommEst, OfTheAdapterCountsOnceAndNotInErrOrReset) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  const auto event = [&] { host.event(0, hw::EqeType::kCommEst, qp->qp_num); };
  event();
  event();
  EXPECT_EQ(qp_seen.events.size(), 1u);
  for (const ib_qp_state state : {IB_QPS_ERR, IB_QPS_RESET}) {
    ASSERT_EQ(to_state(qp, state), 0);
    rvt(qp)->r_flags = 0;
    event();
    EXPECT_EQ(qp_seen.events.size(), 1u);
  }
}

}  // namespace
}  // namespace hcasim::rvt
