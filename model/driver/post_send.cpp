// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Posting sends: checks, WQE, numbers, one doorbell for the whole list.
#include <array>
#include <cerrno>

#include "driver/no_memory.hpp"
#include "driver/qp_internal.hpp"
#include "driver/send_wqe.hpp"
#include "driver/trace.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::rvt {
namespace {

// Numbers that the request will have; they are taken after everything that may refuse it.
void number(const rvt_qp* qp, rvt_swqe* wqe, bool local) {
  if (local) {
    wqe->ssn = wqe->psn = wqe->lpsn = 0;
    return;
  }
  wqe->ssn = qp->s_ssn;
  wqe->psn = qp->s_next_psn;
  wqe->lpsn = wqe->psn + (wqe->length != 0 ? (wqe->length - 1) >> qp->log_pmtu : 0);
}

void take_numbers(rvt_qp* qp, const rvt_swqe& wqe, bool local) {
  if (local) return;
  ++qp->s_ssn;
  qp->s_next_psn = wqe.lpsn + 1;
}

void take_slot(rvt_qp* qp, rvt_swqe* wqe, bool reserved_op) {
  if (reserved_op) {
    wqe->send_flags |= RVT_SEND_RESERVE_USED;
    ++qp->s_reserved_used;
  } else {
    wqe->send_flags &= ~RVT_SEND_RESERVE_USED;
    --qp->s_avail;
  }
}

bool is_local(std::uint32_t flags) {
  return (flags & RVT_OPERATION_LOCAL) != 0;
}

void describe(rvt_swqe& wqe, const rvt_qp* qp, const ib_send_wr* wr, const SendWqe& built,
              std::uint32_t flags) {
  wqe.wr_id = wr->wr_id;
  wqe.length = built.length();
  wqe.send_flags = wr->send_flags;
  wqe.opcode = wr->opcode;
  wqe.num_sge = built.num_sge();
  number(qp, &wqe, is_local(flags));
}

void remember(rvt_qp* qp, const ib_send_wr* wr, const SendWqe& built, std::uint32_t flags) {
  rvt_swqe& wqe = qp->s_wq[qp->s_head];
  describe(wqe, qp, wr, built, flags);
  take_numbers(qp, wqe, is_local(flags));
  take_slot(qp, &wqe, (flags & RVT_OPERATION_USE_RESERVE) != 0);
  trace_post_one_wr(qp, qp->s_head, wr->num_sge);
  qp->s_head = rvt_next_slot(qp->s_head, qp->s_size);
}

// A local operation of a looped-back queue pair has been carried out, or the send engine will.
void remember_local(rvt_qp* qp, const ib_send_wr* wr, std::uint32_t slot, bool delayed) {
  if (!qp->looped || (wr->opcode != IB_WR_LOCAL_INV && wr->opcode != IB_WR_REG_MR)) return;
  if (delayed) {
    qp->s_wq[slot].send_flags &= ~RVT_SEND_COMPLETION_ONLY;
    ++qp->local_ops_pending;
  } else {
    qp->s_wq[slot].send_flags |= RVT_SEND_COMPLETION_ONLY;
  }
}

// What the adapter does with the region when it comes to this slot is known once it completes.
void remember_registration(rvt_qp* qp, const ib_send_wr* wr, std::uint32_t slot) {
  if (wr->opcode != IB_WR_REG_MR) return;
  qp->s_wq[slot].key = reg_wr(wr)->key;
  ++qp->s_reg_used;
  ++to_imr(reg_wr(wr)->mr)->mr.reg_posts;
}

// A LOCAL_INV that has to come after others is left to the send engine.
bool delayed(const rvt_qp* qp, const ib_send_wr* wr) {
  return qp->looped && wr->opcode == IB_WR_LOCAL_INV &&
         ((wr->send_flags & IB_SEND_FENCE) != 0 || qp->local_ops_pending != 0);
}

[[gnu::noinline]] int ask_driver(rvt_qp* qp, const ib_send_wr* wr, const SendWqe& built,
                                 std::uint32_t flags, bool* call_send) {
  rvt_swqe wqe;
  describe(wqe, qp, wr, built, flags);
  return qp->rdi->driver_f.setup_wqe(qp, &wqe, call_send);
}

int fill(SendWqe& wqe, rvt_qp* qp, const ib_send_wr* wr, std::uint32_t flags, bool* call_send) {
  int error = 0;
  if (!is_local(flags)) {
    error = rvt_is_datagram(qp) ? wqe.gather_datagram(qp, ud_wr(wr)) : wqe.gather(qp, wr);
    if (error != 0) return error;
    if (wqe.length() > 1u << qp->log_pmtu) *call_send = false;
  }
  if (qp->rdi->driver_f.setup_wqe != nullptr) {
    error = ask_driver(qp, wr, wqe, flags, call_send);
    if (error != 0) return error;
  }
  if (!is_local(flags)) return 0;
  // What a local operation does to the driver's books comes when nobody else can refuse it.
  return delayed(qp, wr) ? wqe.leave_local() : wqe.take_local(qp, wr);
}

bool num_sge_ok(const rvt_qp* qp, const ib_send_wr* wr) {
  return wr->num_sge >= 0 && static_cast<std::uint32_t>(wr->num_sge) <= qp->s_max_sge;
}

// The doorbell and the latest WQE in one store, from the ring, where it stays for who has to read
// it again. False when it does not fit.
[[gnu::noinline]] bool ring_with_wqe(const rvt_qp* qp) {
  constexpr std::uint32_t kWqe = hw::bar::kBlueFlameWqe;
  constexpr std::uint32_t kLine = hw::bar::kBlueFlameLine;
  hw::HostPort& port = *qp->rdi->port;
  const std::uint32_t slot = (qp->s_head == 0 ? qp->s_size : qp->s_head) - 1;
  const std::uint64_t address = qp->s_ring + std::uint64_t{slot} * qp->s_stride;
  hw::SendWqeControl control;
  port.read(address, &control, sizeof control);
  const std::uint64_t bytes = kWqe + hw::send_wqe_bytes(control, rvt_wqe_type(qp));
  if (bytes > hw::bar::kBlueFlameBytes) return false;
  std::array<std::uint8_t, hw::bar::kBlueFlameBytes> burst{};
  hw::store(burst.data(), hw::bar::doorbell(qp->ibqp.qp_num, qp->s_head));
  port.read(address, burst.data() + kWqe, bytes - kWqe);
  port.mmio_write_block(qp->rdi->uar + hw::bar::kBlueFlame,
                        {burst.data(), (bytes + kLine - 1) / kLine * kLine});
  return true;
}

inline void ring_for_sends(const rvt_qp* qp, int posted) {
  if (qp->rdi->dparms.blue_flame && posted == 1 && ring_with_wqe(qp)) return;
  qp->rdi->port->mmio_write64(qp->rdi->uar + hw::bar::kSendDoorbell,
                              hw::bar::doorbell(qp->ibqp.qp_num, qp->s_head));
}

}  // namespace

