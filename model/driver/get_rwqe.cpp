// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The next receive of a queue pair that is looped back: from its own ring, or from the adapter,
// which hands out those of an SRQ.
#include <algorithm>
#include <array>
#include <cstring>

#include "driver/loopback_internal.hpp"
#include "driver/qp_internal.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"

namespace hcasim::rvt {
namespace {

void read_rwqe(hw::HostPort& port, std::uint64_t address, rvt_rwqe* to) {
  std::array<std::uint8_t, sizeof(hw::ReceiveWqe)> head;
  port.read(address, head.data(), head.size());
  const auto wqe = hw::load<hw::ReceiveWqe>(head.data());
  to->wr_id = wqe.wr_id;
  to->num_sge = std::min<std::uint8_t>(wqe.num_sge, hw::kMaxReceiveSge);
  static_assert(sizeof(ib_sge) == sizeof(hw::Sge));
  if (to->num_sge == 0) return;
  port.read(address + sizeof wqe, to->sg_list.data(), to->num_sge * sizeof(ib_sge));
}

// How many are posted follows from the indices each time: no count can be stale.
bool take_from_ring(rvt_qp* qp, rvt_rwqe* rwqe) {
  rvt_rq& rq = qp->r_rq;
  const SpinGuard guard(rq.p_lock);
  const std::uint32_t head = get_rvt_head(&rq, nullptr);
  if (rq.size == 0 || head == rq.tail) return false;
  read_rwqe(*qp->rdi->port, rq.wq + std::uint64_t{rq.tail} * rq.stride, rwqe);
  rq.tail = rvt_next_slot(rq.tail, rq.size);
  return true;
}

// --- Receives of an SRQ
// ---------------------------------------------------------------------------

void ask_adapter(rvt_srq* srq) {
  rvt_srq_takes& takes = srq->takes;
  if (takes.under_way || takes.granted || takes.waiting.empty()) return;
  takes.under_way = true;
  takes.asked_for = takes.waiting.front();
  takes.tag = (takes.tag + 1) & hw::bar::kNumberMask;
  srq->rdi->port->mmio_write64(srq->rdi->uar + hw::bar::kTakeDoorbell,
                               hw::bar::doorbell(srq->srqn, takes.tag));
}

int use_grant(rvt_qp* qp, rvt_srq* srq, rvt_rwqe* rwqe) {
  read_rwqe(*qp->rdi->port, srq->takes.record, rwqe);
  srq->takes.granted = false;
  qp->r_take = rvt_take::kNone;
  ask_adapter(srq);
  return 1;
}

int take_from_srq(rvt_qp* qp, rvt_rwqe* rwqe) {
  const InterruptsOff off;  // the answer of the adapter comes in a handler
  rvt_srq* srq = ibsrq_to_rvtsrq(qp->ibqp.srq);
  switch (qp->r_take) {
    case rvt_take::kGranted:
      return use_grant(qp, srq, rwqe);
    case rvt_take::kEmpty:
      qp->r_take = rvt_take::kNone;
      return 0;
    case rvt_take::kFailed:
      qp->r_take = rvt_take::kNone;
      return -1;
    case rvt_take::kWaiting:
      return 0;
    case rvt_take::kNone:
      break;
  }
  if (srq->takes.granted && srq->takes.owner == 0) return use_grant(qp, srq, rwqe);
  qp->r_take = rvt_take::kWaiting;
  srq->takes.waiting.push_back(qp->ibqp.qp_num);
  ask_adapter(srq);
  return 0;
}

void wake_if_waiting(rvt_qp* sqp) {
  if ((sqp->s_flags & RVT_S_WAIT_RWQE) == 0) return;
  sqp->s_flags &= ~RVT_S_WAIT_RWQE;
  sqp->rdi->driver_f.schedule_send(sqp);
}

void wake_sender_to(rvt_qp* sqp, std::uint64_t qpn) {
  if (sqp->looped && sqp->remote_qpn == qpn) wake_if_waiting(sqp);
}

// Without the check of the peer's number there may be several.
void wake_senders_to(rvt_qp* qp) {
  if (qp->rdi->dparms.rdmavt_compat) {
    rvt_qp_iter(qp->rdi, qp->ibqp.qp_num, wake_sender_to);
    return;
  }
  rvt_qp* sqp = rvt_lookup_qpn(qp->rdi, qp->port_num, qp->remote_qpn);
  if (sqp != nullptr) wake_sender_to(sqp, qp->ibqp.qp_num);
}

void answer(rvt_qp* qp, rvt_take how) {
  qp->r_take = how;
  wake_senders_to(qp);
}

rvt_qp* next_waiting(rvt_srq* srq) {
  auto& waiting = srq->takes.waiting;
  if (waiting.empty()) return nullptr;
  rvt_qp* qp = rvt_find_qp(srq->rdi, waiting.front());
  waiting.erase(waiting.begin());
  return qp;
}

// To who waits longest; with nobody there it is kept for who comes first.
void hand_over_grant(rvt_srq* srq) {
  rvt_qp* qp = next_waiting(srq);
  srq->takes.owner = qp == nullptr ? 0 : qp->ibqp.qp_num;
  if (qp != nullptr) answer(qp, rvt_take::kGranted);
}

// A refusal is nobody's but that of whom it was asked for: what others asked later, more may be
// posted for.
void refuse(rvt_srq* srq, rvt_take how) {
  const auto& waiting = srq->takes.waiting;
  const bool same = !waiting.empty() && waiting.front() == srq->takes.asked_for;
  rvt_qp* qp = same ? next_waiting(srq) : nullptr;
  if (qp != nullptr) answer(qp, how);
  ask_adapter(srq);
}

}  // namespace

std::uint32_t get_rvt_head(rvt_rq* rq, void* /*ip*/) {
  return rq->head;
}

int init_sge(rvt_qp* qp, const rvt_rwqe* wqe) {
  ib_pd* pd = qp->ibqp.srq != nullptr ? qp->ibqp.srq->pd : qp->ibqp.pd;
  rvt_sge_state& ss = qp->r_sge;
  ss = {};
  ss.sg_list = qp->r_sg_list.data();
  for (unsigned i = 0; i < wqe->num_sge; ++i) {
    const ib_sge& sge = wqe->sg_list[i];
    if (sge.length == 0) continue;
    rvt_sge* to = ss.num_sge == 0 ? &ss.sge : &qp->r_sg_list[ss.num_sge - 1u];
    if (rvt_lkey_ok(&qp->rdi->lkey_table, ibpd_to_rvtpd(pd), to, nullptr, &sge,
                    IB_ACCESS_LOCAL_WRITE) < 0) {
      ss = {};
      ib_wc wc;
      wc.wr_id = wqe->wr_id;
      wc.status = IB_WC_LOC_PROT_ERR;
      wc.opcode = IB_WC_RECV;
      wc.qp = &qp->ibqp;
      rvt_cq_enter(ibcq_to_rvtcq(qp->ibqp.recv_cq), wc, true);
      return 0;
    }
    ss.total_len += sge.length;
    ++ss.num_sge;
  }
  qp->r_len = ss.total_len;
  return 1;
}

int rvt_get_rwqe(rvt_qp* qp, bool wr_id_only) {
  const DataVerb verb("rvt_get_rwqe");
  // Who fails the queue pair in the middle would not find the receive, neither posted nor in hand.
  const InterruptsOff off;
  if ((ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK) == 0) return 0;
  rvt_rwqe rwqe;
  const int taken = qp->ibqp.srq != nullptr ? take_from_srq(qp, &rwqe)
                                            : static_cast<int>(take_from_ring(qp, &rwqe));
  if (taken != 1) return taken;
  if (!wr_id_only && init_sge(qp, &rwqe) == 0) return -1;
  qp->r_wr_id = rwqe.wr_id;
  qp->r_aflags |= RVT_R_WRID_VALID;
  return 1;
}

void rvt_leave_takes(rvt_qp* qp) {
  if (qp->ibqp.srq == nullptr || qp->r_take == rvt_take::kNone) return;
  rvt_srq* srq = ibsrq_to_rvtsrq(qp->ibqp.srq);
  std::erase(srq->takes.waiting, qp->ibqp.qp_num);
  if (srq->takes.asked_for == qp->ibqp.qp_num) srq->takes.asked_for = 0;
  const bool had_grant = qp->r_take == rvt_take::kGranted;
  answer(qp, rvt_take::kNone);
  if (had_grant) hand_over_grant(srq);
}

void rvt_stop_waiting_for_receive(rvt_qp* sqp) {
  rvt_qp* qp = rvt_lookup_qpn(sqp->rdi, sqp->port_num, sqp->remote_qpn);
  const bool points_back =
      sqp->rdi->dparms.rdmavt_compat || (qp != nullptr && qp->remote_qpn == sqp->ibqp.qp_num);
  if (qp != nullptr && qp->looped && points_back) rvt_leave_takes(qp);
  sqp->s_flags &= ~RVT_S_WAIT_RWQE;
}

bool rvt_take_answered(rvt_srq* srq, const hw::Eqe& eqe) {
  rvt_srq_takes& takes = srq->takes;
  constexpr unsigned kStatusBits = 8;
  if (!takes.under_way || eqe.value >> kStatusBits != takes.tag) return false;
  takes.under_way = false;
  switch (static_cast<hw::rq::TakeStatus>(eqe.value & ((1u << kStatusBits) - 1))) {
    case hw::rq::TakeStatus::kOk:
      takes.granted = true;
      hand_over_grant(srq);
      break;
    case hw::rq::TakeStatus::kEmpty:
      refuse(srq, rvt_take::kEmpty);
      break;
    default:
      refuse(srq, rvt_take::kFailed);
      break;
  }
  return true;
}

}  // namespace hcasim::rvt
