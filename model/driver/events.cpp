// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the driver does with the adapter's events.
#include "driver/command.hpp"
#include "driver/cq_internal.hpp"
#include "driver/event_queue.hpp"
#include "driver/qp_internal.hpp"
#include "driver/raise_event.hpp"
#include "driver/srq_internal.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

void rvt_raise_qp_event(rvt_qp* qp, ib_event_type type) {
  raise_event(qp->ibqp, &EventElement::qp, type, qp->ibqp.qp_context);
}

namespace {

// The adapter has stopped the QP by itself; its receives are flushed at the event that follows.
void on_qp_error(rvt_qp* qp) {
  const SpinGuard receive(qp->r_lock);
  const SpinGuard send(qp->s_lock);
  rvt_enter_error(qp);
}

// A send of UC or UD failed: receiving goes on.
void on_send_error(rvt_qp* qp) {
  const SpinGuard send(qp->s_lock);
  if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) qp->state = IB_QPS_SQE;
}

void on_fatal(rvt_qp* qp) {
  rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
  rvt_raise_qp_event(qp, IB_EVENT_QP_FATAL);
}

void on_last_wqe(rvt_qp* qp) {
  if (qp->last_wqe_raised) return;
  qp->last_wqe_raised = true;
  rvt_raise_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

void on_comm_est(rvt_qp* qp) {
  // The QP may not be in RTR for the driver yet: the command that moved it is being answered.
  if (qp->state == IB_QPS_RESET || qp->state == IB_QPS_ERR) return;
  if ((qp->r_flags & RVT_R_COMM_EST) == 0) rvt_comm_est(qp);
}

bool handle_qp_event(rvt_qp* qp, const hw::Eqe& eqe) {
  switch (eqe.type) {
    case hw::EqeType::kQpError:
      on_qp_error(qp);
      return true;
    case hw::EqeType::kQpSendError:
      on_send_error(qp);
      return true;
    case hw::EqeType::kQpErrorDone:
      on_qp_error(qp);
      rvt_flush_rq(qp, eqe.value);
      return true;
    case hw::EqeType::kQpAccessError:
      rvt_raise_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
      return true;
    case hw::EqeType::kQpRequestError:
      rvt_raise_qp_event(qp, IB_EVENT_QP_REQ_ERR);
      return true;
    case hw::EqeType::kCommEst:
      on_comm_est(qp);
      return true;
    case hw::EqeType::kLastWqe:
      on_last_wqe(qp);
      return true;
    case hw::EqeType::kReceiveQueueError:
    case hw::EqeType::kSendQueueError:
      on_fatal(qp);
      return true;
    default:
      return false;
  }
}

bool handle_cq_event(rvt_cq* cq, const hw::Eqe& eqe) {
  if (eqe.type == hw::EqeType::kCompletion) {
    rvt_cq_notified(cq, eqe.value);
  } else {
    rvt_cq_overflowed(cq);
  }
  return true;
}

rvt_srq* find_srq(const rvt_dev_info* rdi, std::uint32_t srqn) {
  const std::uint32_t number = srqn & ~hw::bar::kSrqBit;
  return number < rdi->srqs.size() ? rdi->srqs[number] : nullptr;
}

bool handle_port_event(rvt_dev_info* rdi, const hw::Eqe& eqe) {
  if (eqe.number == 0 || eqe.number > rdi->ports.size()) return false;
  if (rdi->event_handler == nullptr) return true;
  ib_event event;
  event.device = &rdi->ibdev;
  event.event = eqe.value != 0 ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
  event.element.port_num = eqe.number;
  rdi->event_handler(&event, rdi->event_context);
  return true;
}

bool dispatch(rvt_dev_info* rdi, const hw::Eqe& eqe) {
  switch (eqe.type) {
    case hw::EqeType::kCommandDone:
      rdi->commands->done(eqe.value);
      return true;
    case hw::EqeType::kPortState:
      return handle_port_event(rdi, eqe);
    case hw::EqeType::kCompletion:
    case hw::EqeType::kCqError: {
      rvt_cq* cq = eqe.number < rdi->cqs.size() ? rdi->cqs[eqe.number] : nullptr;
      return cq != nullptr && handle_cq_event(cq, eqe);
    }
    default: {
      if ((eqe.number & hw::bar::kSrqBit) != 0) {
        rvt_srq* srq = find_srq(rdi, eqe.number);
        return srq != nullptr && rvt_handle_srq_event(srq, eqe);
      }
      if ((eqe.number & ~RVT_QPN_MASK) != 0) return false;
      rvt_qp* qp = rvt_find_qp(rdi, eqe.number);
      return qp != nullptr && handle_qp_event(qp, eqe);
    }
  }
}

}  // namespace

void rvt_handle_event(rvt_dev_info* rdi, const hw::Eqe& eqe) {
  if (!dispatch(rdi, eqe)) ++rdi->stats.stray_events;
}

}  // namespace hcasim::rvt
