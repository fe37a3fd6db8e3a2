// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The send engine of a looped-back RC or UC queue pair: whose turn it is, and what a verdict means
// for both ends. The responder's completions come before the sender's.
#include <utility>

#include "driver/loopback_internal.hpp"
#include "driver/qp_internal.hpp"

namespace hcasim::rvt {
namespace {

bool reliable(const rvt_qp* sqp) {
  return sqp->ibqp.qp_type == IB_QPT_RC;
}

bool compat(const rvt_qp* qp) {
  return qp->rdi->dparms.rdmavt_compat;
}

rvt_ibport& port_of(const rvt_qp* sqp) {
  return sqp->rdi->ports[sqp->port_num - 1];
}

void release_engine(rvt_qp* sqp) {
  sqp->s_flags &= ~RVT_S_BUSY;
}

bool claim_engine(rvt_qp* sqp) {
  const SpinGuard guard(sqp->s_lock);
  if ((sqp->s_flags & (RVT_S_BUSY | RVT_S_ANY_WAIT)) != 0) return false;
  if ((ib_rvt_state_ops[sqp->state] & RVT_PROCESS_OR_FLUSH_SEND) == 0) return false;
  sqp->s_flags |= RVT_S_BUSY;
  return true;
}

// The oldest send that may be carried out; those that cannot be any more are flushed.
rvt_swqe* next_send(rvt_qp* sqp) {
  while (sqp->s_last != sqp->s_head) {
    rvt_swqe* const wqe = &sqp->s_wq[sqp->s_last];
    const unsigned permits = ib_rvt_state_ops[sqp->state];
    if ((permits & RVT_PROCESS_NEXT_SEND_OK) != 0) return wqe;
    if ((permits & RVT_FLUSH_SEND) == 0) return nullptr;
    rvt_send_complete(sqp, wqe, IB_WC_WR_FLUSH_ERR);
  }
  return nullptr;
}

// A packet would find no queue pair, one that does not receive, or one of another service. The
// reference does not look at the responder's own peer.
bool takes_requests(const rvt_qp* qp, const rvt_qp* sqp) {
  if (qp == nullptr || !qp->looped) return false;
  if (!compat(sqp) && qp->remote_qpn != sqp->ibqp.qp_num) return false;
  return (ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK) != 0 &&
         qp->ibqp.qp_type == sqp->ibqp.qp_type;
}

// Whoever does not copy in the poster's stead has paid already.
class CopyPaid {
 public:
  explicit CopyPaid(rvt_qp* sqp)
      : rdi_(sqp->rdi), before_(std::exchange(rdi_->copy_paid, sqp->s_copy_paid)) {}
  ~CopyPaid() { rdi_->copy_paid = before_; }
  CopyPaid(const CopyPaid&) = delete;
  CopyPaid& operator=(const CopyPaid&) = delete;

