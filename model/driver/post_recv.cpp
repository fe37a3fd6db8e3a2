// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Posting receives: checks, ring, one doorbell for the whole list.
#include <cerrno>
#include <cstring>

#include "driver/qp_internal.hpp"
#include "driver/srq_internal.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::rvt {
namespace {

// The tail is read again only when the last one known leaves no room: it never goes back.
bool full(hw::HostPort& port, rvt_rq& rq) {
  const std::uint32_t next = rvt_next_slot(rq.head, rq.size);
  if (next != rq.tail) return false;
  if (!rq.on_adapter) return true;
  hw::TailRecord record;
  port.read(rq.tail_record, &record, sizeof record);
  rq.tail = record.tail < rq.size ? record.tail : 0;
  return next == rq.tail;
}

void store(hw::HostPort& port, rvt_rq& rq, const ib_recv_wr* wr) {
  alignas(16) std::uint8_t slot[sizeof(hw::ReceiveWqe) + hw::kMaxReceiveSge * sizeof(hw::Sge)];
  hw::ReceiveWqe header{};
  header.wr_id = wr->wr_id;
  header.num_sge = static_cast<std::uint8_t>(wr->num_sge);
  std::memcpy(slot, &header, sizeof header);
  std::uint32_t used = sizeof header;
  for (int i = 0; i < wr->num_sge; ++i) {
    const hw::Sge sge{wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey};
    std::memcpy(slot + used, &sge, sizeof sge);
    used += sizeof sge;
  }
  port.write(rq.wq + std::uint64_t{rq.head} * rq.stride, slot, used);
  rq.head = rvt_next_slot(rq.head, rq.size);
}

void complete_flushed(rvt_qp* qp, const ib_recv_wr* wr) {
  ib_wc wc;
  wc.qp = &qp->ibqp;
  wc.wr_id = wr->wr_id;
  wc.opcode = IB_WC_RECV;
  wc.status = IB_WC_WR_FLUSH_ERR;
  rvt_cq_enter(ibcq_to_rvtcq(qp->ibqp.recv_cq), wc, true);
}

int post_one(rvt_qp* qp, const ib_recv_wr* wr) {
  rvt_rq& rq = qp->r_rq;
  if (static_cast<std::uint32_t>(wr->num_sge) > rq.max_sge) return -EINVAL;
  {
    const SpinGuard guard(rq.p_lock);
    if (full(*qp->rdi->port, rq)) return -ENOMEM;
    if (!rq.flushed) {
      store(*qp->rdi->port, rq, wr);
      return 0;
    }
  }
  complete_flushed(qp, wr);
  return 0;
}

// Inside the section that reads the head: a handler that posts in between would ring first, and
// the adapter's head must not go back.
void ring(rvt_qp* qp) {
  const SpinGuard guard(qp->r_rq.p_lock);
  if (qp->looped || (ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK) == 0) return;
  qp->rdi->port->mmio_write64(qp->rdi->uar + hw::bar::kReceiveDoorbell,
                              hw::bar::doorbell(qp->ibqp.qp_num, qp->r_rq.head));
}

int post_one(rvt_srq* srq, const ib_recv_wr* wr) {
  rvt_rq& rq = srq->rq;
  if (static_cast<std::uint32_t>(wr->num_sge) > rq.max_sge) return -EINVAL;
  const SpinGuard guard(rq.p_lock);
  if (full(*srq->rdi->port, rq)) return -ENOMEM;
  store(*srq->rdi->port, rq, wr);
  return 0;
}

// Posts in order until one is refused, which goes into `bad_wr`.
template <typename Queue>
int post_list(Queue* queue, const ib_recv_wr* wr, const ib_recv_wr** bad_wr, int& posted) {
  for (; wr != nullptr; wr = wr->next) {
    const int error = post_one(queue, wr);
    if (error != 0) {
      *bad_wr = wr;
      return error;
    }
    ++posted;
  }
  return 0;
}

}  // namespace

int rvt_post_srq_recv(ib_srq* ibsrq, const ib_recv_wr* wr, const ib_recv_wr** bad_wr) {
  const DataVerb verb("post_srq_recv");
  rvt_srq* srq = ibsrq_to_rvtsrq(ibsrq);
  int posted = 0;
  const int error = post_list(srq, wr, bad_wr, posted);
  if (posted == 0) return error;
  srq->rdi->port->charge(posted * srq->rdi->dparms.costs.post_recv);
  const SpinGuard guard(srq->rq.p_lock);
  if (!srq->paused) rvt_ring_srq(srq);
  return error;
}

void rvt_ring_srq(rvt_srq* srq) {
  srq->rdi->port->mmio_write64(srq->rdi->uar + hw::bar::kReceiveDoorbell,
                               hw::bar::doorbell(srq->srqn, srq->rq.head));
}

int rvt_post_recv(ib_qp* ibqp, const ib_recv_wr* wr, const ib_recv_wr** bad_wr) {
  const DataVerb verb("post_recv");
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  if ((ib_rvt_state_ops[qp->state] & RVT_POST_RECV_OK) == 0 || qp->r_rq.size == 0) {
    *bad_wr = wr;
    return -EINVAL;
  }
  int posted = 0;
  const int error = post_list(qp, wr, bad_wr, posted);
  if (posted == 0) return error;
  qp->rdi->port->charge(posted * qp->rdi->dparms.costs.post_recv);
  ring(qp);
  return error;
}

}  // namespace hcasim::rvt
