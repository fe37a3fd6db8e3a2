// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A looped-back queue pair from RTR until RESET: what the adapter hears of it, and the ways down.
#include <algorithm>
#include <cerrno>

#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

class LoopbackLife : public LoopbackTest {
 protected:
  std::size_t commands_of(hw::CommandOpcode opcode) {
    return static_cast<std::size_t>(std::ranges::count_if(
        host.commands, [&](const hw::Mailbox& each) { return each.opcode == opcode; }));
  }
  ib_qp* looped(ib_qp_type type) {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = type;
    ib_qp* qp = make_qp(attr);
    EXPECT_EQ(to_state(qp, IB_QPS_INIT), 0);
    EXPECT_EQ(to_rtr(qp, home(0x4711)), 0);
    return qp;
  }
};

TEST_F(LoopbackLife, IsDecidedByThePathWhenReceivingBegins) {
  EXPECT_TRUE(rvt(looped(IB_QPT_RC))->looped);
  EXPECT_TRUE(rvt(looped(IB_QPT_UC))->looped);
  ib_qp* other = make_qp();
  ASSERT_EQ(to_state(other, IB_QPS_INIT), 0);
  EXPECT_FALSE(rvt(other)->looped);
  ib_qp_attr attr = home(0x4711);
  attr.ah_attr.grh.dgid.raw[15] = 2;
  ASSERT_EQ(to_rtr(other, attr), 0);
  EXPECT_FALSE(rvt(other)->looped);
  EXPECT_TRUE(rvt(other)->r_rq.on_adapter);
}

TEST_F(LoopbackLife, IsLeftToTheAdapterOnRequest) {
  device->dparms.loopback_on_wire = true;
  EXPECT_FALSE(rvt(looped(IB_QPT_RC))->looped);
}

TEST_F(LoopbackLife, AdapterKnowsItInInitAndNeverRings) {
  connect();
  EXPECT_EQ(host.qps.at(a->qp_num).state, hw::QpState::kInit);
  EXPECT_FALSE(rvt(a)->r_rq.on_adapter);
  const std::size_t before = host.commands.size();
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  ASSERT_EQ(post_list(a, 1), 0);
  ASSERT_EQ(modify(a, IB_QPS_SQD, IB_QP_STATE), 0);
  ASSERT_EQ(modify(a, IB_QPS_ERR, IB_QP_STATE), 0);
  host.settle();
  EXPECT_EQ(host.commands.size(), before);
  for (const auto& bell : host.doorbells) EXPECT_EQ(bell.offset, hw::bar::kEqConsumerDoorbell);
}

TEST_F(LoopbackLife, QueryAsksNobody) {
  connect();
  const std::size_t before = host.commands.size();
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ASSERT_EQ(ib_query_qp(a, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.rq_psn, 0x100u);
  EXPECT_EQ(host.commands.size(), before);
}

TEST_F(LoopbackLife, ErrFlushesReceivesBeforeItReturnsAndSendsLater) {
  connect();
  for (std::uint64_t i = 7; i < 10; ++i) ASSERT_EQ(post_recv_at(a, i, 4096), 0);
  ASSERT_EQ(modify(a, IB_QPS_SQD, IB_QP_STATE), 0);
  ASSERT_EQ(post_list(a, 2), 0);
  host.settle();
  EXPECT_EQ(done(), Dones{});
  ASSERT_EQ(modify(a, IB_QPS_ERR, IB_QP_STATE), 0);
  EXPECT_EQ(
      done(),
      (Dones{{a, 7, IB_WC_WR_FLUSH_ERR}, {a, 8, IB_WC_WR_FLUSH_ERR}, {a, 9, IB_WC_WR_FLUSH_ERR}}));
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_WR_FLUSH_ERR}, {a, 2, IB_WC_WR_FLUSH_ERR}}));
  // Drain markers, as ib_drain_qp posts them.
  ASSERT_EQ(post_recv_at(a, 20, 4096), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE, 21), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 20, IB_WC_WR_FLUSH_ERR}, {a, 21, IB_WC_WR_FLUSH_ERR}}));
}

TEST_F(LoopbackLife, ErrEndsAWaitForAReceiver) {
  connect();
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  ASSERT_EQ(modify(a, IB_QPS_ERR, IB_QP_STATE), 0);
  const hw::Time now = host.now();
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_WR_FLUSH_ERR}}));
  EXPECT_EQ(host.now(), now);  // no timer was left
}

