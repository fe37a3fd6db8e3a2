// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/responder.hpp"

#include <algorithm>
#include <utility>

#include "hca/atomic_unit.hpp"
#include "hca/completion_unit.hpp"
#include "hca/event_unit.hpp"
#include "hca/qp_control.hpp"
#include "hca/receive_queue_port.hpp"
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

void Responder::on_wire(fabric::PacketPtr& packet, hw::Time arrival) {
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
  if (qp->held) return hold(*qp, std::move(packet));
  if (!core_.caches.qpc.look_up(qp->context.qpn)) [[unlikely]] {
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

// True when the packet in hand has to wait for translations.
inline bool Responder::must_fetch(QueuePair& qp, const Missing& missing) {
  if (missing.empty()) return false;
  qp.receive.waiting = Waiting::kTranslation;
  core_.caches.translation.fetch(missing, *this, qp.context.qpn);
  return true;
}

// Null when the packet in hand has waited for what it needs.
inline Translation* Responder::translation() {
  return fetched_ ? nullptr : &core_.caches.translation;
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

Responder::Verdict Responder::carry_out(QueuePair& qp, const fabric::Packet& packet) {
  switch (packet.info().operation) {
    case hw::Operation::kSend:
      if (qp.datagram()) [[unlikely]]
        return datagram(qp, packet);
      return send(qp, packet);
    case hw::Operation::kWrite:
      return write(qp, packet);
    case hw::Operation::kReadRequest:
      return read(qp, packet);
    case hw::Operation::kCompareSwap:
    case hw::Operation::kFetchAdd:
      return atomic(qp, packet);
    default:
      return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocQpOpErr);
  }
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

// True (kDone) once a receive WQE is in hand; asks for one and waits otherwise.
inline Responder::Verdict Responder::need_receive(QueuePair& qp) {
  if (qp.receive.rwqe != nullptr) return Verdict::kDone;
  qp.receive.waiting = Waiting::kTake;
  core_.receive_queue->take(qp);
  return Verdict::kWait;
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

inline Responder::Verdict Responder::send(QueuePair& qp, const fabric::Packet& packet) {
  ReceiveState& receive = qp.receive;
  const hw::OpcodeInfo& info = packet.info();
  if (need_receive(qp) == Verdict::kWait) return Verdict::kWait;
  if (info.starts) {
    if (!fetched_) ++counters_.rx_send_requests;
    receive.received = 0;
  }
  const auto bytes = static_cast<std::uint32_t>(packet.payload_size());
  if (receive.received + bytes > receive.rwqe->length) {
    ++counters_.resp_local_length_error;
    return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocLenErr);
  }
  GatherPlan plan;
  if (!plan_receive(qp, bytes, plan)) {
    ++counters_.resp_local_qp_error;
    return refuse(qp, hw::NakCode::kRemoteOperational, hw::WcStatus::kLocProtErr);
  }
  if (must_fetch(qp, plan.missing)) return Verdict::kWait;
  const hw::Time visible = scatter(plan, packet.payload().data(), bytes);
  if (info.ends) core_.stamp(packet.message, Stamp::kDataVisible, visible);
  if ((info.headers & hw::kHasIeth) != 0 && !may_invalidate(qp, packet.ieth.rkey)) {
    ++counters_.resp_remote_access_errors;
    return refuse(qp, hw::NakCode::kRemoteAccess, hw::WcStatus::kLocProtErr);
  }
  receive.received += bytes;
  receive.receiving = info.ends ? Receiving::kNothing : Receiving::kSend;
  if (info.ends) complete_receive(qp, packet, hw::WcOpcode::kRecv);
  accept(qp, packet);
  return Verdict::kDone;
}

inline bool Responder::plan_receive(QueuePair& qp, std::uint32_t bytes, GatherPlan& plan) {
  const TakenWqe& wqe = *qp.receive.rwqe;
  return plan_gather(core_.contexts.memory, translation(), qp.rq_pd,
                     reinterpret_cast<const std::uint8_t*>(wqe.sges.data()), wqe.num_sge,
                     qp.receive.received, bytes, plan, hw::kLocalWrite);
}

// The time at which all is visible to the host.
inline hw::Time Responder::scatter(const GatherPlan& plan, const std::uint8_t* data,
                                   std::uint32_t bytes) {
  hw::Time visible = now();
  plan.for_each([&](std::uint64_t address, std::uint32_t length) {
    visible = core_.dma.write(address, data, length);
    data += length;
  });
  if (plan.count != 0) delivered(bytes, visible);
  return visible;
}

// The message is its only packet; before it comes what stands for the GRH.
Responder::Verdict Responder::datagram(QueuePair& qp, const fabric::Packet& packet) {
  ReceiveState& receive = qp.receive;
  if (need_receive(qp) == Verdict::kWait) return Verdict::kWait;
  if (!fetched_) ++counters_.rx_send_requests;
  DatagramBytes bytes;
  const std::uint32_t count = assemble(packet, bytes);
  if (count > receive.rwqe->length) {
    ++counters_.resp_local_length_error;
    return give_up(qp);
  }
  receive.received = 0;
  GatherPlan plan;
  if (!plan_receive(qp, count, plan)) {
    ++counters_.resp_local_qp_error;
    return refuse(qp, hw::NakCode::kRemoteOperational, hw::WcStatus::kLocProtErr);
  }
  if (must_fetch(qp, plan.missing)) return Verdict::kWait;
  core_.stamp(packet.message, Stamp::kDataVisible, scatter(plan, bytes.data(), count));
  receive.received = count;
  hw::Cqe& cqe = complete_receive(qp, packet, hw::WcOpcode::kRecv);
  cqe.src_qp = packet.src_qp;
  cqe.pkey_index = qp.context.pkey_index;
  cqe.flags |= hw::kCqeGrh;
  return Verdict::kDone;
}

Responder::Verdict Responder::write(QueuePair& qp, const fabric::Packet& packet) {
  ReceiveState& receive = qp.receive;
  const hw::OpcodeInfo& info = packet.info();
  const auto bytes = static_cast<std::uint32_t>(packet.payload_size());
  if (info.starts) {
    if ((qp.context.access_flags & hw::kRemoteWrite) == 0) {
      return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocQpOpErr);
    }
    receive.write_addr = packet.reth.addr;
    receive.write_rkey = packet.reth.rkey;
    receive.write_left = packet.reth.length;
    receive.received = 0;
  }
  if (bytes > receive.write_left || info.ends != (bytes == receive.write_left)) {
    return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocQpOpErr);
  }
  const MemoryRegion* region = nullptr;
  if (bytes != 0) {  // zero-length: the key is not looked at
    region = core_.contexts.memory.check(receive.write_rkey, qp.context.pd, receive.write_addr,
                                         receive.write_left, hw::kRemoteWrite);
    if (region == nullptr) {
      ++counters_.resp_remote_access_errors;
      return refuse(qp, hw::NakCode::kRemoteAccess, hw::WcStatus::kLocProtErr);
    }
  }
  const bool immediate = (info.headers & hw::kHasImmDt) != 0;
  if (immediate && need_receive(qp) == Verdict::kWait) return Verdict::kWait;
  if (region != nullptr && !fetched_) {
    Missing missing;
    core_.caches.translation.look_up(*region, receive.write_addr, bytes, missing);
    if (must_fetch(qp, missing)) return Verdict::kWait;
  }
  if (info.starts) ++counters_.rx_write_requests;
  hw::Time visible = now();
  if (region != nullptr) {
    const std::uint8_t* data = packet.payload().data();
    MemoryTable::for_each_segment(*region, receive.write_addr, bytes,
                                  [&](std::uint64_t address, std::uint32_t length) {
                                    visible = core_.dma.write(address, data, length);
                                    data += length;
                                  });
    delivered(bytes, visible);
  }
  receive.write_addr += bytes;
  receive.write_left -= bytes;
  receive.received += bytes;
  receive.receiving = info.ends ? Receiving::kNothing : Receiving::kWrite;
  if (info.ends) core_.stamp(packet.message, Stamp::kDataVisible, visible);
  if (immediate) complete_receive(qp, packet, hw::WcOpcode::kRecvRdmaWithImm);
  accept(qp, packet);
  return Verdict::kDone;
}

Responder::Verdict Responder::read(QueuePair& qp, const fabric::Packet& packet) {
  const hw::Reth& reth = packet.reth;
  const bool room = qp.receive.responses_due < qp.context.max_dest_rd_atomic;
  if ((qp.context.access_flags & hw::kRemoteRead) == 0 || !room) {
    return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocQpOpErr);
  }
  if (reth.length != 0) {
    const MemoryRegion* region = core_.contexts.memory.check(reth.rkey, qp.context.pd, reth.addr,
                                                             reth.length, hw::kRemoteRead);
    if (region == nullptr) {
      ++counters_.resp_remote_access_errors;
      return refuse(qp, hw::NakCode::kRemoteAccess, hw::WcStatus::kLocProtErr);
    }
    Missing missing;
    if (!fetched_) core_.caches.translation.look_up_region(*region, missing);
    if (must_fetch(qp, missing)) return Verdict::kWait;
  }
  ++counters_.rx_read_requests;
  ++qp.receive.responses_due;
  const std::uint32_t packets = std::max(
      1u,
      static_cast<std::uint32_t>((std::uint64_t{reth.length} + qp.mtu() - 1) >> qp.mtu_shift()));
  qp.receive.msn = (qp.receive.msn + 1) & hw::kPsnMask;
  qp.receive.expected_psn = hw::psn_add(qp.receive.expected_psn, packets);
  core_.response->read(qp, packet, false);
  return Verdict::kDone;
}

