// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_ruc_loopback: nobody there, RNR, UC, full completion queues, when the engine runs.
#include <cerrno>

#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

// --- Nobody there
// ---------------------------------------------------------------------------------

TEST_F(RvtRucLoopback, NoSuchResponder) {
  a = make_qp();
  raise_to_rts(a, home(0x4711));
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_RETRY_EXC_ERR}}));
  EXPECT_EQ(rvt(a)->state, IB_QPS_ERR);
  EXPECT_EQ(port().n_pkt_drops, 1u);
  EXPECT_EQ(port().n_loop_pkts, 0u);
}

TEST_F(RvtRucLoopback, ResponderThatDoesNotReceive) {
  connect();
  ASSERT_EQ(modify(b, IB_QPS_ERR, IB_QP_STATE), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_RETRY_EXC_ERR}}));
  EXPECT_EQ(port().n_pkt_drops, 1u);
}

TEST_F(RvtRucLoopback, ResponderOfAnotherService) {
  connect(IB_QPT_UC);
  ib_qp* rc = make_qp();
  raise_to_rts(rc, home(b->qp_num));
  rvt(b)->remote_qpn = rc->qp_num;
  ASSERT_EQ(post_opcode(rc, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(done(), (Dones{{rc, 1, IB_WC_RETRY_EXC_ERR}}));
}

TEST_F(RvtRucLoopback, ResponderWhosePathLeadsElsewhere) {
  connect();
  ib_qp* wire = make_qp();
  ib_qp_attr attr = home(a->qp_num);
  attr.ah_attr.grh.dgid.raw[15] = 2;
  raise_to_rts(wire, attr);
  rvt(a)->remote_qpn = wire->qp_num;
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_RETRY_EXC_ERR}}));
}

TEST_F(RvtRucLoopback, Quirk26_ResponderHasToPointBack) {
  connect();
  rvt(b)->remote_qpn = a->qp_num + 2;
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_RETRY_EXC_ERR}}));
  EXPECT_EQ(port().n_pkt_drops, 1u);
}

TEST_F(RvtRucLoopback, QueuePairConnectedToItself) {
  a = b = make_qp();
  raise_to_rts(a, home(a->qp_num));
  fill(0, 4);
  ASSERT_EQ(post_recv_at(a, 7, 4096), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{a, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(bytes_at(4096), bytes_at(0));
}

// --- RNR
// ------------------------------------------------------------------------------------------

TEST_F(RvtRucLoopback, RnrRetriesAfterTheRespondersTimeExactly) {
  a = make_qp();
  b = make_qp();
  ib_qp_attr attr = home(b->qp_num);
  attr.rnr_retry = 2;
  raise_to_rts(a, attr);
  raise_to_rts(b, home(a->qp_num));  // min_rnr_timer 12: 640 us
  const hw::Time posted = host.now();
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(port().n_rnr_naks, 1u);
  EXPECT_EQ(rvt(a)->s_flags & (RVT_S_WAIT_RNR | RVT_S_BUSY), RVT_S_WAIT_RNR);
  host.run(posted + 640 * hw::kMicrosecond - 1);
  EXPECT_EQ(port().n_rnr_naks, 1u);
  host.run(posted + 640 * hw::kMicrosecond);
  EXPECT_EQ(port().n_rnr_naks, 2u);
  host.run(posted + 1280 * hw::kMicrosecond - 1);
  EXPECT_EQ(done(), Dones{});
  host.run(posted + 1280 * hw::kMicrosecond);
  EXPECT_EQ(port().n_rnr_naks, 3u);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_RNR_RETRY_EXC_ERR}}));
  expect_states(IB_QPS_ERR, IB_QPS_RTS);
}

TEST_F(RvtRucLoopback, ReceivePostedDuringTheWaitReloadsTheCounter) {
  a = make_qp();
  b = make_qp();
  ib_qp_attr attr = home(b->qp_num);
  attr.rnr_retry = 2;
  raise_to_rts(a, attr);
  raise_to_rts(b, home(a->qp_num));
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(rvt(a)->s_rnr_retry, 1u);
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  EXPECT_EQ(done(), Dones{});  // the wait is not cut short
  host.settle();
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(rvt(a)->s_rnr_retry, 2u);
}