TEST_F(LoopbackLife, DrainedQueuePairHoldsItsSendsUntilItGoesOn) {
  connect();
  ASSERT_EQ(modify(a, IB_QPS_SQD, IB_QP_STATE), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  host.settle();
  EXPECT_EQ(done(), Dones{});
  ib_qp_attr attr;
  attr.qp_state = IB_QPS_RTS;
  ASSERT_EQ(ib_modify_qp(a, &attr, IB_QP_STATE), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
}

TEST_F(LoopbackLife, ResetForgetsEverythingAndTellsTheAdapter) {
  connect();
  ASSERT_EQ(post_recv_at(a, 7, 4096), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);  // waits for a receive
  const std::size_t before = commands_of(hw::CommandOpcode::kModifyQp);
  ASSERT_EQ(modify(a, IB_QPS_RESET, IB_QP_STATE), 0);
  EXPECT_EQ(commands_of(hw::CommandOpcode::kModifyQp), before + 1);
  EXPECT_FALSE(rvt(a)->looped);
  EXPECT_EQ(rvt(a)->s_flags, RVT_S_SIGNAL_REQ_WR);
  EXPECT_EQ(host.timers_pending(), 0u);
  host.settle();
  EXPECT_EQ(done(), Dones{});
  raise_to_rts(a, home(b->qp_num));
  ASSERT_EQ(post_recv_at(a, 8, 4096), 0);
  ASSERT_EQ(post_opcode(b, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{a, 8, IB_WC_SUCCESS}, {b, 1, IB_WC_SUCCESS}}));
}

TEST_F(LoopbackLife, DestroyLeavesNoTimer) {
  connect();
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  destroy(a);
  EXPECT_EQ(host.timers_pending(), 0u);
}

TEST_F(LoopbackLife, Quirk7_ResetEmptiesTheReceiveRing) {
  connect();
  ASSERT_EQ(post_recv_at(a, 7, 4096), 0);
  ASSERT_EQ(modify(a, IB_QPS_RESET, IB_QP_STATE), 0);
  raise_to_rts(a, home(b->qp_num));
  EXPECT_EQ(rvt_get_rwqe(rvt(a), false), 0);
}

TEST_F(LoopbackLife, ReceiveRingHoldsExactlyWhatWasAskedFor) {
  connect();
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_recv_at(b, i, 4096), 0);
    EXPECT_EQ(post_recv_at(b, 9, 4096), -ENOMEM);
    for (std::uint64_t i = 0; i < 4; ++i) {
      ASSERT_EQ(post_opcode(a, IB_WR_SEND, i), 0);
      EXPECT_EQ(done().at(0), (Done{b, i, IB_WC_SUCCESS}));
    }
  }
}

TEST_F(LoopbackLife, DeregistrationFindsSendsThatWait) {
  connect();
  ib_mr* other = ib_reg_user_mr(pd, buffer, 4096, buffer, IB_ACCESS_LOCAL_WRITE);
  const ib_sge data{buffer, 64, other->lkey};
  ib_send_wr wr;
  wr.wr_id = 1;
  wr.sg_list = &data;
  wr.num_sge = 1;
  ASSERT_EQ(ib_post_send(a, &wr, &bad_send), 0);  // waits for a receive
  ASSERT_EQ(ib_dereg_mr(other), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_WR_FLUSH_ERR}}));
}

TEST_F(LoopbackLife, DeregistrationFindsTheReceiveInHand) {
  connect();
  ib_mr* other = ib_reg_user_mr(pd, buffer, 4096, buffer, IB_ACCESS_LOCAL_WRITE);
  ASSERT_EQ(post_recv_at(b, 7, 0, 64, other->lkey), 0);
  ASSERT_EQ(post_recv_at(b, 8, 0), 0);
  ASSERT_EQ(rvt_get_rwqe(rvt(b), false), 1);
  rvt_qp_mr_clean(rvt(b), mr->lkey);
  EXPECT_EQ(rvt(b)->state, IB_QPS_RTS);
  ASSERT_EQ(ib_dereg_mr(other), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_PROT_ERR}, {b, 8, IB_WC_WR_FLUSH_ERR}}));
}

TEST_F(LoopbackLife, ErrorTwiceDoesNothingMore) {
  connect();
  ASSERT_EQ(post_recv_at(a, 7, 0), 0);
  EXPECT_EQ(rvt_error_qp(rvt(a), IB_WC_LOC_QP_OP_ERR), 0);
  EXPECT_EQ(rvt_error_qp(rvt(a), IB_WC_LOC_QP_OP_ERR), 0);
  EXPECT_EQ(done(), (Dones{{a, 7, IB_WC_WR_FLUSH_ERR}}));
}

}  // namespace
}  // namespace hcasim::rvt
