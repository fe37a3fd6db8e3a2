// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// How sends of a looped-back queue pair end: rvt_send_complete and what it rests on; what a queue
// pair holds and gives back.
#include <cerrno>

#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

class SendCompletionTest : public LoopbackTest {
 protected:
  void SetUp() override {
    LoopbackTest::SetUp();
    connect();
    device->driver_f = {[](rvt_qp*) {}, [](rvt_qp*) {}, [](rvt_qp*) {}};
  }
  rvt_swqe* oldest() { return &rvt(a)->s_wq[rvt(a)->s_last]; }
};

using RvtSendComplete = SendCompletionTest;

TEST_F(RvtSendComplete, RetiresTheOldestSend) {
  ASSERT_EQ(post_list(a, 2), 0);
  rvt_send_complete(rvt(a), oldest(), IB_WC_SUCCESS);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(rvt(a)->s_last, 1u);
  rvt_send_complete(rvt(a), oldest(), IB_WC_REM_OP_ERR);
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_REM_OP_ERR}}));
  EXPECT_EQ(rvt(a)->s_last, rvt(a)->s_head);
}

TEST_F(RvtSendComplete, OnlyWhereSendsAreCarriedOutOrFlushed) {
  ASSERT_EQ(post_list(a, 4), 0);
  for (const ib_qp_state state : {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR}) {
    rvt(a)->state = state;
    rvt_send_complete(rvt(a), oldest(), IB_WC_SUCCESS);
    EXPECT_EQ(rvt(a)->s_last, 0u) << state;
  }
  std::uint32_t last = 0;
  for (const ib_qp_state state : {IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE, IB_QPS_ERR}) {
    rvt(a)->state = state;
    rvt_send_complete(rvt(a), oldest(), IB_WC_SUCCESS);
    EXPECT_EQ(rvt(a)->s_last, ++last) << state;
  }
}

using RvtQpCompleteSwqe = SendCompletionTest;

TEST_F(RvtQpCompleteSwqe, CompletionIsThereWhereAskedForOrFailed) {
  for (const std::uint32_t flags : {0u, std::uint32_t{IB_SEND_SIGNALED}}) {
    for (const ib_wc_status status : {IB_WC_SUCCESS, IB_WC_WR_FLUSH_ERR}) {
      ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .length = 40, .flags = flags}), 0);
      const std::uint32_t next = rvt(a)->s_head;
      EXPECT_EQ(rvt_qp_complete_swqe(rvt(a), oldest(), IB_WC_RDMA_WRITE, status), next);
      const auto wcs = poll();
      ASSERT_EQ(wcs.size(), flags != 0 || status != IB_WC_SUCCESS ? 1u : 0u);
      if (wcs.empty()) continue;
      EXPECT_EQ(wcs[0].byte_len, 40u);
      EXPECT_EQ(wcs[0].opcode, IB_WC_RDMA_WRITE);
      EXPECT_EQ(wcs[0].status, status);
    }
  }
}

TEST_F(RvtQpCompleteSwqe, WithAllSignaledEachCompletes) {
  rvt(a)->s_flags &= ~RVT_S_SIGNAL_REQ_WR;
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .flags = 0}), 0);
  rvt_qp_complete_swqe(rvt(a), oldest(), IB_WC_RDMA_WRITE, IB_WC_SUCCESS);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
}

TEST_F(RvtQpCompleteSwqe, ReservedOperationsGiveTheirPlaceBackSilently) {
  ASSERT_EQ(post_list(a, 1), 0);
  oldest()->send_flags |= RVT_SEND_RESERVE_USED;
  rvt(a)->s_reserved_used = 1;
  rvt_qp_complete_swqe(rvt(a), oldest(), IB_WC_SEND, IB_WC_WR_FLUSH_ERR);
  EXPECT_EQ(done(), Dones{});
  EXPECT_EQ(rvt(a)->s_reserved_used, 0u);
}

TEST_F(RvtQpCompleteSwqe, TheSlotIsFreeBeforeTheCompletionIsSeen) {
  ASSERT_EQ(post_list(a, 1), 0);
  rvt_qp* qp = rvt(a);
  bool free = false;
  std::pair<rvt_qp*, bool*> look{qp, &free};
  ibcq_to_rvtcq(cq)->entered = {[](void* context, std::uint64_t) {
                                  const auto& [queue, result] =
                                      *static_cast<std::pair<rvt_qp*, bool*>*>(context);
                                  *result = queue->s_last == queue->s_head;
                                },
                                &look, 0};
  rvt_qp_complete_swqe(qp, oldest(), IB_WC_SEND, IB_WC_SUCCESS);
  ibcq_to_rvtcq(cq)->entered = {};
  EXPECT_TRUE(free);
}

// --- rvt_send_cq, rvt_recv_cq
// ---------------------------------------------------------------------

class RvtSendCq : public LoopbackTest {
 protected:
  void SetUp() override {
    LoopbackTest::SetUp();
    small = make_cq(1);
    ib_srq_init_attr shared;
    shared.attr = {4, 2, 0};
    ib_srq* srq = ib_create_srq(pd, &shared);
    srqs.push_back(srq);
    ib_qp_init_attr attr = init_attr();
    attr.send_cq = attr.recv_cq = small;
    attr.srq = srq;
    connect(attr);
    wc.qp = a;
  }
  ib_cq* small = nullptr;
  ib_wc wc;
};
using RvtRecvCq = RvtSendCq;