TEST_F(RvtRucLoopback, RnrRetryZeroFailsAtOnce) {
  a = make_qp();
  b = make_qp();
  ib_qp_attr attr = home(b->qp_num);
  attr.rnr_retry = 0;
  raise_to_rts(a, attr);
  raise_to_rts(b, home(a->qp_num));
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE_WITH_IMM), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_RNR_RETRY_EXC_ERR}}));
  EXPECT_EQ(port().n_rnr_naks, 1u);
}

TEST_F(RvtRucLoopback, RnrRetrySevenIsForEver) {
  a = make_qp();
  b = make_qp();
  ib_qp_attr attr = home(b->qp_num);
  attr.rnr_retry = 7;
  raise_to_rts(a, attr);
  raise_to_rts(b, home(a->qp_num));
  const hw::Time posted = host.now();
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  host.run(posted + 20 * 640 * hw::kMicrosecond);
  EXPECT_EQ(port().n_rnr_naks, 21u);
  EXPECT_EQ(rvt(a)->s_rnr_retry, 7u);
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
}

// --- UC
// -------------------------------------------------------------------------------------------

TEST_F(RvtRucLoopback, UcMessageWithoutReceiveIsLost) {
  connect(IB_QPT_UC);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(port().n_loop_pkts, 1u);
  EXPECT_EQ(port().n_rnr_naks, 0u);
  expect_states(IB_QPS_RTS, IB_QPS_RTS);
}

TEST_F(RvtRucLoopback, UcSendAndWriteArrive) {
  connect(IB_QPT_UC);
  fill(0, 8);
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE, 2), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}, {a, 2, IB_WC_SUCCESS}}));
  EXPECT_EQ(bytes_at(8192), bytes_at(0));
  EXPECT_EQ(bytes_at(4096), bytes_at(0));
}

TEST_F(RvtRucLoopback, UcInvalidRequestIsASuccessOfTheSender) {
  connect(IB_QPT_UC);
  set_rights(b, 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  expect_states(IB_QPS_RTS, IB_QPS_ERR);
}

TEST_F(RvtRucLoopback, UcAccessErrorIsReportedAndTheSenderStays) {
  connect(IB_QPT_UC);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .rkey = 0xbad00}), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_REM_ACCESS_ERR}}));
  expect_states(IB_QPS_RTS, IB_QPS_ERR);
}

TEST_F(RvtRucLoopback, UcFaultyReceive) {
  connect(IB_QPT_UC);
  ASSERT_EQ(post_recv_at(b, 7, 8192, 64, 0xbad00), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_PROT_ERR}, {a, 1, IB_WC_REM_OP_ERR}}));
  expect_states(IB_QPS_RTS, IB_QPS_ERR);
}

TEST_F(RvtRucLoopback, UcWithoutResponderIsASuccess) {
  connect(IB_QPT_UC);
  destroy(b);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(port().n_pkt_drops, 1u);
  EXPECT_EQ(rvt(a)->state, IB_QPS_RTS);
}

TEST_F(RvtRucLoopback, Quirk18_UcGoesOnAfterAFailedSend) {
  connect(IB_QPT_UC);
  destroy(b);
  ASSERT_EQ(post_list(a, 3), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}, {a, 2, IB_WC_SUCCESS}, {a, 3, IB_WC_SUCCESS}}));
}

// --- Full completion queues
// -----------------------------------------------------------------------

TEST_F(RvtRucLoopback, FullReceiveQueueOfTheResponderIsNoMatterOfTheSender) {
  ib_cq* small = make_cq(1);
  ib_qp_init_attr attr = init_attr();
  attr.recv_cq = small;
  connect(attr);
  for (std::uint64_t i = 7; i < 10; ++i) ASSERT_EQ(post_recv_at(b, i, 4096), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 1), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 2), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}, {a, 2, IB_WC_SUCCESS}}));
  expect_states(IB_QPS_RTS, IB_QPS_ERR);
  EXPECT_EQ(cq_seen.events.at(0), IB_EVENT_CQ_ERR);
}

TEST_F(RvtRucLoopback, FullSendQueueOfTheSenderEndsItButRetiresTheSend) {
  ib_cq* small = make_cq(1);
  ib_qp_init_attr attr = init_attr();
  attr.send_cq = small;
  connect(attr);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE, 1), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE, 2), 0);
  expect_states(IB_QPS_ERR, IB_QPS_RTS);
  EXPECT_EQ(rvt(a)->s_last, rvt(a)->s_head);
  EXPECT_EQ(poll(small).size(), 1u);
}

