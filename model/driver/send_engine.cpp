// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// When the send engine of a looped-back queue pair runs, and how its sends end.
#include <utility>

#include "driver/loopback_internal.hpp"
#include "driver/mr_internal.hpp"
#include "driver/qp_internal.hpp"
#include "driver/trace.hpp"

namespace hcasim::rvt {
namespace {

// What is posted one by one is copied at the post, and its poster pays. Here nobody else does: the
// time passes before the copy is made and seen.
bool await_copy(rvt_qp* qp) {
  const bool sends = (ib_rvt_state_ops[qp->state] & RVT_PROCESS_NEXT_SEND_OK) != 0 &&
                     (qp->s_flags & (RVT_S_BUSY | RVT_S_ANY_WAIT)) == 0;
  if (!sends || qp->s_last == qp->s_head || qp->s_copy_paid) return false;
  const hw::Time takes = rvt_copy_time(qp->rdi, qp->s_wq[qp->s_last].length);
  if (takes == 0) return false;
  qp->s_copy_paid = true;
  rvt_run_send_engine_at(qp, qp->rdi->port->now() + takes);
  return true;
}

void run(void* device, std::uint64_t qpn) {
  auto* rdi = static_cast<rvt_dev_info*>(device);
  rvt_qp* qp = rvt_find_qp(rdi, static_cast<std::uint32_t>(qpn));
  if (qp == nullptr) return;
  qp->s_send_timer = 0;
  if (!await_copy(qp)) rdi->driver_f.do_send(qp);
}

void enter(rvt_qp* qp, ib_cq* cq, const ib_wc* wc, bool solicited) {
  if (rvt_cq_enter(ibcq_to_rvtcq(cq), *wc, solicited)) return;
  rvt_raise_last_wqe(qp, rvt_error_qp(qp, IB_WC_LOC_QP_OP_ERR));
}

}  // namespace

void rvt_do_send(rvt_qp* qp) {
  if (qp->looped) rvt_ruc_loopback(qp);
}

void rvt_schedule_send(rvt_qp* qp) {
  rvt_run_send_engine_at(qp, qp->rdi->port->now());
}

void rvt_run_send_engine_at(rvt_qp* qp, hw::Time when) {
  if (qp->s_send_timer != 0) return;
  qp->s_send_timer = qp->rdi->port->start_timer(when, {run, qp->rdi, qp->ibqp.qp_num});
}

void rvt_cancel_send_engine(rvt_qp* qp) {
  const std::uint64_t timer = std::exchange(qp->s_send_timer, 0);
  if (timer != 0) qp->rdi->port->cancel_timer(timer);
}

void rvt_send_cq(rvt_qp* qp, const ib_wc* wc, bool solicited) {
  enter(qp, qp->ibqp.send_cq, wc, solicited);
}

void rvt_recv_cq(rvt_qp* qp, const ib_wc* wc, bool solicited) {
  enter(qp, qp->ibqp.recv_cq, wc, solicited);
}

std::uint32_t rvt_qp_complete_swqe(rvt_qp* qp, rvt_swqe* wqe, ib_wc_opcode opcode,
                                   ib_wc_status status) {
  const bool reserved = (wqe->send_flags & RVT_SEND_RESERVE_USED) != 0;
  if (reserved) --qp->s_reserved_used;
  const bool wanted = (qp->s_flags & RVT_S_SIGNAL_REQ_WR) == 0 ||
                      (wqe->send_flags & IB_SEND_SIGNALED) != 0 || status != IB_WC_SUCCESS;
  ib_wc wc;
  wc.wr_id = wqe->wr_id;
  wc.status = status;
  wc.opcode = opcode;
  wc.qp = &qp->ibqp;
  wc.byte_len = wqe->length;
  const std::uint32_t last = rvt_next_slot(qp->s_last, qp->s_size);
  // The adapter has not heard of a REG_MR that the driver carries out.
  if (qp->s_reg_used != 0) rvt_retire_registrations(qp, last, false);
  qp->s_last = last;
  if (wanted && !reserved) rvt_send_cq(qp, &wc, status != IB_WC_SUCCESS);
  return last;
}

void rvt_send_complete(rvt_qp* qp, rvt_swqe* wqe, ib_wc_status status) {
  if ((ib_rvt_state_ops[qp->state] & RVT_PROCESS_OR_FLUSH_SEND) == 0) return;
  qp->s_copy_paid = false;
  trace_send_completions(qp, rvt_next_slot(qp->s_last, qp->s_size));
  rvt_qp_complete_swqe(qp, wqe, rvt_wc_opcode(wqe->opcode), status);
}

void rvt_clear_mr_refs(rvt_qp* qp, int clr_sends) {
  qp->r_aflags &= static_cast<std::uint8_t>(~RVT_R_REWIND_SGE);
  qp->r_sge = {};
  if (clr_sends == 0) return;
  rvt_forget_registrations(qp);
  qp->s_last = qp->s_head;
  qp->local_ops_pending = 0;
  qp->s_copy_paid = false;
}

void rvt_stop_loopback(rvt_qp* qp) {
  if (!qp->looped) return;
  rvt_stop_rc_timers(qp);
  rvt_stop_waiting_for_receive(qp);
  rvt_leave_takes(qp);
  qp->s_flags &= ~RVT_S_ANY_WAIT;
  rvt_cancel_send_engine(qp);
  rvt_del_timers_sync(qp);
}

void rvt_raise_last_wqe(rvt_qp* qp, int wanted) {
  if (wanted == 0 || qp->last_wqe_raised) return;
  qp->last_wqe_raised = true;
  rvt_raise_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

}  // namespace hcasim::rvt
