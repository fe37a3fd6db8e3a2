// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/qp_control.hpp"

#include "hca/completion_unit.hpp"
#include "hca/event_unit.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/requester.hpp"
#include "hca/responder.hpp"
#include "hca/response_unit.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/wqe_fetch.hpp"

namespace hcasim::hca {

namespace {

// How often a queue pair that is stopping is looked at again.
constexpr std::uint64_t kQuietPollCycles = 64;

bool legal(hw::QpState from, hw::QpState to) {
  using S = hw::QpState;
  switch (to) {
    case S::kReset:
      return true;
    case S::kInit:
      return from == S::kReset || from == S::kInit;
    case S::kRtr:
      return from == S::kInit;
    case S::kRts:
      return from == S::kRtr || from == S::kRts || from == S::kSqd || from == S::kSqe;
    case S::kSqd:
      return from == S::kRts || from == S::kSqd;
    case S::kSqe:
      return false;
    case S::kErr:
      return from != S::kReset;
  }
  return false;
}

}  // namespace

bool QpControl::modify(QueuePair& qp, const hw::QpContext& context, std::uint32_t, bool& pending) {
  const hw::QpState from = qp.context.state;
  const hw::QpState to = context.state;
  pending = false;
  if (qp.stop == Stop::kReset || !legal(from, to)) return false;
  if (to == hw::QpState::kErr) {
    pending = true;
    if (qp.stop == Stop::kError) {  // already on its way: this command hears of the end
      qp.stop = Stop::kErrorByCommand;
    } else if (from == hw::QpState::kErr) {
      qp.stop = Stop::kErrorByCommand;
      finish_stop(qp);
    } else {
      silence(qp);
      enter_error(qp, hw::WcStatus::kWrFlushErr, Stop::kErrorByCommand);
    }
    return true;
  }
  if (to == hw::QpState::kReset) {
    pending = true;
    reset(qp);
    return true;
  }
  qp.set_context(context);
  if (from == hw::QpState::kInit && to == hw::QpState::kRtr) ready_to_receive(qp);
  if (from == hw::QpState::kRtr && to == hw::QpState::kRts) ready_to_send(qp);
  if (from == hw::QpState::kSqd && to == hw::QpState::kRts) {
    core_.wqe_fetch->request(qp);
    core_.scheduler->activate(qp);
  }
  if (core_.transport_observer != nullptr) {
    core_.transport_observer->on_qp_modified(qp.context, from, now());
  }
  return true;
}

void QpControl::ready_to_receive(QueuePair& qp) {
  qp.receive.expected_psn = qp.context.rq_psn & hw::kPsnMask;
  qp.rq_pd = qp.context.pd;
  if (qp.srq != nullptr) {
    qp.rq_pd = qp.srq->context.pd;
    qp.rq_number = qp.srq->rq_number;
  } else if (qp.context.rq_size != 0) {
    core_.receive_queue->init(qp);
  }
}

void QpControl::ready_to_send(QueuePair& qp) {
  SendState& send = qp.send;
  send.next_psn = send.unacked_psn = qp.context.sq_psn & hw::kPsnMask;
  send.retry = qp.context.retry_cnt;
  send.rnr_retry = qp.context.rnr_retry;
  send.unlimited_credit = !qp.reliable();
}

void QpControl::destroy(QueuePair& qp) {
  reset(qp);
}

// Normal processing stops where software takes a QP down (specification 10.3.1): a READ that is
// being answered breaks off. One that fails by itself still says so, behind its earlier answers.
void QpControl::silence(QueuePair& qp) {
  qp.receive.silent = true;
}

void QpControl::error_doorbell(QueuePair& qp) {
  if (qp.context.state == hw::QpState::kErr) return;
  silence(qp);
  enter_error(qp, hw::WcStatus::kWrFlushErr, Stop::kError);
}

void QpControl::fail_send(QueuePair& qp, hw::WcStatus status, std::uint8_t syndrome) {
  if (!qp.send.in_flight.empty()) core_.requester->finish_oldest(qp, status, syndrome);
  ++counters_.errors;
  const auto type = qp.reliable() ? hw::EqeType::kQpError : hw::EqeType::kQpSendError;
  report(type, qp.context.qpn, static_cast<std::uint32_t>(status));
  if (!qp.reliable()) return enter_send_error(qp);
  enter_error(qp, hw::WcStatus::kWrFlushErr, Stop::kError);
}

void QpControl::fail(QueuePair& qp, hw::WcStatus status) {
  if (qp.context.state == hw::QpState::kErr || qp.context.state == hw::QpState::kReset) return;
  ++counters_.errors;
  report(hw::EqeType::kQpError, qp.context.qpn, static_cast<std::uint32_t>(status));
  enter_error(qp, status, Stop::kError);
}

void QpControl::bad_send_doorbell(QueuePair& qp) {
  report(hw::EqeType::kSendQueueError, qp.context.qpn, 0);
  fail(qp, hw::WcStatus::kLocQpOpErr);
}

// Without answers an error of a send is nobody's but its own: receiving goes on.
void QpControl::enter_send_error(QueuePair& qp) {
  qp.context.state = hw::QpState::kSqe;
  core_.requester->drop_all(qp);
  flush_sends(qp);
}

void QpControl::enter_error(QueuePair& qp, hw::WcStatus in_hand, Stop reason) {
  const hw::QpState from = qp.context.state;
  if (from == hw::QpState::kErr || from == hw::QpState::kReset) return;
  qp.context.state = hw::QpState::kErr;
  qp.stop = reason;
  stop_traffic(qp, in_hand);
  flush_sends(qp);
  if (qp.receive.rq_ready) {
    core_.receive_queue->to_error(qp);
  } else if (qp.receive.waiting != Waiting::kTake) {
    queue_stopped(qp, 0);
  }  // else a take from the SRQ is under way: its answer stops the queue pair
}

void QpControl::reset(QueuePair& qp) {
  if (qp.stop == Stop::kReset) return;
  qp.context.state = hw::QpState::kReset;
  qp.stop = Stop::kReset;
  silence(qp);
  stop_traffic(qp, hw::WcStatus::kSuccess);
  if (qp.receive.rq_ready) {
    core_.receive_queue->invalidate(qp);
  } else {
    queue_stopped(qp, 0);
  }
}

// `in_hand`: status of a receive WQE in hand; success: it vanishes.
void QpControl::stop_traffic(QueuePair& qp, hw::WcStatus in_hand) {
  core_.requester->drop_all(qp);
  qp.send.timer_deadline = hw::kNever;
  qp.send.rnr_wait = false;
  core_.responder->stop(qp, in_hand);
}

void QpControl::flush_sends(QueuePair& qp) {
  SendState& send = qp.send;
  while (send.done.count < send.head.count) {
    const std::uint64_t message =
        core_.observer == nullptr ? 0 : core_.observer->message_of(qp.context.qpn, send.done.count);
    core_.completion->complete_send(qp, hw::WcStatus::kWrFlushErr, message).wqe_index =
        send.done.slot;
    send.done.advance(1, qp.context.sq_size);
  }
  send.send = send.fetch = send.done;
}

void QpControl::queue_stopped(QueuePair& qp, std::uint32_t tail) {
  qp.tail_at_stop = tail;
  if (qp.stop == Stop::kReset) return on_event(qp.context.qpn);
  if (qp.srq != nullptr) report(hw::EqeType::kLastWqe, qp.context.qpn, 0);
  finish_stop(qp);
}

bool QpControl::quiet(const QueuePair& qp) const {
  return qp.lookups == 0 && qp.send.fetches == 0 && qp.send.gathers == 0 &&
         qp.receive.gathers == 0 && qp.receive.waiting == Waiting::kNothing &&
         qp.receive.responses.empty();
}

void QpControl::on_event(std::uint64_t argument) {
  QueuePair* qp = core_.qp(static_cast<std::uint32_t>(argument));
  if (qp == nullptr || qp->stop != Stop::kReset) return;
  if (!quiet(*qp)) {
    schedule(core_.clock.edge_after(now()) + core_.clock.cycles(kQuietPollCycles), argument);
    return;
  }
  finish_stop(*qp);
}

void QpControl::finish_stop(QueuePair& qp) {
  const Stop reason = qp.stop;
  qp.stop = Stop::kNothing;
  if (reason == Stop::kError) {
    report(hw::EqeType::kQpErrorDone, qp.context.qpn, qp.tail_at_stop);
    return;
  }
  if (reason == Stop::kErrorByCommand) return core_.completion->call_behind(qp.context.qpn);
  if (reason == Stop::kReset) {
    const bool timer_pending = qp.send.timer_pending;
    const bool active = qp.send.active;
    const bool queued = qp.send.fetch_queued;
    const bool responding = qp.receive.respond_active;
    core_.responder->release(qp);
    qp.send = SendState{};
    qp.receive = ReceiveState{};
    qp.send.timer_pending = timer_pending;  // these still have an entry or an event elsewhere
    qp.send.active = active;
    qp.send.fetch_queued = queued;
    qp.receive.respond_active = responding;
    if (core_.transport_observer != nullptr) {
      core_.transport_observer->on_qp_reset(qp.context.qpn, now());
    }
  }
  listener_->qp_stopped(qp.context.qpn, qp.tail_at_stop);
}

void QpControl::completions_written(std::uint32_t qpn) {
  if (const QueuePair* qp = core_.qp(qpn)) listener_->qp_stopped(qpn, qp->tail_at_stop);
}

// Behind all completions made so far, so that whoever hears of it finds them in the rings.
void QpControl::report(hw::EqeType type, std::uint32_t number, std::uint32_t value) {
  hw::Eqe eqe{};
  eqe.type = type;
  eqe.number = number;
  eqe.value = value;
  core_.completion->event_behind(eqe);
}

}  // namespace hcasim::hca
