// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/response_unit.hpp"

#include <algorithm>
#include <utility>

#include "hca/event_unit.hpp"
#include "hca/qp_control.hpp"
#include "hca/send_opcodes.hpp"
#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::hca {

namespace {
StageTiming timing(const Parameters::Responder& parameters) {
  return {parameters.ack_latency_cycles, parameters.timing.interval_cycles};
}
}  // namespace

ResponseUnit::ResponseUnit(Core& core)
    : Unit(core.engine, "response"),
      core_(core),
      stage_(core.clock, timing(core.parameters.responder)),
      transmit_queues_(core, *this) {}

// An answer for the caller to complete: it is looked at when its turn comes.
Response& ResponseUnit::append(QueuePair& qp, Kind kind, std::uint32_t psn) {
  Response& response = responses_.acquire();
  response = Response{};
  response.since = now();
  response.psn = psn;
  response.msn = qp.receive.msn;
  response.kind = kind;
  qp.receive.responses.push_back(response);
  activate(qp);
  return response;
}

void ResponseUnit::acknowledge(QueuePair& qp, std::uint32_t psn) {
  if (!qp.receive.responses.empty()) {
    Response& last = *qp.receive.responses.last;
    if (last.kind == Kind::kAck && hw::syndrome_kind(last.syndrome) == hw::SyndromeKind::kAck) {
      last.psn = psn;
      last.msn = qp.receive.msn;
      ++counters_.acks_merged;
      return;
    }
  }
  append(qp, Kind::kAck, psn);
}

void ResponseUnit::nak(QueuePair& qp, std::uint32_t psn, std::uint8_t syndrome) {
  append(qp, Kind::kAck, psn).syndrome = syndrome;
}

void ResponseUnit::read(QueuePair& qp, const fabric::Packet& request, bool repeated) {
  Response& response = append(qp, Kind::kRead, request.psn);
  response.addr = request.reth.addr;
  response.rkey = request.reth.rkey;
  response.length = request.reth.length;
  response.message = request.message;
  response.repeated = repeated;
}

Response& ResponseUnit::atomic(QueuePair& qp, const fabric::Packet& request) {
  Response& response = append(qp, Kind::kAtomic, request.psn);
  response.message = request.message;
  response.ready = false;
  return response;
}

void ResponseUnit::atomic_ready(QueuePair& qp, Response& response, std::uint64_t original) {
  response.original = original;
  response.ready = true;
  if (qp.receive.replay == nullptr) {
    qp.receive.replay = &replays_.acquire();
    qp.receive.replay->written = 0;
  }
  Replay& replay = *qp.receive.replay;
  const std::uint32_t depth = std::max<std::uint32_t>(1, qp.context.max_dest_rd_atomic);
  const std::uint32_t place = replay.written++ % depth;
  replay.original[place] = original;
  replay.psn[place] = response.psn;
  activate(qp);
}

void ResponseUnit::atomic_failed(QueuePair& qp, Response& response) {
  response.kind = Kind::kAck;
  response.syndrome = hw::nak_syndrome(hw::NakCode::kRemoteOperational);
  response.msn = hw::psn_add(response.msn, -1);  // it is not complete
  response.ready = true;
  activate(qp);
}

void ResponseUnit::replay_atomic(QueuePair& qp, std::uint32_t psn) {
  if (qp.receive.replay == nullptr) return;
  const Replay& replay = *qp.receive.replay;
  const std::uint32_t depth = std::max<std::uint32_t>(1, qp.context.max_dest_rd_atomic);
  const std::uint32_t kept = std::min(replay.written, depth);
  for (std::uint32_t i = 0; i < kept; ++i) {
    if (replay.psn[i] != psn) continue;
    ++counters_.atomic_replays;
    Response& response = append(qp, Kind::kAtomic, psn);
    response.original = replay.original[i];
    response.repeated = true;
    return;
  }
}

void ResponseUnit::activate(QueuePair& qp) {
  if (qp.receive.respond_active) return;
  qp.receive.respond_active = true;
  lanes_[qp.out_port].ring.push({qp.context.qpn, now()});
  arrange(qp.out_port);
}

