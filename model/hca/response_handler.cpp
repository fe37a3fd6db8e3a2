// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/response_handler.hpp"

#include <algorithm>
#include <utility>

#include "hca/qp_control.hpp"
#include "hca/responder.hpp"
#include "hca/send_opcodes.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/wqe_fetch.hpp"
#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::hca {

namespace {
// Event arguments: which clock, and the QPN.
constexpr std::uint64_t kAckTimer = 0;
constexpr std::uint64_t kRnrTimer = std::uint64_t{1} << 32;

// 4.096 us * 2^exponent (InfiniBand specification 9.7.6.1.3).
constexpr hw::Time kTimeoutUnit = 4'096 * hw::kNanosecond;

RequesterPlace place_of(const QueuePair& qp) {
  return {.qpn = qp.context.qpn,
          .unacked_psn = qp.send.unacked_psn,
          .next_psn = qp.send.next_psn,
          .expected_psn = qp.receive.expected_psn,
          .rnr_wait = qp.send.rnr_wait,
          .timer = qp.send.timer_deadline != hw::kNever,
          .unlimited_credit = qp.send.unlimited_credit};
}
}  // namespace

ResponseHandler::ResponseHandler(Core& core) : Unit(core.engine, "requester_timer"), core_(core) {}

bool ResponseHandler::on_response(QueuePair& qp, const fabric::Packet& packet, bool fetched) {
  if (qp.context.state != hw::QpState::kRts && qp.context.state != hw::QpState::kSqd) return true;
  const std::int32_t ahead = hw::psn_distance(qp.send.next_psn, packet.psn);
  const std::int32_t behind = hw::psn_distance(packet.psn, qp.send.unacked_psn);
  if ((ahead >= 0 && !qp.repeats(packet.psn)) || behind > 1) {
    ++counters_.ghost_acks;
    return true;
  }
  if (packet.info().operation != hw::Operation::kAcknowledge) return on_data(qp, packet, fetched);
  on_acknowledge(qp, packet);
  return true;
}

inline void ResponseHandler::on_acknowledge(QueuePair& qp, const fabric::Packet& packet) {
  const hw::SyndromeKind kind = hw::syndrome_kind(packet.aeth.syndrome);
  // A repeated ACK may bring credits; any other answer to what is done has no meaning.
  if (kind != hw::SyndromeKind::kAck && hw::psn_before(packet.psn, qp.send.unacked_psn)) {
    ++counters_.ghost_acks;
    return;
  }
  switch (kind) {
    case hw::SyndromeKind::kAck:
      take_credit(qp, packet);
      if (acknowledge_before(qp, hw::psn_add(packet.psn, 1))) core_.scheduler->activate(qp);
      return;
    case hw::SyndromeKind::kRnrNak:
      return on_rnr(qp, packet);
    case hw::SyndromeKind::kNak:
      return on_nak(qp, packet);
    case hw::SyndromeKind::kReserved:
      ++counters_.ghost_acks;
  }
}

inline void ResponseHandler::take_credit(QueuePair& qp, const fabric::Packet& packet) {
  SendState& send = qp.send;
  const std::uint8_t code = hw::syndrome_value(packet.aeth.syndrome);
  if (code == hw::kNoCredits) {
    send.unlimited_credit = true;
    return;
  }
  const std::uint32_t limit = (packet.aeth.msn + hw::credits_of(code)) & hw::kPsnMask;
  if (hw::psn_distance(send.lsn, limit) > 0) send.lsn = limit;
}

// All packets before `psn` arrived at the peer. False when that ended in a retransmission or in an
// error, so that the caller has nothing more to do.
bool ResponseHandler::acknowledge_before(QueuePair& qp, std::uint32_t psn) {
  SendState& send = qp.send;
  if (hw::psn_distance(send.unacked_psn, psn) <= 0) return true;
  while (!send.in_flight.empty()) {
    InFlight& node = *send.in_flight.first;
    if (hw::psn_distance(node.last_psn, psn) <= 0) break;
    if (node.status != hw::WcStatus::kSuccess) break;
    if (hw::needs_response(node.opcode)) {  // its answer was lost on the way
      const std::uint32_t missing = hw::psn_add(node.first_psn, node.received >> qp.mtu_shift());
      if (missing != send.unacked_psn) advance(qp, missing);
      if (!qp.flushes()) response_lost(qp, missing);
      return false;
    }
    core_.stamp(node.tag, Stamp::kAcknowledged, now());
    core_.requester->finish_oldest(qp, hw::WcStatus::kSuccess, 0);
  }
  // A READ that is being answered keeps its own place.
  const bool reading = !send.in_flight.empty() && hw::needs_response(send.in_flight.first->opcode);
  if (reading) {
    const InFlight& node = *send.in_flight.first;
    psn = std::min(psn, hw::psn_add(node.first_psn, node.received >> qp.mtu_shift()),
                   [](auto a, auto b) { return hw::psn_before(a, b); });
  }
  advance(qp, psn);
  return !qp.flushes();
}