Responder::Verdict Responder::atomic(QueuePair& qp, const fabric::Packet& packet) {
  const hw::AtomicEth& eth = packet.atomic;
  const bool room = qp.receive.responses_due < qp.context.max_dest_rd_atomic;
  if ((qp.context.access_flags & hw::kRemoteAtomic) == 0 || eth.addr % 8 != 0 || !room) {
    return refuse(qp, hw::NakCode::kInvalidRequest, hw::WcStatus::kLocQpOpErr);
  }
  const MemoryRegion* region =
      core_.contexts.memory.check(eth.rkey, qp.context.pd, eth.addr, 8, hw::kRemoteAtomic);
  if (region == nullptr) {
    ++counters_.resp_remote_access_errors;
    return refuse(qp, hw::NakCode::kRemoteAccess, hw::WcStatus::kLocProtErr);
  }
  Missing missing;
  if (!fetched_) core_.caches.translation.look_up(*region, eth.addr, 8, missing);
  if (must_fetch(qp, missing)) return Verdict::kWait;
  ++counters_.rx_atomic_requests;
  ++qp.receive.responses_due;
  advance(qp, true);
  qp.receive.waiting = Waiting::kAtomic;
  std::uint64_t host_address = 0;
  MemoryTable::for_each_segment(
      *region, eth.addr, 8, [&](std::uint64_t address, std::uint32_t) { host_address = address; });
  const bool swap = packet.info().operation == hw::Operation::kCompareSwap;
  Response& response = core_.response->atomic(qp, packet);
  core_.atomic->start(
      {host_address, eth.swap_add, eth.compare, packet.message, &response, qp.context.qpn, swap});
  return Verdict::kDone;
}

