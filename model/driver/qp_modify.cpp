// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Changing the state of a queue pair: upwards the adapter goes first, downwards the driver does.
#include <cerrno>

#include "driver/command.hpp"
#include "driver/loopback_internal.hpp"
#include "driver/no_memory.hpp"
#include "driver/qp_internal.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/cqe.hpp"

namespace hcasim::rvt {
namespace {

struct Modify {
  ib_qp_attr& attr;
  std::uint32_t mask;
  ib_qp_state from;
  ib_qp_state to;
  ib_udata* udata;
};

bool driver_allows(rvt_qp* qp, const Modify& modify) {
  const auto check = qp->rdi->driver_f.check_modify_qp;
  return check == nullptr ||
         check(qp, &modify.attr, static_cast<int>(modify.mask), modify.udata) == 0;
}

void tell_driver(rvt_qp* qp, const Modify& modify) {
  const auto tell = qp->rdi->driver_f.modify_qp;
  if (tell != nullptr) tell(qp, &modify.attr, static_cast<int>(modify.mask), modify.udata);
}

int tell_adapter(rvt_qp* qp, const hw::QpContext& context, std::uint32_t mask,
                 std::uint64_t* output) {
  return qp->rdi->commands->send({.opcode = hw::CommandOpcode::kModifyQp,
                                  .object = qp->ibqp.qp_num,
                                  .mask = mask,
                                  .output = output},
                                 context);
}

// What the adapter has reported so far, for want of an answer.
std::uint32_t reported_tail(const rvt_qp* qp) {
  hw::TailRecord record{};
  if (qp->r_rq.tail_record != 0) {
    qp->rdi->port->read(qp->r_rq.tail_record, &record, sizeof record);
  }
  return record.tail;
}

// The adapter, for which it is in INIT, stays as it is.
int looped_to_error(rvt_qp* qp) {
  rvt_rc_error(qp, IB_WC_WR_FLUSH_ERR);
  return 0;
}

// Both queues stop; the caller gets its receives back before this returns, its sends later.
int to_error(rvt_qp* qp) {
  {
    const SpinGuard receive(qp->r_lock);
    const SpinGuard head(qp->s_hlock);
    const SpinGuard send(qp->s_lock);
    rvt_enter_error(qp);
  }
  std::uint64_t tail = 0;
  const int error = tell_adapter(qp, rvt_qp_context(qp), IB_QP_STATE, &tail);
  if (error != 0) tail = reported_tail(qp);
  rvt_flush_rq(qp, static_cast<std::uint32_t>(tail));
  return error;
}

void ring_missed_receives(rvt_qp* qp, std::uint32_t head_told) {
  if (qp->r_rq.size == 0 || qp->r_rq.head == head_told) return;
  qp->rdi->port->mmio_write64(qp->rdi->uar + hw::bar::kReceiveDoorbell,
                              hw::bar::doorbell(qp->ibqp.qp_num, qp->r_rq.head));
}

void migrate(rvt_qp* qp) {
  qp->remote_ah_attr = qp->alt_ah_attr;
  qp->port_num = qp->alt_ah_attr.port_num;
  qp->s_pkey_index = qp->s_alt_pkey_index;
}

void arrived(rvt_qp* qp, const Modify& modify) {
  const bool migrated = (modify.mask & IB_QP_PATH_MIG_STATE) != 0 &&
                        modify.attr.path_mig_state == IB_MIG_MIGRATED &&
                        qp->s_mig_state == IB_MIG_ARMED;
  rvt_commit_attributes(qp, modify.attr, modify.mask);
  if (migrated) migrate(qp);
  // An error event that came while the command was under way has the last word.
  if (qp->state == modify.from) qp->state = modify.to;
  tell_driver(qp, modify);
  if (modify.from == IB_QPS_RESET && modify.to == IB_QPS_INIT) rvt_insert_qp(qp->rdi, qp);
  if (migrated) rvt_raise_qp_event(qp, IB_EVENT_PATH_MIG);
}

bool begins_receiving(const Modify& modify) {
  return modify.to == IB_QPS_RTR && modify.from == IB_QPS_INIT;
}

// Room for the elements of a receive, and for each queue pair of an SRQ to wait for one.
int prepare_to_receive(rvt_qp* qp) {
  ib_srq* ibsrq = qp->ibqp.srq;
  rvt_srq* srq = ibsrq != nullptr ? ibsrq_to_rvtsrq(ibsrq) : nullptr;
  return or_no_memory([&] {
    if (srq != nullptr) srq->takes.waiting.reserve(static_cast<std::size_t>(ibsrq->usecnt));
    qp->r_sg_list.resize(srq != nullptr ? srq->rq.max_sge : qp->r_rq.max_sge);
  });
}

// From INIT on the driver alone has to do with it.
int move_looped(rvt_qp* qp, const Modify& modify) {
  if (begins_receiving(modify)) {
    const int error = prepare_to_receive(qp);
    if (error != 0) return error;
    qp->looped = true;
  }
  if (modify.to == IB_QPS_SQD) rvt_stop_waiting_for_receive(qp);
  arrived(qp, modify);
  if (modify.to == IB_QPS_RTS && qp->s_last != qp->s_head) qp->rdi->driver_f.schedule_send(qp);
  return 0;
}

int move(rvt_qp* qp, const Modify& modify) {
  if (qp->looped || (begins_receiving(modify) && rvt_leads_home(qp, modify.attr.ah_attr))) {
    return move_looped(qp, modify);
  }
  hw::QpContext context = rvt_qp_context(qp);
  context.state = static_cast<hw::QpState>(modify.to);
  rvt_overlay_context(context, modify.attr, modify.mask, qp->rdi);
  const bool starts_receiving = begins_receiving(modify);
  if (starts_receiving) {
    qp->r_flags &= static_cast<std::uint8_t>(~RVT_R_COMM_EST);
    qp->r_rq.on_adapter = true;
  }
  if (modify.to == IB_QPS_SQD && modify.from == IB_QPS_RTS) qp->state = IB_QPS_SQD;
  const int error = tell_adapter(qp, context, modify.mask, nullptr);
  if (error != 0) {
    if (starts_receiving) qp->r_rq.on_adapter = false;
    if (modify.to == IB_QPS_SQD && qp->state == IB_QPS_SQD) qp->state = modify.from;
    return error;
  }
  arrived(qp, modify);
  if (starts_receiving) ring_missed_receives(qp, context.rq_head);
  return 0;
}

int to_reset(rvt_qp* qp) {
  return qp->state == IB_QPS_RESET ? 0 : _rvt_reset_qp(qp->rdi, qp, qp->ibqp.qp_type);
}

int dispatch(rvt_qp* qp, const Modify& modify) {
  if (modify.to != IB_QPS_RESET && modify.to != IB_QPS_ERR) return move(qp, modify);
  int error = 0;
  if (modify.to == IB_QPS_RESET) {
    error = to_reset(qp);
  } else {
    error = qp->looped ? looped_to_error(qp) : to_error(qp);
  }
  if (error == 0) tell_driver(qp, modify);
  return error;
}

}  // namespace

int rvt_modify_qp(ib_qp* ibqp, ib_qp_attr* attr, int attr_mask, ib_udata* udata) {
  const auto mask = static_cast<std::uint32_t>(attr_mask);
  if ((mask & ~std::uint32_t{IB_QP_ATTR_STANDARD_BITS}) != 0) return -EOPNOTSUPP;
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  if (!qp->rdi->port->may_wait()) return -EDEADLK;  // before the state moves, or a mutex is wanted
  const MutexGuard guard(qp->mutex, *qp->rdi->port);
  const ib_qp_state from = (mask & IB_QP_CUR_STATE) != 0 ? attr->cur_qp_state : qp->state;
  const ib_qp_state to = (mask & IB_QP_STATE) != 0 ? attr->qp_state : from;
  if (!ib_modify_qp_is_ok(from, to, ibqp->qp_type, mask) || from != qp->state) return -EINVAL;
  const Modify modify{*attr, mask, from, to, udata};
  if (!driver_allows(qp, modify)) return -EINVAL;
  const int error = rvt_check_modify(qp, *attr, mask, to);
  return error != 0 ? error : dispatch(qp, modify);
}

}  // namespace hcasim::rvt