// The oldest PSN without answer is this one now.
inline void ResponseHandler::advance(QueuePair& qp, std::uint32_t psn) {
  qp.send.unacked_psn = psn;
  core_.requester->skip_to(qp, psn);
  progress(qp);
}

inline void ResponseHandler::progress(QueuePair& qp) {
  qp.send.retry = qp.context.retry_cnt;
  qp.send.rnr_retry = qp.context.rnr_retry;
  restart_timer(qp);
  core_.requester->settle(qp);
}

void ResponseHandler::on_nak(QueuePair& qp, const fabric::Packet& packet) {
  if (!acknowledge_before(qp, packet.psn)) return;
  hw::WcStatus status = hw::WcStatus::kRemOpErr;
  switch (static_cast<hw::NakCode>(packet.aeth.syndrome)) {
    case hw::NakCode::kPsnSequence:
      ++counters_.packet_seq_err;
      return retry_from(qp, packet.psn);
    case hw::NakCode::kInvalidRequest:
      ++counters_.req_remote_invalid_request;
      status = hw::WcStatus::kRemInvReqErr;
      break;
    case hw::NakCode::kRemoteAccess:
      ++counters_.req_remote_access_errors;
      status = hw::WcStatus::kRemAccessErr;
      break;
    default:
      ++counters_.req_remote_op_errors;
      break;
  }
  core_.qp_control->fail_send(qp, status, packet.aeth.syndrome);
}

// After an RNR NAK nothing of this queue pair is sent before the responder's time is over; the ACK
// timer is off meanwhile, and a second NAK for the same packet changes nothing. Where the NAK shows
// that the response to an earlier READ was lost, that is asked for again first, after the wait.
void ResponseHandler::on_rnr(QueuePair& qp, const fabric::Packet& packet) {
  ++counters_.rnr_naks;
  SendState& send = qp.send;
  if (send.rnr_wait) return;
  const bool oldest = acknowledge_before(qp, packet.psn);
  if (qp.flushes() || send.in_flight.empty()) return;
  // What takes no receive neither runs out of retries nor uses them up.
  if (oldest && hw::takes_receive(send.in_flight.first->opcode)) {
    if (send.rnr_retry == 0) {
      ++counters_.req_rnr_retries_exceeded;
      return core_.qp_control->fail_send(qp, hw::WcStatus::kRnrRetryExcErr, packet.aeth.syndrome);
    }
    if (qp.context.rnr_retry != 7) --send.rnr_retry;
  }
  core_.requester->rewind(qp, send.unacked_psn);
  ++counters_.rnr_nak_retry_err;
  send.rnr_wait = true;
  send.timer_deadline = hw::kNever;
  const hw::Time wait = hw::rnr_timer(hw::syndrome_value(packet.aeth.syndrome));
  send.rnr_until = now() + wait;
  if (core_.timer_observer != nullptr) {
    core_.timer_observer->rnr_wait_began(place_of(qp), wait, now());
  }
  schedule(send.rnr_until, kRnrTimer | qp.context.qpn);
}

void ResponseHandler::rnr_over(QueuePair& qp) {
  if (!qp.send.rnr_wait || now() < qp.send.rnr_until) return;
  qp.send.rnr_wait = false;
  if (core_.timer_observer != nullptr) core_.timer_observer->rnr_wait_over(place_of(qp), now());
  core_.wqe_fetch->request(qp);
  core_.scheduler->activate(qp);
}

// False when it is to be given again.
bool ResponseHandler::on_data(QueuePair& qp, const fabric::Packet& packet, bool fetched) {
  SendState& send = qp.send;
  const bool atomic = packet.info().operation == hw::Operation::kAtomicAcknowledge;
  if (packet.info().headers & hw::kHasAeth) {
    if (hw::syndrome_kind(packet.aeth.syndrome) == hw::SyndromeKind::kAck) take_credit(qp, packet);
  }
  // Everything before the request that this answers has arrived.
  const InFlight* answered = send.in_flight.first;
  while (answered != nullptr && hw::psn_before(answered->last_psn, packet.psn)) {
    answered = answered->next;
  }
  if (answered == nullptr) return true;
  if (!acknowledge_before(qp, answered->first_psn)) return true;
  if (send.in_flight.empty()) return true;
  InFlight& node = *send.in_flight.first;
  if (!hw::needs_response(node.opcode) || hw::is_atomic(node.opcode) != atomic) {
    ++counters_.ghost_acks;
    return true;
  }
  const std::uint32_t expected = hw::psn_add(node.first_psn, node.received >> qp.mtu_shift());
  const std::int32_t gap = hw::psn_distance(expected, packet.psn);
  if (gap < 0) return true;  // seen before
  if (gap > 0) {
    response_lost(qp, expected);
    return true;
  }
  send.response_lost = false;
  const Scatter scattered = scatter(qp, node, packet, fetched);
  if (scattered == Scatter::kWait) return false;
  if (scattered == Scatter::kFailed) {
    core_.qp_control->fail_send(qp, hw::WcStatus::kLocProtErr, 0);
    return true;
  }
  const bool complete = packet.info().ends;
  if (complete) {
    core_.stamp(node.tag, Stamp::kAcknowledged, now());
    core_.requester->finish_oldest(qp, hw::WcStatus::kSuccess, 0);
    core_.scheduler->activate(qp);
  }
  advance(qp, hw::psn_add(packet.psn, 1));
  return true;
}