void Responder::atomic_done(QueuePair& qp) {
  qp.receive.waiting = Waiting::kNothing;
  if (qp.receives()) run_pending(qp);
}

// Only a fast-register region of the same domain may be invalidated from afar.
bool Responder::may_invalidate(const QueuePair& qp, std::uint32_t key) {
  const MemoryRegion* region = core_.contexts.memory.find(key);
  return region != nullptr && region->mpt.invalidatable != 0 && region->mpt.pd == qp.context.pd;
}

// Tail record, then the completion: whoever sees the completion sees the slot free.
inline hw::Cqe& Responder::complete_receive(QueuePair& qp, const fabric::Packet& packet,
                                            hw::WcOpcode opcode) {
  ReceiveState& receive = qp.receive;
  const TakenWqe& wqe = *receive.rwqe;
  core_.receive_queue->publish_tail(qp, wqe.slot);
  hw::Cqe& cqe = core_.completion->complete_receive(qp, hw::WcStatus::kSuccess, packet.solicited,
                                                    packet.message);
  cqe.wr_id = wqe.wr_id;
  cqe.src_qp = qp.context.remote_qpn;
  cqe.byte_len = receive.received;
  cqe.wqe_index = wqe.slot;
  cqe.opcode = opcode;
  const std::uint16_t headers = packet.info().headers;
  if ((headers & hw::kHasImmDt) != 0) {
    cqe.flags |= hw::kCqeWithImm;
    cqe.imm_or_key = packet.imm.value;
  }
  if ((headers & hw::kHasIeth) != 0) {
    core_.contexts.memory.find(packet.ieth.rkey)->mpt.valid = 0;
    cqe.flags |= hw::kCqeWithInvalidate;
    cqe.imm_or_key = packet.ieth.rkey;
  }
  taken_.release(*std::exchange(receive.rwqe, nullptr));
  return cqe;
}

inline void Responder::advance(QueuePair& qp, bool ends) {
  ReceiveState& receive = qp.receive;
  receive.expected_psn = hw::psn_add(receive.expected_psn, 1);
  if (ends) receive.msn = (receive.msn + 1) & hw::kPsnMask;
}

inline void Responder::accept(QueuePair& qp, const fabric::Packet& packet) {
  advance(qp, packet.info().ends);
  if (packet.ack_req) {
    core_.response->acknowledge(qp, hw::psn_add(qp.receive.expected_psn, -1));
  }
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

}  // namespace hcasim::hca
