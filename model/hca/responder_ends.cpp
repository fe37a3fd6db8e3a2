// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Requests that cannot be carried out, and queue pairs that end.
#include <utility>

#include "hca/completion_unit.hpp"
#include "hca/core.hpp"
#include "hca/event_unit.hpp"
#include "hca/qp_control.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/responder.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

// The queue pair failed meanwhile, but this receive is spent. One that was reset is owed nothing.
void Responder::taken_too_late(QueuePair& qp, hw::rq::TakeStatus status, const TakenWqe& wqe) {
  const bool reset = qp.stop == Stop::kReset;
  if (status == hw::rq::TakeStatus::kOk) {
    if (reset) {
      core_.receive_queue->publish_tail(qp, wqe.slot);
    } else {
      complete_failed(qp, wqe, hw::WcStatus::kWrFlushErr);
    }
  }
  if (qp.srq != nullptr && !reset) core_.qp_control->queue_stopped(qp, 0);
}

// An own queue that fails takes its queue pair along. A shared one fails those that want something
// of it.
void Responder::queue_failed(QueuePair& qp) {
  drop_pending(qp);
  if (qp.srq == nullptr) return;
  if (qp.reliable()) {
    core_.response->nak(qp, qp.receive.expected_psn,
                        hw::nak_syndrome(hw::NakCode::kRemoteOperational));
  }
  core_.qp_control->fail(qp, hw::WcStatus::kLocQpOpErr);
}

void Responder::found_none(QueuePair& qp) {
  ++counters_.out_of_buffer;
  if (!qp.reliable()) {
    give_up(qp);
    drop_first_pending(qp);
    return run_pending(qp);
  }
  qp.receive.nak_sent = true;  // silence until this packet comes again
  core_.response->nak(qp, qp.receive.expected_psn, hw::rnr_syndrome(qp.context.min_rnr_timer));
  drop_pending(qp);
}

// A request that must not be carried out: NAK, and the queue pair is done for. A receive WQE in
// hand tells why; otherwise an event does.
Responder::Verdict Responder::refuse(QueuePair& qp, hw::NakCode code, hw::WcStatus in_hand) {
  if (!qp.reliable()) return refuse_unreliable(qp, code, in_hand);
  const bool told = qp.receive.rwqe != nullptr;
  if (code == hw::NakCode::kInvalidRequest) ++counters_.resp_remote_invalid_request;
  core_.response->nak(qp, qp.receive.expected_psn, hw::nak_syndrome(code));
  if (!told) {
    hw::Eqe eqe{};
    eqe.type = code == hw::NakCode::kRemoteAccess ? hw::EqeType::kQpAccessError
                                                  : hw::EqeType::kQpRequestError;
    eqe.number = qp.context.qpn;
    core_.event->raise(eqe);
  }
  core_.qp_control->fail(qp, in_hand);
  return Verdict::kDone;
}

void Responder::stop(QueuePair& qp, hw::WcStatus in_hand) {
  ReceiveState& receive = qp.receive;
  drop_pending(qp);
  receive.receiving = Receiving::kNothing;
  const bool vanishes = in_hand == hw::WcStatus::kSuccess;
  // A take from an own queue ends with the queue; that from an SRQ has to be waited for.
  if (vanishes && qp.srq == nullptr && receive.waiting == Waiting::kTake) {
    receive.waiting = Waiting::kNothing;
  }
  if (receive.waiting == Waiting::kTranslation) receive.waiting = Waiting::kNothing;
  if (receive.rwqe == nullptr) return;
  if (!vanishes) {
    complete_failed(qp, *receive.rwqe, in_hand);
  } else if (qp.srq != nullptr) {
    core_.receive_queue->publish_tail(qp, receive.rwqe->slot);
  }
  taken_.release(*std::exchange(receive.rwqe, nullptr));
}

void Responder::complete_failed(QueuePair& qp, const TakenWqe& wqe, hw::WcStatus status) {
  core_.receive_queue->publish_tail(qp, wqe.slot);
  hw::Cqe& cqe = core_.completion->complete_receive(qp, status, true, 0);
  cqe.wr_id = wqe.wr_id;
  cqe.wqe_index = wqe.slot;
  cqe.opcode = hw::WcOpcode::kRecv;
}

void Responder::release(QueuePair& qp) {
  drop_held(qp);
  core_.response->release(qp);
}

}  // namespace hcasim::hca