void ResponseUnit::resume(std::uint32_t port) {
  if (lanes_[port].resume(now())) arrange(port);
}

void ResponseUnit::arrange(std::uint64_t port) {
  PortLane<Place>& lane = lanes_[port];
  const auto full = [&] {
    return transmit_queues_[static_cast<std::uint32_t>(port)].size() >=
           core_.parameters.requester.gather_reads;
  };
  if (!lane.arrange(full)) return;
  const hw::Time at = next_turn(core_, lane, stage_, now(), port);
  schedule(at, port);
}

void ResponseUnit::on_event(std::uint64_t argument) {
  const std::uint64_t port = PortLane<Place>::port_of(argument);
  PortLane<Place>& lane = lanes_[port];
  if (!lane.has_turn(argument)) return arrange(port);
  const std::uint32_t qpn = lane.ring.pop().qpn;
  if (QueuePair* qp = core_.qp(qpn)) {
    qp->receive.respond_active = false;
    if (qp->out_port != port) {  // it was moved meanwhile
      activate(*qp);
    } else if (send_one(*qp) && !qp->receive.responses.empty()) {
      qp->receive.respond_active = true;
      lane.ring.push({qpn, qp->receive.responses.first->since});
    }
  }
  hold_for_room(core_, port, lane, stage_);
  arrange(port);
}

// False when the oldest answer is an atomic that is still being carried out.
inline bool ResponseUnit::send_one(QueuePair& qp) {
  if (qp.receive.responses.empty()) return true;
  Response& response = *qp.receive.responses.first;
  if (!response.ready) return false;
  if (qp.receive.silent) {
    pop(qp);
    return true;
  }
  if (response.kind == Kind::kRead) {
    send_read_packet(qp, response);
    return true;
  }
  fabric::PacketPtr packet = make_packet(qp, response);
  if (response.kind == Kind::kAck) {
    packet->opcode = hw::BthOpcode::kRcAcknowledge;
    const hw::SyndromeKind kind = hw::syndrome_kind(response.syndrome);
    if (kind == hw::SyndromeKind::kAck) {
      ++counters_.acks;
    } else {
      ++(kind == hw::SyndromeKind::kRnrNak ? counters_.rnr_naks : counters_.naks);
      packet->aeth.syndrome = response.syndrome;
    }
  } else {
    packet->opcode = hw::BthOpcode::kRcAtomicAcknowledge;
    packet->atomic_ack.original = response.original;
    ++counters_.atomic_responses;
  }
  transmit(std::move(packet), qp);
  pop(qp);
  return true;
}

void ResponseUnit::send_read_packet(QueuePair& qp, Response& response) {
  const std::uint32_t bytes = std::min(response.length - response.offset, qp.mtu());
  const bool first = response.offset == 0;
  const bool last = response.offset + bytes == response.length;
  fabric::PacketPtr packet = make_packet(qp, response);
  packet->opcode =
      first ? (last ? hw::BthOpcode::kRcReadResponseOnly : hw::BthOpcode::kRcReadResponseFirst)
            : (last ? hw::BthOpcode::kRcReadResponseLast : hw::BthOpcode::kRcReadResponseMiddle);
  packet->resize_payload(bytes);
  // For a NAK that may have to take its place: a READ without any answer does not count. (No
  // response has an ImmDt.)
  packet->imm.value = first && !response.repeated ? hw::psn_add(response.msn, -1) : response.msn;
  const std::uint64_t address = response.addr + response.offset;
  const MemoryRegion* region = bytes == 0
                                   ? nullptr
                                   : core_.contexts.memory.check(response.rkey, qp.context.pd,
                                                                 address, bytes, hw::kRemoteRead);
  if (bytes != 0 && region == nullptr) return refuse_read(qp, std::move(packet));
  ++counters_.read_response_packets;
  ++qp.receive.gathers;
  TransmitQueue& queue = transmit_queues_[qp.out_port];
  queue.open(std::move(packet), qp.context.qpn);
  std::uint32_t filled = 0;
  if (region != nullptr) {
    Missing missing;
    core_.caches.translation.look_up(*region, address, bytes, missing);
    if (!missing.empty()) queue.hold(missing);
    MemoryTable::for_each_segment(*region, address, bytes,
                                  [&](std::uint64_t host_address, std::uint32_t length) {
                                    queue.gather(host_address, filled, length);
                                    filled += length;
                                  });
  }
  queue.close();
  response.offset += bytes;
  response.psn = hw::psn_add(response.psn, 1);
  if (last) pop(qp);
}