int rvt_post_one_wr(rvt_qp* qp, const ib_send_wr* wr, bool* call_send) {
  if (!num_sge_ok(qp, wr)) return -EINVAL;
  rvt_dev_info* rdi = qp->rdi;
  const int taken = rvt_qp_valid_operation(qp, rdi->post_parms, wr);
  if (taken < 0) return taken;
  const std::uint32_t flags = rdi->post_parms[wr->opcode].flags;
  const bool reserved_op = (flags & RVT_OPERATION_USE_RESERVE) != 0;
  int error = 0;
  if (reserved_op || qp->s_avail == 0) error = rvt_qp_is_avail(qp, rdi, reserved_op);
  // Most queue pairs of a large system never send.
  if (error == 0 && qp->s_wq.empty()) error = or_no_memory([&] { qp->s_wq.resize(qp->s_size); });
  if (error != 0) return error;
  SendWqe wqe;
  const bool later = delayed(qp, wr);
  error = fill(wqe, qp, wr, flags, call_send);
  if (error != 0) return error;
  const std::uint32_t slot = qp->s_head;
  wqe.store(qp, wr, slot);
  remember(qp, wr, wqe, flags);
  remember_registration(qp, wr, slot);
  remember_local(qp, wr, slot, later);
  return 0;
}

