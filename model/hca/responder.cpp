// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/responder.hpp"

#include <algorithm>
#include <utility>

#include "hca/event_unit.hpp"
#include "hca/response_handler.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

namespace {
// Event arguments.
constexpr std::uint64_t kArrived = 0;
constexpr std::uint64_t kDelayed = 1;

StageTiming with_look_ups(const Parameters& parameters) {
  return parameters.responder.timing.with_latency(parameters.qpc_cache.hit_latency_cycles +
                                                  parameters.mpt_cache.hit_latency_cycles +
                                                  parameters.mtt_cache.hit_latency_cycles);
}
}  // namespace

Responder::Responder(Core& core)
    : Unit(core.engine, "responder"),
      core_(core),
      stage_(core.clock, with_look_ups(core.parameters)) {}

Responder::~Responder() {
  while (!arriving_.empty()) fabric::PacketPtr::adopt(arriving_.pop().packet).reset();
}

void Responder::arrives(fabric::PacketPtr& packet, hw::Time arrival) {
  // Sorted, for a foreign module on the wire may delay one packet more than the next.
  arriving_.push_sorted({packet.release(), arrival},
                        [arrival](const Arrival& other) { return other.at > arrival; });
  engine().schedule_from_outside(*this, core_.clock.edge_after(arrival) + stage_.latency(),
                                 kArrived);
}

inline bool Responder::fits(std::uint32_t bytes) {
  if (bytes == 0) return true;
  while (!buffered_.empty() && buffered_.front().until <= now()) {
    buffered_bytes_ -= buffered_.front().bytes;
    buffered_.drop();
  }
  return buffered_bytes_ + bytes <= core_.parameters.responder.rx_buffer_bytes;
}

void Responder::delivered(std::uint32_t bytes, hw::Time visible) {
  buffered_.push({visible, bytes});
  buffered_bytes_ += bytes;
}

// A packet enters the stage at the time at which it leaves a free one: by then all are known that
// come before it. Null when others keep the stage busy.
inline fabric::PacketPtr Responder::enter_stage() {
  const Arrival arrival = arriving_.pop();
  fabric::PacketPtr packet = fabric::PacketPtr::adopt(arrival.packet);
  if (!fits(static_cast<std::uint32_t>(packet->payload_size()))) {
    ++counters_.rx_discards_phy;
    core_.discarded(*packet);
    return {};
  }
  const hw::OpcodeInfo& info = packet->info();
  if (info.starts && !info.response) {
    core_.stamp(packet->message, Stamp::kFirstPacketIn, arrival.at);
  }
  const hw::Time out = stage_.enter_at_edge(now() - stage_.latency());
  if (out == now()) return packet;
  delayed_.push(std::move(packet));
  schedule(out, kDelayed);
  return {};
}

void Responder::looped_back(fabric::PacketPtr packet) {
  if (!fits(static_cast<std::uint32_t>(packet->payload_size()))) {
    ++counters_.rx_discards_phy;
    return;
  }
  enter_again(std::move(packet));
}

// One more turn of the stage, behind all that are in it.
void Responder::enter_again(fabric::PacketPtr packet) {
  delayed_.push(std::move(packet));
  schedule(stage_.enter_at_edge(now() - stage_.latency()), kDelayed);
}

void Responder::on_event(std::uint64_t argument) {
  fabric::PacketPtr packet = argument == kArrived ? enter_stage() : delayed_.pop();
  if (packet) handle(std::move(packet));
}

inline void Responder::handle(fabric::PacketPtr packet) {
  QueuePair* qp = core_.qp(packet->dest_qp);
  if (qp == nullptr) return to_group(*packet);
  // InfiniBand specification 9.6.1: for a queue pair of another port it is for none.
  if (packet->port != qp->port) [[unlikely]] {
    ++counters_.n_pkt_drops;
    return;
  }
  if (qp->held) return hold(*qp, std::move(packet));
  if (!core_.caches.qpc.look_up(qp->context.qpn)) [[unlikely]] {
    ++qp->lookups;
    core_.caches.qpc.fetch(qp->context.qpn, *this, kForHeld | qp->context.qpn);
    return hold(*qp, std::move(packet));
  }
  if (!dispatch(*qp, packet, false)) hold(*qp, std::move(packet));
}

// False when it is an answer that has to wait; fetch_for_answer() was called then. `fetched`: that
// was done before.
bool Responder::dispatch(QueuePair& qp, fabric::PacketPtr& packet, bool fetched) {
  if (!qp.receives() || !qp.service.carries(packet->opcode)) {
    ++counters_.n_pkt_drops;
    return true;
  }
  if (!hw::pkeys_match(packet->pkey, hw::kDefaultPkey)) [[unlikely]] {
    ++counters_.pkey_violations;
    ++counters_.n_pkt_drops;
    return true;
  }
  if (packet->info().response) return core_.response_handler->on_response(qp, *packet, fetched);
  request(qp, std::move(packet));
  return true;
}

