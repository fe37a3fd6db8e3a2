// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/requester.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hca/completion_unit.hpp"
#include "hca/local_operations.hpp"
#include "hca/qp_control.hpp"
#include "hca/response_handler.hpp"
#include "hca/send_opcodes.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/wqe_fetch.hpp"

namespace hcasim::hca {

bool Requester::window_open(const QueuePair& qp) const {
  const std::int32_t outstanding = hw::psn_distance(qp.send.unacked_psn, qp.send.next_psn);
  return outstanding < static_cast<std::int32_t>(core_.parameters.requester.window_packets);
}

bool Requester::transmit(QueuePair& qp) {
  SendState& send = qp.send;
  const bool may_continue =
      qp.context.state == hw::QpState::kRts || qp.context.state == hw::QpState::kSqd;
  if (!may_continue || send.rnr_wait || !window_open(qp)) return false;
  if (!send.message.open) {
    if (!begin(qp)) return false;
    if (!send.message.open) return qp.context.state == hw::QpState::kRts;
  }
  if (needs_response(static_cast<hw::WrOpcode>(send.message.opcode))) {
    send_request_packet(qp);
  } else {
    send_data_packet(qp);
  }
  return true;
}

// Opens the next work request, unless it ends right here. False when there is none, or it must
// wait.
bool Requester::begin(QueuePair& qp) {
  if (qp.send.front == nullptr || !qp.begins()) return false;
  const auto control = hw::load<hw::SendWqeControl>(qp.send.front);
  if (!may_begin(qp, control)) return false;
  begin_message(qp, control);
  return true;
}

bool Requester::may_begin(QueuePair& qp, const hw::SendWqeControl& control) {
  const SendState& send = qp.send;
  if (!send.in_flight.empty()) {
    // A failed request ends the queue's life, and a local one is over before the next begins.
    const InFlight& last = in_flight_[send.in_flight.last];
    if (last.status != hw::WcStatus::kSuccess || is_local(last.opcode)) return false;
  }
  if ((control.flags & hw::kWqeFence) != 0 && send.rd_outstanding != 0) return false;
  if (needs_response(control.opcode) && send.rd_outstanding >= qp.context.max_rd_atomic) {
    return false;
  }
  if (is_local(control.opcode) && !send.in_flight.empty()) return false;
  return has_credit(qp, control.opcode);
}

bool Requester::has_credit(QueuePair& qp, hw::WrOpcode opcode) {
  SendState& send = qp.send;
  if (send.unlimited_credit) return true;
  if (!consumes_receive(opcode)) return true;
  if (hw::psn_distance(send.lsn + 1, send.ssn) <= 0) return true;
  ++counters_.credit_waits;
  return false;
}

void Requester::begin_message(QueuePair& qp, const hw::SendWqeControl& control) {
  SendState& send = qp.send;
  const std::uint8_t* wqe = send.front;
  const bool resumed = std::exchange(send.resumed, false);
  const std::uint32_t index = in_flight_.acquire();
  InFlight& node = in_flight_[index];
  node = InFlight{};
  node.at = send.send;
  node.tag =
      core_.observer == nullptr ? 0 : core_.observer->message_of(qp.context.qpn, send.send.count);
  node.opcode = control.opcode;
  node.flags = control.flags;
  node.length = control.length;
  node.ssn = send.ssn;
  node.first_psn = resumed ? send.resume_psn : send.next_psn;
  node.received = resumed ? send.resume_offset : 0;
  send.in_flight.push_back(in_flight_, index);
  core_.stamp(node.tag, Stamp::kWqeFetched, send.front_arrival);

  const bool known = is_known(control.opcode) && control.index == send.send.slot &&
                     send_wqe_fits(control, qp.context.sq_stride);
  if (!known) return fail_here(qp, hw::WcStatus::kLocQpOpErr);
  if (is_local(control.opcode)) return local_operation(qp, node);

  node.last_psn = hw::psn_add(node.first_psn, packets_of(control, qp.mtu_shift()) - 1);
  Message& message = send.message;
  const auto remote = hw::load<hw::SendWqeRemote>(wqe + hw::kSendWqeRemoteOffset);
  message.wqe = wqe;
  message.tag = node.tag;
  message.remote_addr = remote.addr;
  message.rkey = remote.rkey;
  message.length = control.length;
  message.offset = node.received;
  message.first_psn = node.first_psn;
  message.imm_or_key = control.imm_or_key;
  message.opcode = static_cast<std::uint8_t>(control.opcode);
  message.flags = control.flags;
  message.num_sge = control.num_sge;
  message.open = true;
  send.ssn = (send.ssn + 1) & hw::kPsnMask;
  if (hw::psn_distance(send.ssn_begun, node.ssn) > 0) {
    send.ssn_begun = node.ssn;
    if (!consumes_receive(control.opcode)) send.lsn = (send.lsn + 1) & hw::kPsnMask;
  }
  if (needs_response(control.opcode)) {
    ++send.rd_outstanding;
    copy_scatter_list(node, wqe, control.num_sge);
  }
  ++counters_.messages;
}

void Requester::copy_scatter_list(InFlight& node, const std::uint8_t* wqe, std::uint32_t num_sge) {
  node.copy = scatter_lists_.acquire();
  ScatterList& list = scatter_lists_[node.copy];
  list.count = num_sge;
  std::memcpy(list.sges.data(), wqe + hw::send_wqe_data_offset(node.opcode),
              num_sge * sizeof(hw::Sge));
}

// LOCAL_INV and REG_MR wait for all earlier requests, so this one is the oldest.
void Requester::local_operation(QueuePair& qp, InFlight& node) {
  node.first_psn = node.last_psn = hw::psn_add(qp.send.next_psn, -1);
  core_.local->start(qp, qp.send.front);
}

void Requester::local_done(QueuePair& qp, hw::WcStatus status) {
  SendState& send = qp.send;
  if (send.in_flight.empty() || !is_local(in_flight_[send.in_flight.first].opcode)) return;
  if (status != hw::WcStatus::kSuccess) return fail_here(qp, status);
  core_.wqe_fetch->pop(qp);
  finish_oldest(qp, status, 0);
  core_.scheduler->activate(qp);
}

// The work request that was begun last cannot be carried out.
void Requester::fail_here(QueuePair& qp, hw::WcStatus status) {
  qp.send.message.open = false;
  InFlight& node = in_flight_[qp.send.in_flight.last];
  node.status = status;
  node.last_psn = hw::psn_add(qp.send.next_psn, -1);
  settle(qp);
}

void Requester::settle(QueuePair& qp) {
  if (qp.send.in_flight.empty()) return;
  const hw::WcStatus status = in_flight_[qp.send.in_flight.first].status;
  if (status != hw::WcStatus::kSuccess) core_.qp_control->fail_send(qp, status, 0);
}

fabric::PacketPtr Requester::make_packet(const QueuePair& qp) {
  fabric::PacketPtr packet = core_.packets.acquire(qp.headers);
  packet->psn = qp.send.next_psn;
  packet->message = qp.send.message.tag;
  return packet;
}

void Requester::send_data_packet(QueuePair& qp) {
  Message& message = qp.send.message;
  const auto opcode = static_cast<hw::WrOpcode>(message.opcode);
  const std::uint32_t bytes = std::min(message.length - message.offset, qp.mtu());
  const bool first = message.offset == 0;
  const bool last = message.offset + bytes == message.length;
  fabric::PacketPtr packet = make_packet(qp);
  packet->opcode = data_opcode(opcode, first, last);
  packet->solicited = last && (message.flags & hw::kWqeSolicited) != 0;
  packet->ack_req = wants_ack(qp, last);
  packet->imm.value = message.imm_or_key;
  packet->ieth.rkey = message.imm_or_key;
  packet->reth = {message.remote_addr, message.rkey, message.length};
  packet->resize_payload(bytes);
  if (!fill_payload(qp, std::move(packet), bytes)) return;
  end_packet(qp, 1, bytes);
}

void Requester::send_request_packet(QueuePair& qp) {
  Message& message = qp.send.message;
  const auto opcode = static_cast<hw::WrOpcode>(message.opcode);
  fabric::PacketPtr packet = make_packet(qp);
  packet->ack_req = true;
  if (opcode == hw::WrOpcode::kRdmaRead) {
    packet->opcode = hw::BthOpcode::kRcReadRequest;
    packet->reth = {message.remote_addr + message.offset, message.rkey,
                    message.length - message.offset};
  } else {
    const auto atomic = hw::load<hw::SendWqeAtomic>(message.wqe + hw::kSendWqeAtomicOffset);
    const bool swap = opcode == hw::WrOpcode::kAtomicCmpAndSwp;
    packet->opcode = swap ? hw::BthOpcode::kRcCompareSwap : hw::BthOpcode::kRcFetchAdd;
    packet->atomic = {message.remote_addr, message.rkey, swap ? atomic.swap : atomic.compare_add,
                      swap ? atomic.compare_add : 0};
  }
  ++qp.send.gathers;
  transmit_queue_.send(std::move(packet), qp.context.qpn);
  const InFlight& node = in_flight_[qp.send.in_flight.last];
  const std::int32_t psns = hw::psn_distance(qp.send.next_psn, node.last_psn) + 1;
  end_packet(qp, static_cast<std::uint32_t>(psns), message.length - message.offset);
}

// Fills the packet with inline data or gathers it. False when a key does not allow that.
bool Requester::fill_payload(QueuePair& qp, fabric::PacketPtr packet, std::uint32_t bytes) {
  const Message& message = qp.send.message;
  const std::uint8_t* data =
      message.wqe + hw::send_wqe_data_offset(static_cast<hw::WrOpcode>(message.opcode));
  if ((message.flags & hw::kWqeInline) != 0) {
    std::memcpy(packet->payload().data(), data + message.offset, bytes);
    ++qp.send.gathers;
    transmit_queue_.send(std::move(packet), qp.context.qpn);
    return true;
  }
  GatherPlan plan;
  if (!plan_gather(core_.contexts.memory, qp.context.pd, data, message.num_sge, message.offset,
                   bytes, plan)) {
    fail_here(qp, hw::WcStatus::kLocProtErr);
    return false;
  }
  ++qp.send.gathers;
  transmit_queue_.open(std::move(packet), qp.context.qpn);
  std::uint32_t filled = 0;
  plan.for_each([&](std::uint64_t address, std::uint32_t length) {
    transmit_queue_.gather(address, filled, length);
    filled += length;
  });
  transmit_queue_.close();
  return true;
}

bool Requester::wants_ack(QueuePair& qp, bool last) {
  SendState& send = qp.send;
  const Parameters::Requester& limits = core_.parameters.requester;
  const bool window_closes = hw::psn_distance(send.unacked_psn, send.next_psn) + 1 >=
                             static_cast<std::int32_t>(limits.window_packets);
  const bool due = ++send.packets_without_request >= limits.ack_request_packets;
  if (!last && !window_closes && !due) return false;
  send.packets_without_request = 0;
  return true;
}

void Requester::end_packet(QueuePair& qp, std::uint32_t psns, std::uint32_t bytes) {
  SendState& send = qp.send;
  Message& message = send.message;
  ++counters_.packets;
  send.next_psn = hw::psn_add(send.next_psn, psns);
  message.offset += bytes;
  if (message.offset == message.length ||
      needs_response(static_cast<hw::WrOpcode>(message.opcode))) {
    message.open = false;
    core_.wqe_fetch->pop(qp);
  }
  core_.response_handler->packet_sent(qp);
}

void Requester::packet_left(std::uint32_t qpn, std::uint64_t message, const hw::OpcodeInfo& info,
                            hw::Time at) {
  if (info.starts) core_.stamp(message, Stamp::kFirstPacketOut, at);
  if (info.ends) core_.stamp(message, Stamp::kLastPacketOut, at);
  if (QueuePair* qp = core_.qp(qpn)) --qp->send.gathers;
  core_.scheduler->resume();
}

// The work request fails when those before it are done.
bool Requester::gather_failed(std::uint32_t qpn, fabric::Packet& packet) {
  core_.scheduler->resume();
  QueuePair* qp = core_.qp(qpn);
  if (qp == nullptr) return false;
  SendState& send = qp->send;
  --send.gathers;
  std::uint32_t index = send.in_flight.first;
  while (index != kNone &&
         !hw::psn_within(packet.psn, in_flight_[index].first_psn, in_flight_[index].last_psn)) {
    index = in_flight_[index].next;
  }
  if (index == kNone) return false;
  if (index == send.in_flight.last) send.message.open = false;
  in_flight_[index].status = hw::WcStatus::kLocQpOpErr;
  in_flight_[index].last_psn = hw::psn_add(packet.psn, -1);
  settle(*qp);
  return false;
}

void Requester::release(std::uint32_t index) {
  if (in_flight_[index].copy != kNone) scatter_lists_.release(in_flight_[index].copy);
  in_flight_.release(index);
}

void Requester::finish_oldest(QueuePair& qp, hw::WcStatus status, std::uint8_t syndrome) {
  SendState& send = qp.send;
  const std::uint32_t index = send.in_flight.pop_front(in_flight_);
  const InFlight& node = in_flight_[index];
  if (needs_response(node.opcode) && node.copy != kNone) --send.rd_outstanding;
  send.done.advance(1, qp.context.sq_size);
  if (status != hw::WcStatus::kSuccess || (node.flags & hw::kWqeSignaled) != 0) {
    hw::Cqe& cqe = core_.completion->complete_send(qp, status, node.tag);
    cqe.src_qp = qp.context.remote_qpn;
    cqe.byte_len = node.length;
    cqe.wqe_index = node.at.slot;
    cqe.opcode = completion_opcode(node.opcode);
    cqe.vendor_err = syndrome;
  }
  release(index);
}

void Requester::rewind(QueuePair& qp, std::uint32_t psn) {
  SendState& send = qp.send;
  PoolList kept;
  bool found = false;
  counters_.retransmitted_packets +=
      static_cast<std::uint64_t>(std::max(0, hw::psn_distance(psn, send.next_psn)));
  while (!send.in_flight.empty()) {
    const std::uint32_t index = send.in_flight.pop_front(in_flight_);
    const InFlight& node = in_flight_[index];
    if (!found && hw::psn_distance(node.last_psn, psn) > 0) {  // before the gap
      kept.push_back(in_flight_, index);
      continue;
    }
    if (!found) {
      found = true;
      send.send = node.at;
      send.ssn = node.ssn;
      send.resumed = true;
      send.resume_psn = node.first_psn;
      send.resume_offset =
          static_cast<std::uint32_t>(hw::psn_distance(node.first_psn, psn)) * qp.mtu();
      send.next_psn = psn;
    }
    if (node.copy != kNone) --send.rd_outstanding;
    release(index);
  }
  send.in_flight = kept;
  if (!found) return;
  send.message.open = false;
  core_.wqe_fetch->restart(qp);
  core_.wqe_fetch->request(qp);
}

void Requester::drop_all(QueuePair& qp) {
  while (!qp.send.in_flight.empty()) release(qp.send.in_flight.pop_front(in_flight_));
  qp.send.rd_outstanding = 0;
  qp.send.message.open = false;
  core_.wqe_fetch->restart(qp);
}

}  // namespace hcasim::hca