// A NAK in the place of a READ response.
void ResponseUnit::make_nak(fabric::Packet& packet, hw::NakCode code) {
  packet.opcode = hw::BthOpcode::kRcAcknowledge;
  packet.aeth = {hw::nak_syndrome(code), packet.imm.value};
  packet.resize_payload(0);
  ++counters_.naks;
}

// The region went away in the middle of the answer.
void ResponseUnit::refuse_read(QueuePair& qp, fabric::PacketPtr packet) {
  make_nak(*packet, hw::NakCode::kRemoteAccess);
  transmit(std::move(packet), qp);
  pop(qp);
  qp.receive.silent = true;
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kQpAccessError;
  eqe.number = qp.context.qpn;
  core_.event->raise(eqe);
  core_.qp_control->fail(qp, hw::WcStatus::kLocProtErr);
}

inline void ResponseUnit::pop(QueuePair& qp) {
  Response& response = qp.receive.responses.pop_front();
  if (response.kind != Kind::kAck && !response.repeated && qp.receive.responses_due != 0) {
    --qp.receive.responses_due;
  }
  responses_.release(response);
}

// A responder on an SRQ knows of no receive WQE that is its own.
inline std::uint8_t ResponseUnit::credits(const QueuePair& qp) const {
  if (qp.context.uses_srq != 0) return hw::ack_syndrome(hw::kNoCredits);
  return hw::ack_syndrome(hw::credit_code_for(qp.receive.rq_remaining));
}

inline fabric::PacketPtr ResponseUnit::make_packet(const QueuePair& qp, const Response& response) {
  fabric::PacketPtr packet = core_.packets.acquire(qp.headers);
  packet->psn = response.psn;
  packet->aeth.msn = response.msn;
  packet->aeth.syndrome = credits(qp);
  packet->message = response.message;
  return packet;
}

inline void ResponseUnit::transmit(fabric::PacketPtr packet, QueuePair& qp) {
  const hw::Time at = transmit_queues_[qp.out_port].send(std::move(packet), qp.context.qpn);
  if (at == hw::kNever) ++qp.receive.gathers;
}

void ResponseUnit::packet_left(std::uint32_t qpn, std::uint64_t, const hw::OpcodeInfo&, hw::Time,
                               std::uint32_t port) {
  if (QueuePair* qp = core_.qp(qpn)) --qp->receive.gathers;
  resume(port);
}

void ResponseUnit::packet_dropped(std::uint32_t qpn, std::uint32_t port) {
  if (QueuePair* qp = core_.qp(qpn)) --qp->receive.gathers;
  resume(port);
}

// A NAK takes the place of the data and is the last word; packet_left() follows.
bool ResponseUnit::gather_failed(std::uint32_t qpn, fabric::Packet& packet, std::uint32_t) {
  make_nak(packet, hw::NakCode::kRemoteOperational);
  transmit_queues_.drop(qpn);
  if (QueuePair* qp = core_.qp(qpn)) {
    qp->receive.silent = true;
    core_.qp_control->fail(*qp, hw::WcStatus::kLocQpOpErr);
  }
  return true;
}

bool ResponseUnit::reads_by(const QueuePair& qp, std::uint32_t rkey) {
  const Response* response = qp.receive.responses.first;
  while (response != nullptr && (response->kind != Kind::kRead || response->rkey != rkey)) {
    response = response->next;
  }
  return response != nullptr;
}

void ResponseUnit::release(QueuePair& qp) {
  while (!qp.receive.responses.empty()) {
    responses_.release(qp.receive.responses.pop_front());
  }
  if (qp.receive.replay != nullptr) {
    replays_.release(*std::exchange(qp.receive.replay, nullptr));
  }
}

}  // namespace hcasim::hca
