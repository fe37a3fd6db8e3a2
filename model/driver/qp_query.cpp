// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What a query tells of a queue pair.
#include "driver/command.hpp"
#include "driver/qp_internal.hpp"

namespace hcasim::rvt {
namespace {

bool receives(const rvt_qp* qp) {
  return (ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK) != 0;
}

// The PSN that is expected next is the adapter's; outside a task the last known one has to do.
void refresh_receive_psn(rvt_qp* qp) {
  hw::HostPort& port = *qp->rdi->port;
  if (!port.may_wait() || !receives(qp) || qp->looped) return;
  const MutexGuard guard(qp->mutex, port);
  hw::QpContext context;
  const int error = qp->rdi->commands->fetch(
      {.opcode = hw::CommandOpcode::kQueryQp, .object = qp->ibqp.qp_num}, context);
  if (error == 0 && receives(qp)) qp->r_psn = context.rq_psn & RVT_PSN_MASK;
}

ib_qp_cap sizes(const rvt_qp* qp) {
  ib_qp_cap cap;
  cap.max_send_wr = qp->s_size - 1 - qp->rdi->dparms.reserved_operations;
  cap.max_recv_wr = qp->ibqp.srq != nullptr ? 0 : qp->r_rq.size - 1;
  cap.max_send_sge = qp->s_max_sge;
  cap.max_recv_sge = qp->r_rq.max_sge;
  cap.max_inline_data = qp->s_max_inline;
  return cap;
}

void fill_limits(const rvt_qp* qp, ib_qp_attr* attr) {
  attr->max_rd_atomic = qp->s_max_rd_atomic;
  attr->max_dest_rd_atomic = qp->r_max_rd_atomic;
  attr->min_rnr_timer = qp->r_min_rnr_timer;
  attr->timeout = qp->timeout;
  attr->retry_cnt = qp->s_retry_cnt;
  attr->rnr_retry = qp->s_rnr_retry_cnt;
}

void fill_path(const rvt_qp* qp, ib_qp_attr* attr) {
  attr->ah_attr = qp->remote_ah_attr;
  attr->alt_ah_attr = qp->alt_ah_attr;
  attr->pkey_index = qp->s_pkey_index;
  attr->alt_pkey_index = qp->s_alt_pkey_index;
  attr->port_num = qp->port_num;
  attr->alt_port_num = qp->alt_ah_attr.port_num;
  attr->alt_timeout = qp->alt_timeout;
  attr->path_mig_state = qp->s_mig_state;
  attr->path_mtu = qp->pmtu == 0 ? IB_MTU_1024 : static_cast<ib_mtu>(qp->log_pmtu - 7);
}

void fill_init(const rvt_qp* qp, ib_qp_init_attr* init) {
  init->event_handler = qp->ibqp.event_handler;
  init->qp_context = qp->ibqp.qp_context;
  init->send_cq = qp->ibqp.send_cq;
  init->recv_cq = qp->ibqp.recv_cq;
  init->srq = qp->ibqp.srq;
  init->cap = sizes(qp);
  init->sq_sig_type =
      (qp->s_flags & RVT_S_SIGNAL_REQ_WR) != 0 ? IB_SIGNAL_REQ_WR : IB_SIGNAL_ALL_WR;
  init->qp_type = qp->ibqp.qp_type;
  init->port_num = qp->port_num;
}

}  // namespace

int rvt_query_qp(ib_qp* ibqp, ib_qp_attr* attr, int /*attr_mask*/, ib_qp_init_attr* init_attr) {
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  refresh_receive_psn(qp);
  *attr = ib_qp_attr{};
  attr->qp_state = qp->state;
  attr->cur_qp_state = qp->state;
  attr->qkey = qp->qkey;
  attr->rq_psn = qp->r_psn;
  attr->sq_psn = qp->s_next_psn & RVT_PSN_MASK;
  attr->dest_qp_num = qp->remote_qpn;
  attr->qp_access_flags = qp->qp_access_flags;
  attr->cap = sizes(qp);
  attr->sq_draining = qp->s_draining ? 1 : 0;
  fill_path(qp, attr);
  fill_limits(qp, attr);
  fill_init(qp, init_attr);
  return 0;
}

}  // namespace hcasim::rvt