ResponseHandler::Scatter ResponseHandler::scatter(QueuePair& qp, InFlight& node,
                                                  const fabric::Packet& packet, bool fetched) {
  const ScatterList& list = *node.copy;
  const auto* sges = reinterpret_cast<const std::uint8_t*>(list.sges.data());
  std::uint64_t original = packet.atomic_ack.original;
  const bool atomic = hw::is_atomic(node.opcode);
  const auto* data =
      atomic ? reinterpret_cast<const std::uint8_t*>(&original) : packet.payload().data();
  const auto bytes = atomic ? std::min<std::uint32_t>(8, node.length)
                            : static_cast<std::uint32_t>(packet.payload_size());
  const bool last = packet.info().ends;
  if (!atomic && last != (node.received + bytes == node.length)) return Scatter::kFailed;
  GatherPlan plan;
  if (!plan_gather(core_.contexts.memory, fetched ? nullptr : &core_.caches.translation,
                   qp.context.pd, sges, list.count, node.received, bytes, plan, hw::kLocalWrite)) {
    return Scatter::kFailed;
  }
  if (!plan.missing.empty()) {
    core_.responder->fetch_for_answer(qp, plan.missing);
    return Scatter::kWait;
  }
  hw::Time visible = now();
  plan.for_each([&](std::uint64_t address, std::uint32_t length) {
    visible = core_.dma.write(address, data, length);
    data += length;
  });
  if (plan.count != 0) core_.responder->delivered(bytes, visible);
  node.received += bytes;
  if (last) core_.stamp(node.tag, Stamp::kDataVisible, visible);
  return Scatter::kDone;
}

// Asks for it again, once: the answers to what was sent before are still coming in, and each of
// them shows the same loss. Should it be lost again, the timer finds out.
void ResponseHandler::response_lost(QueuePair& qp, std::uint32_t psn) {
  if (!hw::psn_before(psn, qp.send.next_psn)) return;  // it is to be asked for again anyway
  if (std::exchange(qp.send.response_lost, true)) return;
  ++counters_.implied_nak_seq_err;
  retry_from(qp, psn);
}

void ResponseHandler::retry_from(QueuePair& qp, std::uint32_t psn) {
  SendState& send = qp.send;
  // What is to be sent next anyway needs no retry.
  if (send.in_flight.empty() || !hw::psn_before(psn, send.next_psn)) return;
  if (send.retry == 0) {
    ++counters_.req_transport_retries_exceeded;
    return core_.qp_control->fail_send(qp, hw::WcStatus::kRetryExcErr, 0);
  }
  --send.retry;
  core_.requester->rewind(qp, psn);
  restart_timer(qp);
  core_.scheduler->activate(qp);
}

void ResponseHandler::packet_sent(QueuePair& qp) {
  if (qp.send.timer_deadline == hw::kNever) restart_timer(qp);
}

inline hw::Time ResponseHandler::timeout(const QueuePair& qp) const {
  if (qp.context.timeout == 0) return hw::kNever;
  const std::uint32_t exponent =
      std::max<std::uint32_t>(qp.context.timeout, core_.parameters.requester.ack_timeout_floor);
  return kTimeoutUnit << std::min(exponent, 31u);
}

void ResponseHandler::restart_timer(QueuePair& qp) {
  SendState& send = qp.send;
  const hw::Time wait = timeout(qp);
  if (wait == hw::kNever || send.unacked_psn == send.next_psn) {
    send.timer_deadline = hw::kNever;
    return;
  }
  send.timer_deadline = now() + wait;
  if (send.timer_pending) return;
  send.timer_pending = true;
  schedule(send.timer_deadline, kAckTimer | qp.context.qpn);
}

void ResponseHandler::on_event(std::uint64_t argument) {
  QueuePair* qp = core_.qp(static_cast<std::uint32_t>(argument));
  if (qp == nullptr) return;
  if ((argument & kRnrTimer) != 0) return rnr_over(*qp);
  SendState& send = qp->send;
  send.timer_pending = false;
  if (send.timer_deadline == hw::kNever) return;
  if (now() < send.timer_deadline) {  // there was progress: try again then
    send.timer_pending = true;
    schedule(send.timer_deadline, argument);
    return;
  }
  timer_fired(*qp);
}

void ResponseHandler::timer_fired(QueuePair& qp) {
  ++counters_.local_ack_timeout_err;
  qp.send.timer_deadline = hw::kNever;
  if (core_.timer_observer != nullptr) core_.timer_observer->ack_timed_out(place_of(qp), now());
  retry_from(qp, qp.send.unacked_psn);
}

}  // namespace hcasim::hca
