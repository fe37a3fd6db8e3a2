// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the requests do, once they have been found in order.
#include <utility>

#include "hca/atomic_unit.hpp"
#include "hca/completion_unit.hpp"
#include "hca/core.hpp"
#include "hca/qp_control.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/responder.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

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

// True when the packet in hand has to wait for translations.
inline bool Responder::must_fetch(QueuePair& qp, const Missing& missing) {
  if (missing.empty()) return false;
  qp.receive.waiting = Waiting::kTranslation;
  ++qp.lookups;
  core_.caches.translation.fetch(missing, *this, qp.context.qpn);
  return true;
}

// Null when the packet in hand has waited for what it needs.
inline Translation* Responder::translation() {
  return fetched_ ? nullptr : &core_.caches.translation;
}

// True (kDone) once a receive WQE is in hand; asks for one and waits otherwise.
inline Responder::Verdict Responder::need_receive(QueuePair& qp) {
  if (qp.receive.rwqe != nullptr) return Verdict::kDone;
  qp.receive.waiting = Waiting::kTake;
  core_.receive_queue->take(qp);
  return Verdict::kWait;
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
  const auto count = hw::kGrhAreaBytes + static_cast<std::uint32_t>(packet.payload_size());
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
  DatagramBytes bytes;
  assemble(packet, bytes);
  core_.stamp(packet.message, Stamp::kDataVisible, scatter(plan, bytes.data(), count));
  receive.received = count;
  hw::Cqe& cqe = complete_receive(qp, packet, hw::WcOpcode::kRecv);
  cqe.src_qp = packet.src_qp;
  cqe.pkey_index = qp.context.pkey_index;
  cqe.flags |= hw::kCqeGrh;
  return Verdict::kDone;
}

// False when the queue pair takes no WRITEs.
inline bool Responder::begin_write(QueuePair& qp, const hw::Reth& reth) {
  if ((qp.context.access_flags & hw::kRemoteWrite) == 0) return false;
  ReceiveState& receive = qp.receive;
  receive.write_addr = reth.addr;
  receive.write_rkey = reth.rkey;
  receive.write_left = reth.length;
  receive.received = 0;
  return true;
}

// The time at which all is visible to the host.
inline hw::Time Responder::write_data(const MemoryRegion& region, std::uint64_t address,
                                      const fabric::Packet& packet) {
  const auto bytes = static_cast<std::uint32_t>(packet.payload_size());
  const std::uint8_t* data = packet.payload().data();
  hw::Time visible = now();
  MemoryTable::for_each_segment(region, address, bytes,
                                [&](std::uint64_t host_address, std::uint32_t length) {
                                  visible = core_.dma.write(host_address, data, length);
                                  data += length;
                                });
  delivered(bytes, visible);
  return visible;
}

Responder::Verdict Responder::write(QueuePair& qp, const fabric::Packet& packet) {
  ReceiveState& receive = qp.receive;
  const hw::OpcodeInfo& info = packet.info();
  const auto bytes = static_cast<std::uint32_t>(packet.payload_size());
  const bool begun = !info.starts || begin_write(qp, packet.reth);
  if (!begun || bytes > receive.write_left || info.ends != (bytes == receive.write_left)) {
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
  const hw::Time visible =
      region == nullptr ? now() : write_data(*region, receive.write_addr, packet);
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

}  // namespace hcasim::hca
