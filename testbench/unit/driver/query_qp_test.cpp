// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_query_qp.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtQueryQp = DriverTest;

TEST_F(RvtQueryQp, TellsWhatWasSet) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ASSERT_EQ(ib_query_qp(qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.cur_qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.path_mtu, IB_MTU_1024);
  EXPECT_EQ(attr.sq_psn, 0x200u);
  EXPECT_EQ(attr.rq_psn, 0x100u);
  EXPECT_EQ(attr.dest_qp_num, 0x77u);
  EXPECT_EQ(attr.retry_cnt, 7);
  EXPECT_EQ(attr.rnr_retry, 6);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(attr.port_num, 1u);
  EXPECT_EQ(attr.cap.max_send_wr, 4u);
  EXPECT_EQ(attr.cap.max_recv_wr, 4u);
  EXPECT_EQ(attr.cap.max_send_sge, 2u);
  EXPECT_EQ(attr.cap.max_recv_sge, 2u);
  EXPECT_EQ(attr.cap.max_inline_data, 64u);
  EXPECT_EQ(attr.qp_access_flags, 0xeu);
  EXPECT_EQ(attr.min_rnr_timer, 12);
  EXPECT_EQ(attr.max_rd_atomic, 4);
  EXPECT_EQ(attr.max_dest_rd_atomic, 4);
  EXPECT_EQ(attr.path_mig_state, IB_MIG_MIGRATED);
  EXPECT_EQ(attr.en_sqd_async_notify, 0);
  EXPECT_EQ(attr.sq_draining, 0);
  EXPECT_EQ(init.recv_cq, cq);
  EXPECT_EQ(init.srq, nullptr);
  EXPECT_EQ(init.qp_context, &qp_seen);
  EXPECT_NE(init.event_handler, nullptr);
  EXPECT_EQ(init.qp_type, IB_QPT_RC);
  EXPECT_EQ(init.cap.max_send_wr, 4u);
  EXPECT_EQ(init.send_cq, cq);
  EXPECT_EQ(init.sq_sig_type, IB_SIGNAL_REQ_WR);
}

TEST_F(RvtQueryQp, TellsTheNextPsns) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  host.qps.at(qp->qp_num).rq_psn = 0x123;
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ib_query_qp(qp, &attr, 0, &init);
  EXPECT_EQ(attr.sq_psn, 0x201u);
  EXPECT_EQ(attr.rq_psn, 0x123u);
  host.set_may_wait(false);
  host.qps.at(qp->qp_num).rq_psn = 0x124;
  ib_query_qp(qp, &attr, 0, &init);
  EXPECT_EQ(attr.rq_psn, 0x123u);  // cannot ask the adapter here
}

TEST_F(RvtQueryQp, IgnoresTheMask) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ib_qp_attr attr;
  ib_qp_init_attr init;
  EXPECT_EQ(rvt_query_qp(qp, &attr, ~0, &init), 0);
  EXPECT_EQ(attr.timeout, 14);
  attr = {};
  EXPECT_EQ(rvt_query_qp(qp, &attr, IB_QP_STATE, &init), 0);
  EXPECT_EQ(attr.timeout, 14);
}

TEST_F(RvtQueryQp, SizesAreThoseAskedForInEveryState) {
  device->dparms.reserved_operations = 3;
  for (const ib_qp_state state : kStates) {
    const ib_qp_attr found = query(make_qp_in(state));
    EXPECT_EQ(found.qp_state, state);
    EXPECT_EQ(found.cur_qp_state, state);
    EXPECT_EQ(found.cap.max_send_wr, 4u);
    EXPECT_EQ(found.cap.max_recv_wr, 4u);
  }
  device->dparms.reserved_operations = 0;
}

TEST_F(RvtQueryQp, SharedQueueHasNoReceiveSizes) {
  ib_qp_init_attr attr = init_attr();
  attr.srq = make_srq();
  const ib_qp_attr found = query(make_qp(attr));
  EXPECT_EQ(found.cap.max_recv_wr, 0u);
  EXPECT_EQ(found.cap.max_recv_sge, 0u);
}

TEST_F(RvtQueryQp, PathMtuThatWasNeverSetIsTheDefault) {
  EXPECT_EQ(query(make_qp()).path_mtu, IB_MTU_1024);
  EXPECT_EQ(query(make_qp_in(IB_QPS_RTS, init_attr_of(IB_QPT_UD))).path_mtu, IB_MTU_1024);
}

TEST_F(RvtQueryQp, AlternatePathIsToldToo) {
  ib_qp* qp = make_qp();
  rvt(qp)->alt_ah_attr.port_num = 7;
  rvt(qp)->s_alt_pkey_index = 5;
  rvt(qp)->alt_timeout = 9;
  rvt(qp)->s_mig_state = IB_MIG_REARM;
  const ib_qp_attr found = query(qp);
  EXPECT_EQ(found.alt_port_num, 7u);
  EXPECT_EQ(found.alt_ah_attr.port_num, 7u);
  EXPECT_EQ(found.alt_pkey_index, 5);
  EXPECT_EQ(found.alt_timeout, 9);
  EXPECT_EQ(found.path_mig_state, IB_MIG_REARM);
}

TEST_F(RvtQueryQp, LimitsAreTheConfiguredOnesAfterAnError) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  error_qp(qp);
  const ib_qp_attr found = query(qp);
  EXPECT_EQ(found.qp_state, IB_QPS_ERR);
  EXPECT_EQ(found.retry_cnt, 7);
  EXPECT_EQ(found.rnr_retry, 6);
}

TEST_F(RvtQueryQp, SucceedsThoughTheAdapterFails) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.answers = false;
  ib_qp_attr attr;
  ib_qp_init_attr init;
  EXPECT_EQ(rvt_query_qp(qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.rq_psn, 0x100u);  // the last known one
}

}  // namespace
}  // namespace hcasim::rvt