// --- The engine
// -----------------------------------------------------------------------------------

TEST_F(RvtRucLoopback, DoesNothingWhileItRunsOrWaits) {
  connect();
  for (const std::uint32_t flag : {RVT_S_BUSY, RVT_S_WAIT_RNR, RVT_S_WAIT_RWQE, 0x20u, 0x400u}) {
    rvt(a)->s_flags |= flag;
    ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
    rvt_ruc_loopback(rvt(a));
    EXPECT_EQ(done(), Dones{}) << flag;
    rvt(a)->s_flags &= ~flag;
    host.settle();
    rvt_ruc_loopback(rvt(a));
    EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}})) << flag;
  }
}

TEST_F(RvtRucLoopback, FlagsAreThoseOfBeforeWhenItEnds) {
  connect();
  const std::uint32_t before = rvt(a)->s_flags;
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(rvt(a)->s_flags, before);
}

TEST_F(RvtRucLoopback, AListIsForTheEngineInTheSameInstant) {
  connect();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post_recv_at(b, 7 + i, 4096), 0);
  const hw::Time posted = host.now();
  ASSERT_EQ(post_list(a, 3), 0);
  EXPECT_EQ(done(), Dones{});
  host.run(posted);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS},
                           {a, 1, IB_WC_SUCCESS},
                           {b, 8, IB_WC_SUCCESS},
                           {a, 2, IB_WC_SUCCESS},
                           {b, 9, IB_WC_SUCCESS},
                           {a, 3, IB_WC_SUCCESS}}));
}

TEST_F(RvtRucLoopback, MoreThanAPacketIsForTheEngineToo) {
  connect();  // path MTU 1024
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .wr_id = 1, .length = 1024}), 0);
  EXPECT_EQ(done().size(), 1u);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .wr_id = 2, .length = 1025}), 0);
  EXPECT_EQ(done(), Dones{});
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_SUCCESS}}));
}

TEST_F(RvtRucLoopback, HooksAreCalledAsRdmavtDoes) {
  connect();
  static int sent = 0;
  static int scheduled = 0;
  sent = scheduled = 0;
  device->driver_f.do_send = [](rvt_qp*) { ++sent; };
  device->driver_f.schedule_send_no_lock = [](rvt_qp*) { ++scheduled; };
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(std::pair(sent, scheduled), std::pair(1, 0));
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);  // not idle any more
  EXPECT_EQ(std::pair(sent, scheduled), std::pair(1, 1));
  EXPECT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .flags = 0}), 0);
  EXPECT_EQ(post_list(a, 4), -ENOMEM);  // one fits: it is started all the same
  EXPECT_EQ(std::pair(sent, scheduled), std::pair(1, 3));
}

TEST_F(RvtRucLoopback, Quirk3_NoLockIsHeldWhereEventsAreRaised) {
  connect();
  struct Poster {
    ib_qp* qp;
    int result = -1;
  } poster{a};
  // A handler that posts would find s_hlock out of order if a lock was held.
  a->qp_context = b->qp_context = &poster;
  a->event_handler = b->event_handler = [](ib_event*, void* self) {
    auto& me = *static_cast<Poster*>(self);
    const ib_send_wr* bad = nullptr;
    const ib_send_wr wr;
    me.result = ib_post_send(me.qp, &wr, &bad);
  };
  set_rights(b, 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(poster.result, 0);
}

TEST_F(RvtRucLoopback, Quirk3_NorWhereAFlushOverflows) {
  ib_qp_init_attr attr = init_attr();
  attr.recv_cq = make_cq(1);
  connect(attr);
  static ib_qp* poster = nullptr;
  static int result = -1;
  poster = a;
  attr.recv_cq->event_handler = [](ib_event*, void*) {
    const ib_send_wr* bad = nullptr;
    const ib_send_wr wr;
    result = ib_post_send(poster, &wr, &bad);
  };
  for (std::uint64_t i = 7; i < 9; ++i) ASSERT_EQ(post_recv_at(b, i, 4096), 0);
  ASSERT_EQ(modify(b, IB_QPS_ERR, IB_QP_STATE), 0);
  EXPECT_EQ(result, 0);
  attr.recv_cq->event_handler = Seen::event;
}

}  // namespace
}  // namespace hcasim::rvt