TEST_F(RvtSendCq, EntersInTheSendQueue) {
  wc.wr_id = 5;
  rvt_send_cq(rvt(a), &wc, false);
  EXPECT_EQ(poll(small).at(0).wr_id, 5u);
  EXPECT_EQ(rvt(a)->state, IB_QPS_RTS);
}

TEST_F(RvtSendCq, SolicitedIsPassedOn) {
  ASSERT_EQ(ib_req_notify_cq(small, IB_CQ_SOLICITED), 0);
  rvt_send_cq(rvt(a), &wc, false);
  host.settle();
  EXPECT_EQ(cq_seen.completions, 0);
  poll(small);
  rvt_send_cq(rvt(a), &wc, true);
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
}

TEST_F(RvtSendCq, Quirk25_AFullQueueEndsTheQueuePairWithItsLastWqe) {
  rvt_send_cq(rvt(a), &wc, false);
  rvt_send_cq(rvt(a), &wc, false);
  EXPECT_EQ(rvt(a)->state, IB_QPS_ERR);
  EXPECT_EQ(qp_seen.events, (std::vector{IB_EVENT_QP_LAST_WQE_REACHED}));
  rvt_send_cq(rvt(a), &wc, false);
  EXPECT_EQ(qp_seen.events.size(), 1u);
}

TEST_F(RvtRecvCq, Quirk25_AFullQueueEndsTheQueuePairWithItsLastWqe) {
  rvt_recv_cq(rvt(a), &wc, false);
  EXPECT_EQ(rvt(a)->state, IB_QPS_RTS);
  rvt_recv_cq(rvt(a), &wc, false);
  EXPECT_EQ(rvt(a)->state, IB_QPS_ERR);
  EXPECT_EQ(qp_seen.events, (std::vector{IB_EVENT_QP_LAST_WQE_REACHED}));
}

// --- References
// -----------------------------------------------------------------------------------

using RvtClearMrRefs = SendCompletionTest;

TEST_F(RvtClearMrRefs, ForgetsTheReceiveInHandAndKeepsTheSends) {
  ASSERT_EQ(post_recv_at(a, 7, 0), 0);
  ASSERT_EQ(rvt_get_rwqe(rvt(a), false), 1);
  rvt(a)->r_aflags |= RVT_R_REWIND_SGE;
  ASSERT_EQ(post_list(a, 2), 0);
  rvt_clear_mr_refs(rvt(a), 0);
  EXPECT_EQ(rvt(a)->r_sge.num_sge, 0u);
  EXPECT_EQ(rvt(a)->r_sge.sge.mr, nullptr);
  EXPECT_EQ(rvt(a)->r_aflags, RVT_R_WRID_VALID);
  EXPECT_EQ(rvt(a)->s_last, 0u);
}

TEST_F(RvtClearMrRefs, ForgetsTheSendsWithoutCompletions) {
  ASSERT_EQ(post_list(a, 2), 0);
  rvt_clear_mr_refs(rvt(a), 1);
  EXPECT_EQ(rvt(a)->s_last, rvt(a)->s_head);
  EXPECT_EQ(done(), Dones{});
}

using RvtQpAcksHasLkey = SendCompletionTest;

TEST_F(RvtQpAcksHasLkey, NoAnswerIsEverPending) {
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_READ), 0);
  EXPECT_FALSE(rvt_qp_acks_has_lkey(rvt(a), mr->lkey));
  EXPECT_FALSE(rvt_qp_acks_has_lkey(rvt(b), mr->lkey));
}

class AllocUdWqAttr : public LoopbackTest {};

TEST_F(AllocUdWqAttr, EachSlotHasRoomForItsPath) {
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_UD;
  attr.cap.max_send_sge = 1;
  attr.cap.max_inline_data = 0;
  rvt_qp* qp = rvt(make_qp(attr));
  EXPECT_EQ(alloc_ud_wq_attr(qp, 0), 0);
  qp->s_stride = hw::kSendWqeDatagramOffset + sizeof(hw::SendWqeDatagram) - 1;
  EXPECT_EQ(alloc_ud_wq_attr(qp, 0), -ENOMEM);
}

using FreeUdWqAttr = AllocUdWqAttr;

// The room is part of the slots, which go with the ring.
TEST_F(FreeUdWqAttr, LeavesTheRingToItsOwner) {
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_UD;
  rvt_qp* qp = rvt(make_qp(attr));
  const std::size_t before = host.blocks_allocated();
  free_ud_wq_attr(qp);
  free_ud_wq_attr(qp);
  EXPECT_EQ(host.blocks_allocated(), before);
  EXPECT_EQ(alloc_ud_wq_attr(qp, 0), 0);
}

TEST_F(AllocUdWqAttr, NothingForConnectedOnes) {
  rvt_qp* qp = rvt(make_qp());
  qp->s_stride = 1;
  EXPECT_EQ(alloc_ud_wq_attr(qp, 0), 0);
}

}  // namespace
}  // namespace hcasim::rvt
