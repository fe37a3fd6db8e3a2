// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Taking completions: from the adapter's ring at once where the driver's own is empty.
#include <utility>

#include "driver/cq_internal.hpp"
#include "driver/mr_internal.hpp"
#include "driver/qp_internal.hpp"
#include "driver/trace.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

// Retires the send in `slot` and, as the adapter completes in order, all before it. What the
// completion needs is read first: the slots may be posted anew as soon as s_last has moved.
bool complete_swqe(rvt_qp* qp, std::uint32_t slot, ib_wc* wc) {
  const std::uint32_t size = qp->s_size;
  if (slot >= size) return false;
  const SpinGuard guard(qp->s_lock);
  const std::uint32_t pending = rvt_slots_between(qp->s_last, qp->s_head, size);
  if (rvt_slots_between(qp->s_last, slot, size) >= pending) return false;
  const rvt_swqe& wqe = qp->s_wq[slot];
  wc->wr_id = wqe.wr_id;
  wc->byte_len = wqe.length;
  wc->opcode = rvt_wc_opcode(wqe.opcode);
  const std::uint32_t end = rvt_next_slot(slot, size);
  if (qp->s_reserved_used != 0) {
    for (std::uint32_t i = qp->s_last; i != end; i = rvt_next_slot(i, size)) {
      if ((qp->s_wq[i].send_flags & RVT_SEND_RESERVE_USED) != 0) --qp->s_reserved_used;
    }
  }
  if (qp->s_reg_used != 0) rvt_retire_registrations(qp, end, wc->status == IB_WC_SUCCESS);
  trace_send_completions(qp, end);
  const bool reserved = (wqe.send_flags & RVT_SEND_RESERVE_USED) != 0;
  qp->s_last = end;
  return !reserved;
}

void fill_receive(const rvt_qp* qp, const hw::Cqe& cqe, ib_wc* wc) {
  wc->wr_id = cqe.wr_id;
  wc->opcode = static_cast<ib_wc_opcode>(cqe.opcode);
  wc->byte_len = cqe.byte_len;
  wc->src_qp = cqe.src_qp;
  wc->wc_flags = cqe.flags;
  wc->pkey_index = cqe.pkey_index;
  if ((cqe.flags & hw::kCqeWithImm) != 0) {
    wc->ex.imm_data = cpu_to_be32(cqe.imm_or_key);
  } else {
    wc->ex.invalidate_rkey = cqe.imm_or_key;
  }
  if ((cqe.flags & hw::kCqeWithInvalidate) != 0) rvt_peer_invalidated(qp, cqe.imm_or_key);
}

}  // namespace

bool rvt_translate_cqe(rvt_cq* cq, const hw::Cqe& cqe, ib_wc* wc) {
  rvt_qp* qp = rvt_find_qp(cq->rdi, cqe.qpn);
  if (qp == nullptr) {
    ++cq->rdi->stats.stray_completions;
    return false;
  }
  *wc = ib_wc{};
  wc->qp = &qp->ibqp;
  wc->status = static_cast<ib_wc_status>(cqe.status);
  wc->vendor_err = cqe.vendor_err;
  if ((static_cast<unsigned>(cqe.opcode) & IB_WC_RECV) != 0) {
    fill_receive(qp, cqe, wc);
    return true;
  }
  if (complete_swqe(qp, cqe.wqe_index, wc)) return true;
  ++cq->rdi->stats.stray_completions;
  return false;
}

void rvt_cq_publish(rvt_cq* cq) {
  const hw::ConsumerRecord record{cq->consumed, 0};
  cq->rdi->port->write(cq->record, &record, sizeof record);
}

namespace {

int poll_driver_ring(rvt_cq* cq, int num_entries, ib_wc* entry) {
  rvt_cq_collect(cq);
  const SpinGuard guard(cq->lock);
  int polled = 0;
  for (; polled < num_entries && cq->count != 0; ++polled) {
    const rvt_cq_entry& oldest = cq->queue[cq->first];
    entry[polled] = oldest.wc;
    if (oldest.from_adapter) ++cq->consumed;
    cq->first = rvt_next_slot(cq->first, static_cast<std::uint32_t>(cq->queue.size()));
    --cq->count;
  }
  return polled;
}

int poll_adapter_ring(rvt_cq* cq, int num_entries, ib_wc* entry) {
  hw::Cqe cqe;
  int polled = 0;
  while (polled < num_entries && rvt_cq_take(cq, &cqe)) {
    ++cq->consumed;
    if (!rvt_translate_cqe(cq, cqe, &entry[polled])) continue;
    trace_cq_enter(cq, entry[polled]);
    ++polled;
  }
  return polled;
}

}  // namespace

int rvt_poll_cq(ib_cq* ibcq, int num_entries, ib_wc* entry) {
  const DataVerb verb("poll_cq");
  // One section: a handler that polls between taking and publishing would turn the order round.
  const InterruptsOff off;
  rvt_cq* cq = ibcq_to_rvtcq(ibcq);
  const std::uint32_t before = cq->consumed;
  const int polled = cq->count != 0 || cq->cq_full ? poll_driver_ring(cq, num_entries, entry)
                                                   : poll_adapter_ring(cq, num_entries, entry);
  trace_cq_poll(cq, entry, polled);
  if (cq->consumed != before) rvt_cq_publish(cq);
  if (polled != 0) cq->rdi->port->charge(polled * cq->rdi->dparms.costs.poll_cqe);
  return polled;
}

namespace {

// True when a completion past the armed place is what the present arming waits for. Otherwise the
// event answers an earlier one, and the present one still stands.
bool answers(const rvt_cq* cq, std::uint32_t solicited) {
  if (cq->notify == RVT_CQ_NONE) return false;
  if (cq->notify == IB_CQ_SOLICITED) {
    return static_cast<std::int32_t>(solicited - cq->armed_at) > 0;
  }
  std::uint8_t owner = 0;
  const std::uint64_t slot = cq->ring + std::uint64_t{cq->index} * sizeof(hw::Cqe);
  cq->rdi->port->read(slot + sizeof(hw::Cqe) - 1, &owner, 1);
  return cq->seen != cq->armed_at || owner == cq->owner;
}

}  // namespace

void rvt_cq_notified(rvt_cq* cq, std::uint32_t solicited) {
  if (cq->resizing) {
    cq->notified_in_resize = true;
    cq->solicited_in_resize = solicited;
    return;
  }
  const bool answered = answers(cq, solicited);
  if (answered) cq->notify = RVT_CQ_NONE;
  // Else a completion of the driver was first.
  if (!std::exchange(cq->event_due, false) && !answered) return;
  ++cq->triggered;
  if (cq->ibcq.comp_handler != nullptr) cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

}  // namespace hcasim::rvt
