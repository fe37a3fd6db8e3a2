// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The ways down: error, flush, reset; and what a query tells.
#include <cerrno>
#include <utility>

#include "driver/command.hpp"
#include "driver/loopback_internal.hpp"
#include "driver/mr_internal.hpp"
#include "driver/qp_internal.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::rvt {

void rvt_init_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_type /*type*/) {
  qp->remote_qpn = 0;
  qp->qkey = 0;
  qp->qp_access_flags = 0;
  qp->s_flags &= RVT_S_SIGNAL_REQ_WR;
  qp->s_draining = false;
  qp->s_next_psn = 0;
  qp->r_psn = 0;
  qp->r_flags = 0;
  qp->r_aflags = 0;
  qp->r_sg_list = {};
  rvt_clear_mr_refs(qp, 1);
  qp->looped = false;
  qp->s_head = 0;
  qp->s_last = 0;
  qp->s_ssn = 1;
  qp->s_mig_state = IB_MIG_MIGRATED;
  qp->s_reserved_used = 0;
  qp->last_wqe_raised = false;
  if (qp->s_size != 0) qp->s_avail = qp->s_size - 1 - rdi->dparms.reserved_operations;
  // Unlike the reference a reset empties the receive queue, as the specification has it.
  qp->r_rq.head = 0;
  qp->r_rq.tail = 0;
  qp->r_rq.on_adapter = false;
  qp->r_rq.flushed = false;
  if (qp->r_rq.tail_record != 0) {
    const hw::TailRecord record{};
    rdi->port->write(qp->r_rq.tail_record, &record, sizeof record);
  }
}

bool rvt_enter_error(rvt_qp* qp) {
  if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET) return false;
  qp->state = IB_QPS_ERR;
  if (qp->rdi->driver_f.notify_error_qp != nullptr) qp->rdi->driver_f.notify_error_qp(qp);
  return true;
}

void rvt_notify_reset(rvt_qp* qp, ib_qp_state before) {
  if (before == IB_QPS_RESET || qp->rdi->driver_f.notify_qp_reset == nullptr) return;
  qp->rdi->driver_f.notify_qp_reset(qp);
}

void rvt_collect_qp_cqs(rvt_qp* qp) {
  if (qp->ibqp.send_cq != nullptr) rvt_cq_collect(ibcq_to_rvtcq(qp->ibqp.send_cq));
  if (qp->ibqp.recv_cq != nullptr) rvt_cq_collect(ibcq_to_rvtcq(qp->ibqp.recv_cq));
}

int _rvt_reset_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_type type) {
  int error = 0;
  const ib_qp_state before = qp->state;
  if (before != IB_QPS_RESET) {
    {
      const SpinGuard receive(qp->r_lock);
      const SpinGuard head(qp->s_hlock);
      const SpinGuard send(qp->s_lock);
      qp->state = IB_QPS_RESET;
    }
    rvt_stop_loopback(qp);
    rvt_remove_qp(rdi, qp);
    error = rdi->commands->send(
        {.opcode = hw::CommandOpcode::kModifyQp, .object = qp->ibqp.qp_num, .mask = IB_QP_STATE},
        rvt_qp_context(qp));
    // Completions from before the reset count, and need their slots.
    rvt_collect_qp_cqs(qp);
  }
  rvt_notify_reset(qp, before);
  rvt_init_qp(rdi, qp, type);
  return error;
}

int rvt_reset_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_type type) {
  if (!rdi->port->may_wait()) return -EDEADLK;
  const MutexGuard guard(qp->mutex, *rdi->port);
  return _rvt_reset_qp(rdi, qp, type);
}

namespace {

void complete_receive_in_hand(rvt_qp* qp, ib_wc_status status) {
  if ((qp->r_aflags & RVT_R_WRID_VALID) == 0) return;
  qp->r_aflags &= static_cast<std::uint8_t>(~RVT_R_WRID_VALID);
  ib_wc wc;
  wc.wr_id = qp->r_wr_id;
  wc.qp = &qp->ibqp;
  wc.opcode = IB_WC_RECV;
  wc.status = status;
  rvt_cq_enter(ibcq_to_rvtcq(qp->ibqp.recv_cq), wc, true);
}

// The adapter has no part in it.
int looped_to_error(rvt_qp* qp, ib_wc_status err) {
  rvt_stop_rc_timers(qp);
  qp->s_flags &= ~RVT_S_ANY_WAIT_SEND;
  rvt_stop_waiting_for_receive(qp);
  rvt_leave_takes(qp);
  rvt_cancel_send_engine(qp);  // it may be waiting for a copy that will not be made
  if (qp->s_last != qp->s_head) qp->rdi->driver_f.schedule_send(qp);
  rvt_clear_mr_refs(qp, 0);
  complete_receive_in_hand(qp, err);
  rvt_flush_rq(qp, qp->r_rq.tail);
  return qp->ibqp.srq != nullptr && qp->ibqp.event_handler != nullptr ? 1 : 0;
}

}  // namespace

int rvt_error_qp(rvt_qp* qp, ib_wc_status err) {
  const DataVerb verb("rvt_error_qp");
  if (!rvt_enter_error(qp)) return 0;
  if (qp->looped) return looped_to_error(qp, err);
  qp->rdi->port->mmio_write64(qp->rdi->uar + hw::bar::kQpErrorDoorbell,
                              hw::bar::doorbell(qp->ibqp.qp_num, 0));
  return 0;
}

void rvt_rc_error(rvt_qp* qp, ib_wc_status err) {
  if (qp->looped) {
    // It flushes, and a queue that overflows then raises an event, whose handler may post.
    rvt_raise_last_wqe(qp, rvt_error_qp(qp, err));
    return;
  }
  const SpinGuard receive(qp->r_lock);
  const SpinGuard send(qp->s_lock);
  rvt_error_qp(qp, err);
}

void rvt_flush_rq(rvt_qp* qp, std::uint32_t tail) {
  // What is posted from here on, be it by who is told of a completion, waits for its turn.
  const InterruptsOff off;
  rvt_rq& rq = qp->r_rq;
  if (qp->state != IB_QPS_ERR || rq.flushed || rq.size == 0) return;
  ib_wc wc;
  wc.qp = &qp->ibqp;
  wc.opcode = IB_WC_RECV;
  wc.status = IB_WC_WR_FLUSH_ERR;
  // A queue that the adapter never had is the driver's from its oldest slot on.
  if (std::exchange(rq.on_adapter, false)) rq.tail = tail < rq.size ? tail : 0;
  while (rq.tail != rq.head) {
    qp->rdi->port->read(rq.wq + std::uint64_t{rq.tail} * rq.stride, &wc.wr_id, sizeof wc.wr_id);
    rq.tail = rvt_next_slot(rq.tail, rq.size);
    rvt_cq_enter(ibcq_to_rvtcq(qp->ibqp.recv_cq), wc, true);
  }
  rq.flushed = true;
}

void rvt_comm_est(rvt_qp* qp) {
  qp->r_flags |= RVT_R_COMM_EST;
  rvt_raise_qp_event(qp, IB_EVENT_COMM_EST);
}

}  // namespace hcasim::rvt