inline void Responder::request(QueuePair& qp, fabric::PacketPtr packet) {
  ReceiveState& receive = qp.receive;
  if (receive.waiting == Waiting::kNothing) {
    if (process(qp, *packet) == Verdict::kDone) return;
  } else if (waiting_packets_ >= core_.parameters.responder.buffer_packets) {
    ++counters_.rx_buffer_full;
    core_.discarded(*packet);
    return;
  }
  ++waiting_packets_;
  packet->next = nullptr;
  if (receive.pending_first == nullptr) {
    receive.pending_first = packet.get();
  } else {
    receive.pending_last->next = packet.get();
  }
  receive.pending_last = packet.release();
}

Responder::Verdict Responder::process(QueuePair& qp, fabric::Packet& packet) {
  const bool admitted = qp.reliable() ? in_order(qp, packet) : admit_unreliable(qp, packet);
  if (!admitted) return Verdict::kDone;
  if (!qp.receive.comm_est && qp.context.state == hw::QpState::kRtr) establish(qp);
  if (!sequence_ok(qp, packet) || !length_ok(qp, packet)) {
    return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocQpOpErr);
  }
  return carry_out(qp, packet);
}

void Responder::establish(QueuePair& qp) {
  qp.receive.comm_est = true;
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kCommEst;
  eqe.number = qp.context.qpn;
  core_.event->raise(eqe);
}

// True when the packet is the expected one. A gap is reported once; what follows is dropped until
// the expected packet comes.
inline bool Responder::in_order(QueuePair& qp, const fabric::Packet& packet) {
  ReceiveState& receive = qp.receive;
  const std::int32_t gap = hw::psn_distance(receive.expected_psn, packet.psn);
  if (gap == 0) {
    receive.nak_sent = false;
    return true;
  }
  if (gap < 0) {
    duplicate(qp, packet);
    return false;
  }
  if (!receive.nak_sent) {
    ++counters_.out_of_sequence;
    receive.nak_sent = true;
    core_.response->nak(qp, receive.expected_psn, hw::nak_syndrome(hw::NakCode::kPsnSequence));
  }
  return false;
}

// A request that was carried out before is answered again: a READ by reading again, an atomic from
// memory, all else by an ACK of everything that arrived.
void Responder::duplicate(QueuePair& qp, const fabric::Packet& packet) {
  ++counters_.duplicate_request;
  switch (packet.info().operation) {
    case hw::Operation::kReadRequest: {
      const bool allowed =
          packet.reth.length == 0 ||
          core_.contexts.memory.check(packet.reth.rkey, qp.context.pd, packet.reth.addr,
                                      packet.reth.length, hw::kRemoteRead) != nullptr;
      if (allowed) core_.response->read(qp, packet, true);
      return;
    }
    case hw::Operation::kCompareSwap:
    case hw::Operation::kFetchAdd:
      return core_.response->replay_atomic(qp, packet.psn);
    default:
      if (packet.ack_req || packet.info().ends) {
        core_.response->acknowledge(qp, hw::psn_add(qp.receive.expected_psn, -1));
      }
  }
}

// FIRST and ONLY begin a message, MIDDLE and LAST go on with one of their kind.
inline bool Responder::sequence_ok(const QueuePair& qp, const fabric::Packet& packet) const {
  const hw::OpcodeInfo& info = packet.info();
  switch (qp.receive.receiving) {
    case Receiving::kNothing:
      return info.starts;
    case Receiving::kSend:
      return !info.starts && info.operation == hw::Operation::kSend;
    case Receiving::kWrite:
      return !info.starts && info.operation == hw::Operation::kWrite;
  }
  return false;
}

// All but the last packet of a message are full; a LAST is not empty.
inline bool Responder::length_ok(const QueuePair& qp, const fabric::Packet& packet) const {
  const hw::OpcodeInfo& info = packet.info();
  const std::size_t bytes = packet.payload_size();
  if (info.operation != hw::Operation::kSend && info.operation != hw::Operation::kWrite) {
    return bytes == 0;
  }
  if (!info.ends) return bytes == qp.mtu();
  return bytes <= qp.mtu() && (info.starts || bytes != 0);
}

void Responder::taken(std::uint32_t qpn, hw::rq::TakeStatus status, const TakenWqe& wqe,
                      std::uint32_t remaining) {
  QueuePair* qp = core_.qp(qpn);
  if (qp == nullptr || qp->receive.waiting != Waiting::kTake) return;
  ReceiveState& receive = qp->receive;
  receive.waiting = Waiting::kNothing;
  if (!qp->receives()) return taken_too_late(*qp, status, wqe);
  const bool none = status == hw::rq::TakeStatus::kBadQueue && !receive.rq_ready;
  if (status == hw::rq::TakeStatus::kEmpty || none) return found_none(*qp);
  if (status != hw::rq::TakeStatus::kOk) return queue_failed(*qp);
  receive.rwqe = &taken_.acquire();
  receive.rwqe->copy(wqe);
  receive.rq_remaining = remaining;
  receive.message = receive.pending_first->message;
  core_.stamp(receive.message, Stamp::kRwqeTaken, now());
  // The packet that asked for it was checked before it did.
  if (carry_out(*qp, *receive.pending_first) == Verdict::kWait) return;
  drop_first_pending(*qp);
  run_pending(*qp);
}

}  // namespace hcasim::hca