namespace {

// Posts in order until one is refused, which goes into `bad_wr`; s_hlock held.
int post_list(rvt_qp* qp, const ib_send_wr* wr, const ib_send_wr** bad_wr, bool* call_send,
              int* posted) {
  for (; wr != nullptr; wr = wr->next) {
    const int error = rvt_post_one_wr(qp, wr, call_send);
    if (error != 0) {
      *bad_wr = wr;
      return error;
    }
    ++*posted;
  }
  return 0;
}

// A short send alone on an idle queue is looped back before the post returns.
[[gnu::noinline]] void start_engine(rvt_qp* qp, bool alone) {
  const rvt_driver_provided& driver = qp->rdi->driver_f;
  (alone ? driver.do_send : driver.schedule_send_no_lock)(qp);
}

}  // namespace

int rvt_post_send(ib_qp* ibqp, const ib_send_wr* wr, const ib_send_wr** bad_wr) {
  const DataVerb verb("post_send");
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  bool call_send = false;
  int error = 0;
  int posted = 0;
  {
    const SpinGuard guard(qp->s_hlock);
    if ((ib_rvt_state_ops[qp->state] & RVT_POST_SEND_OK) == 0) {
      *bad_wr = wr;
      return -EINVAL;
    }
    call_send = qp->s_head == qp->s_last && wr != nullptr && wr->next == nullptr;
    error = post_list(qp, wr, bad_wr, &call_send, &posted);
    if (posted == 0) return error;
    qp->rdi->port->charge(posted * qp->rdi->dparms.costs.post_send);
    if (!qp->looped) ring_for_sends(qp, posted);
  }
  if (qp->looped) start_engine(qp, posted == 1 && call_send);
  return error;
}

// --- Keys in use
// ----------------------------------------------------------------------------------

bool rvt_swqe_has_lkey(rvt_qp* qp, std::uint32_t slot, std::uint32_t lkey) {
  const std::uint64_t address = qp->s_ring + std::uint64_t{slot} * qp->s_stride;
  hw::SendWqeControl control;
  qp->rdi->port->read(address, &control, sizeof control);
  const bool local =
      control.opcode == hw::WrOpcode::kRegMr || control.opcode == hw::WrOpcode::kLocalInv;
  if (local) return rvt_same_key_slot(control.imm_or_key, lkey);
  const std::uint64_t elements =
      address + hw::send_wqe_data_offset(control.opcode, rvt_wqe_type(qp));
  for (unsigned i = 0; i < control.num_sge; ++i) {
    hw::Sge sge;
    qp->rdi->port->read(elements + i * sizeof sge, &sge, sizeof sge);
    if (rvt_same_key_slot(sge.lkey, lkey)) return true;
  }
  return false;
}

bool rvt_qp_sends_has_lkey(rvt_qp* qp, std::uint32_t lkey) {
  rvt_cq_collect(ibcq_to_rvtcq(qp->ibqp.send_cq));
  for (std::uint32_t slot = qp->s_last; slot != qp->s_head;
       slot = rvt_next_slot(slot, qp->s_size)) {
    if (rvt_swqe_has_lkey(qp, slot, lkey)) return true;
  }
  return false;
}

bool rvt_qp_acks_has_lkey(rvt_qp* /*qp*/, std::uint32_t /*lkey*/) {
  return false;
}

namespace {

bool has_lkey(const rvt_sge& sge, std::uint32_t lkey) {
  return sge.mr != nullptr && rvt_same_key_slot(sge.lkey, lkey);
}

// Elements of a receive in hand that are still to be filled.
bool receive_has_lkey(const rvt_qp* qp, std::uint32_t lkey) {
  const rvt_sge_state& ss = qp->r_sge;
  if (ss.num_sge == 0) return false;
  bool found = has_lkey(ss.sge, lkey);
  for (unsigned i = 0; i + 1 < ss.num_sge; ++i) found = found || has_lkey(ss.sg_list[i], lkey);
  return found;
}

}  // namespace

void rvt_qp_mr_clean(rvt_qp* qp, std::uint32_t lkey) {
  if (qp->ibqp.qp_type == IB_QPT_SMI || qp->ibqp.qp_type == IB_QPT_GSI) return;
  if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET) return;
  if (receive_has_lkey(qp, lkey) || rvt_qp_sends_has_lkey(qp, lkey) ||
      rvt_qp_acks_has_lkey(qp, lkey)) {
    rvt_rc_error(qp, IB_WC_LOC_PROT_ERR);
  }
}

}  // namespace hcasim::rvt