 private:
  rvt_dev_info* rdi_;
  bool before_;
};

void complete_receive(LoopedSend& send) {
  rvt_qp* qp = send.qp;
  qp->r_sge = {};
  if ((qp->r_aflags & RVT_R_WRID_VALID) == 0) return;
  qp->r_aflags &= static_cast<std::uint8_t>(~RVT_R_WRID_VALID);
  ib_wc& wc = send.wc;
  wc.wr_id = qp->r_wr_id;
  wc.qp = &qp->ibqp;
  wc.byte_len = send.swqe->length;
  wc.src_qp = qp->remote_qpn;
  wc.port_num = 1;  // rdmavt's constant
  rvt_recv_cq(qp, &wc, (send.swqe->send_flags & IB_SEND_SOLICITED) != 0);
}

// An error that no receive reports is told by an event.
void fail_responder(rvt_qp* qp, ib_wc_status status, ib_event_type event) {
  const bool reported = (qp->r_aflags & RVT_R_WRID_VALID) != 0;
  rvt_rc_error(qp, status);
  if (!reported && !compat(qp)) rvt_raise_qp_event(qp, event);
}

// What a failed send does to the responder. @return status of the sender's completion
ib_wc_status refuse(LoopedSend& send, LoopVerdict verdict) {
  rvt_qp* qp = send.qp;
  switch (verdict) {
    case LoopVerdict::kTooLong:
      fail_responder(qp, compat(qp) ? IB_WC_LOC_QP_OP_ERR : IB_WC_LOC_LEN_ERR, IB_EVENT_QP_REQ_ERR);
      break;
    case LoopVerdict::kInvalid:
      fail_responder(qp, IB_WC_LOC_QP_OP_ERR, IB_EVENT_QP_REQ_ERR);
      break;
    case LoopVerdict::kAccess:
      fail_responder(qp, IB_WC_LOC_PROT_ERR, IB_EVENT_QP_ACCESS_ERR);
      return IB_WC_REM_ACCESS_ERR;
    case LoopVerdict::kRemoteFault:
      rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
      return IB_WC_REM_OP_ERR;
    case LoopVerdict::kLocalFault:
      return IB_WC_LOC_PROT_ERR;
    default:
      return IB_WC_LOC_QP_OP_ERR;
  }
  return reliable(send.sqp) ? IB_WC_REM_INV_REQ_ERR : IB_WC_SUCCESS;
}

// True when the engine may go on with the next send.
bool end_with(rvt_qp* sqp, rvt_swqe* wqe, ib_wc_status status) {
  rvt_send_complete(sqp, wqe, status);
  // rdmavt does not go on after a send of UC that has failed, until something makes it.
  if (!reliable(sqp)) return !compat(sqp);
  const int last = rvt_error_qp(sqp, IB_WC_WR_FLUSH_ERR);
  release_engine(sqp);
  rvt_raise_last_wqe(sqp, last);
  return false;
}

void succeed(rvt_qp* sqp, rvt_swqe* wqe) {
  ++port_of(sqp).n_loop_pkts;
  sqp->s_rnr_retry = sqp->s_rnr_retry_cnt;
  rvt_send_complete(sqp, wqe, IB_WC_SUCCESS);
}

bool not_ready(LoopedSend& send) {
  rvt_qp* sqp = send.sqp;
  if (!reliable(sqp)) {
    succeed(sqp, send.swqe);  // the message is lost
    return true;
  }
  constexpr std::uint8_t kForEver = 7;
  ++port_of(sqp).n_rnr_naks;
  if (sqp->s_rnr_retry == 0) return end_with(sqp, send.swqe, IB_WC_RNR_RETRY_EXC_ERR);
  if (sqp->s_rnr_retry_cnt < kForEver) --sqp->s_rnr_retry;
  rvt_add_rnr_timer(sqp, std::uint32_t{send.qp->r_min_rnr_timer} << RVT_AETH_CREDIT_SHIFT);
  return false;
}

// rdmavt lets a queue pair go on whose LOCAL_INV has failed.
bool local_fault(LoopedSend& send) {
  if (compat(send.sqp) && send.swqe->opcode == IB_WR_LOCAL_INV) {
    rvt_send_complete(send.sqp, send.swqe, IB_WC_LOC_PROT_ERR);
    return true;
  }
  return end_with(send.sqp, send.swqe, IB_WC_LOC_PROT_ERR);
}

bool conclude(LoopedSend& send, LoopVerdict verdict) {
  switch (verdict) {
    case LoopVerdict::kComplete:
      complete_receive(send);
      succeed(send.sqp, send.swqe);
      return true;
    case LoopVerdict::kAwaitReceive:
      send.sqp->s_flags |= RVT_S_WAIT_RWQE;
      return false;
    case LoopVerdict::kNotReady:
      return not_ready(send);
    case LoopVerdict::kLocalFault:
      return local_fault(send);
    default:
      return end_with(send.sqp, send.swqe, refuse(send, verdict));
  }
}

bool drop(rvt_qp* sqp, rvt_swqe* wqe) {
  ++port_of(sqp).n_pkt_drops;
  return end_with(sqp, wqe, reliable(sqp) ? IB_WC_RETRY_EXC_ERR : IB_WC_SUCCESS);
}

// True when the engine may go on with the next send.
bool carry_out(rvt_qp* sqp, rvt_qp* qp, rvt_swqe* wqe) {
  if (!takes_requests(qp, sqp)) return drop(sqp, wqe);
  const CopyPaid paid(sqp);
  LoopedSend send{.sqp = sqp, .qp = qp, .swqe = wqe, .s_sge = {}, .s_sg_list = {}, .wc = {}};
  return conclude(send, rvt_loop_operation(send));
}

bool takes_time(const rvt_qp* sqp) {
  return sqp->s_last != sqp->s_head &&
         rvt_copy_time(sqp->rdi, sqp->s_wq[sqp->s_last].length) != 0 &&
         (ib_rvt_state_ops[sqp->state] & RVT_PROCESS_NEXT_SEND_OK) != 0;
}

// One send. True when there may be another one to do now; otherwise the engine has stopped. Whoever
// fails the responder takes the receive in hand away, and who posts while the engine is busy leaves
// its send to it: so none of them may come before the end.
bool take_turn(rvt_qp* sqp, rvt_qp* qp) {
  const InterruptsOff section;
  rvt_swqe* const wqe = next_send(sqp);
  if (wqe != nullptr && carry_out(sqp, qp, wqe)) {
    if (!takes_time(sqp)) return true;
    sqp->rdi->driver_f.schedule_send(sqp);
  }
  release_engine(sqp);
  return false;
}

}  // namespace

bool rvt_leads_home(const rvt_qp* qp, const rdma_ah_attr& path) {
  const bool connected = qp->ibqp.qp_type == IB_QPT_RC || qp->ibqp.qp_type == IB_QPT_UC;
  return connected && !qp->rdi->dparms.loopback_on_wire && path.grh.dgid.raw == path.grh.sgid.raw &&
         path.grh.dgid.raw != ib_gid{}.raw;
}

void rvt_ruc_loopback(rvt_qp* sqp) {
  if (!claim_engine(sqp)) return;
  rvt_qp* const qp = rvt_lookup_qpn(sqp->rdi, sqp->port_num, sqp->remote_qpn);
  while (take_turn(sqp, qp)) {
  }
}

}  // namespace hcasim::rvt
