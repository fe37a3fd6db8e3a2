// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/requester.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "hca/completion_unit.hpp"
#include "hca/departures.hpp"
#include "hca/local_operations.hpp"
#include "hca/qp_control.hpp"
#include "hca/response_handler.hpp"
#include "hca/send_opcodes.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/wqe_fetch.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/wire/multicast.hpp"

namespace hcasim::hca {

namespace {
hw::SendWqeRemote remote_of(const QueuePair& qp) {
  return hw::load<hw::SendWqeRemote>(qp.send.front + hw::kSendWqeRemoteOffset);
}
// The port that the address names, of the datagram at the front, from 0.
std::uint32_t address_port(const QueuePair& qp) {
  constexpr std::size_t kAt = hw::kSendWqeDatagramOffset + offsetof(hw::SendWqeDatagram, av) +
                              offsetof(hw::AddressVector, port);
  return std::uint32_t{qp.send.front[kAt]} - 1;
}
}  // namespace

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
  if (hw::needs_response(send.message.control.opcode)) {
    send_request_packet(qp);
  } else {
    send_data_packet(qp);
  }
  return true;
}

// Opens the next work request, unless it ends right here. False when there is none, or it must
// wait.
inline bool Requester::begin(QueuePair& qp) {
  if (qp.send.front == nullptr || !qp.begins()) return false;
  const auto control = hw::load<hw::SendWqeControl>(qp.send.front);
  if (!may_begin(qp, control)) return false;
  begin_message(qp, control);
  return true;
}

inline bool Requester::may_begin(QueuePair& qp, const hw::SendWqeControl& control) {
  const SendState& send = qp.send;
  if (send.repeat != nullptr) {
    // A failed request ends the queue's life.
    if (send.repeat->status != hw::WcStatus::kSuccess) return false;
  } else if (!send.in_flight.empty() && hw::is_local(send.in_flight.last->opcode)) {
    return false;  // it is over before the next begins
  }
  if ((control.flags & hw::kWqeFence) != 0 && send.rd_outstanding != 0) return false;
  if (hw::needs_response(control.opcode) && send.rd_outstanding >= qp.context.max_rd_atomic &&
      qp.reliable()) {
    return false;
  }
  if (hw::is_local(control.opcode) && !send.in_flight.empty()) return false;
  return has_credit(qp, control.opcode);
}

inline bool Requester::has_credit(QueuePair& qp, hw::WrOpcode opcode) {
  SendState& send = qp.send;
  if (send.unlimited_credit) return true;
  if (!hw::takes_receive(opcode)) return true;
  if (hw::psn_distance(send.lsn + 1, send.ssn) <= 0) return true;
  ++counters_.credit_waits;
  return false;
}

inline InFlight& Requester::append(QueuePair& qp, const hw::SendWqeControl& control) {
  SendState& send = qp.send;
  InFlight& node = in_flight_.acquire();
  node = {.at = send.send,
          .tag = core_.observer == nullptr
                     ? 0
                     : core_.observer->message_of(qp.context.qpn, send.send.count),
          .first_psn = send.next_psn,
          .ssn = send.ssn,
          .length = control.length,
          .opcode = control.opcode,
          .flags = control.flags};
  send.in_flight.push_back(node);
  return node;
}

inline void Requester::begin_message(QueuePair& qp, const hw::SendWqeControl& control) {
  SendState& send = qp.send;
  const bool again = send.repeat != nullptr;
  InFlight& node = again ? *send.repeat : append(qp, control);
  core_.stamp(node.tag, Stamp::kWqeFetched, send.front_arrival);

  const bool known = qp.service.has(control.opcode) && control.index == send.send.slot &&
                     send_wqe_fits(control, qp) && has_port(qp);
  if (!known) return fail_here(qp, node, hw::WcStatus::kLocQpOpErr);
  if (qp.datagram() && control.length > qp.mtu()) {
    return fail_here(qp, node, hw::WcStatus::kLocLenErr);
  }
  if (hw::is_local(control.opcode)) return local_operation(qp, node);

  node.last_psn = hw::psn_add(node.first_psn, packets_of(control, qp.mtu_shift()) - 1);
  send.message = {control, node.tag, again ? offset_of(node, send.next_psn, qp) : 0, true};
  send.ssn = (send.ssn + 1) & hw::kPsnMask;
  if (hw::psn_distance(send.ssn_begun, node.ssn) > 0) {
    send.ssn_begun = node.ssn;
    if (!hw::takes_receive(control.opcode)) send.lsn = (send.lsn + 1) & hw::kPsnMask;
  }
  if (hw::needs_response(control.opcode)) {
    ++send.rd_outstanding;
    node.outstanding = true;
    if (node.copy == nullptr) copy_scatter_list(node, send.front, control.num_sge);
  }
  ++counters_.messages;
}

bool Requester::choose_port(QueuePair& qp) const {
  if (!qp.datagram() || qp.send.front == nullptr) return true;
  const std::uint32_t port = address_port(qp);
  if (port == qp.out_port || port >= core_.parameters.ports) return true;
  if (qp.send.gathers != 0) return false;
  qp.out_port = static_cast<std::uint8_t>(port);
  return true;
}

inline bool Requester::has_port(const QueuePair& qp) const {
  return !core_.several_ports() || !qp.datagram() || address_port(qp) == qp.out_port;
}

void Requester::copy_scatter_list(InFlight& node, const std::uint8_t* wqe, std::uint32_t num_sge) {
  ScatterList& list = scatter_lists_.acquire();
  node.copy = &list;
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
  if (send.in_flight.empty() || !hw::is_local(send.in_flight.first->opcode)) return;
  if (status != hw::WcStatus::kSuccess) return fail_here(qp, *send.in_flight.first, status);
  core_.wqe_fetch->pop(qp);
  finish_oldest(qp, status, 0);
  core_.scheduler->activate(qp);
}

void Requester::departed(QueuePair& qp) {
  if (qp.send.in_flight.empty()) return;  // it was flushed meanwhile
  finish_oldest(qp, hw::WcStatus::kSuccess, 0);
  settle(qp);
  core_.scheduler->activate(qp);  // a local operation may have waited for this
}

// The work request, the current one, cannot be carried out. It keeps its place, so that nothing
// behind it is sent.
void Requester::fail_here(QueuePair& qp, InFlight& node, hw::WcStatus status) {
  SendState& send = qp.send;
  node.status = status;
  node.last_psn = hw::psn_add(send.next_psn, -1);
  go_back(qp, node, send.next_psn);
  settle(qp);
}

void Requester::settle(QueuePair& qp) {
  if (qp.send.in_flight.empty()) return;
  const hw::WcStatus status = qp.send.in_flight.first->status;
  if (status != hw::WcStatus::kSuccess) core_.qp_control->fail_send(qp, status, 0);
}

inline fabric::PacketPtr Requester::make_packet(const QueuePair& qp) {
  fabric::PacketPtr packet = core_.packets.acquire(qp.headers);
  packet->psn = qp.send.next_psn;
  packet->message = qp.send.message.tag;
  return packet;
}

inline void Requester::send_data_packet(QueuePair& qp) {
  Message& message = qp.send.message;
  const hw::SendWqeControl& control = message.control;
  const std::uint32_t bytes = std::min(control.length - message.offset, qp.mtu());
  const bool first = message.offset == 0;
  const bool last = message.offset + bytes == control.length;
  fabric::PacketPtr packet = make_packet(qp);
  packet->opcode = qp.service.on_wire(data_opcode(control.opcode, first, last));
  packet->solicited =
      last && hw::takes_receive(control.opcode) && (control.flags & hw::kWqeSolicited) != 0;
  packet->ack_req = qp.reliable() && wants_ack(qp, last);
  packet->imm.value = control.imm_or_key;
  packet->ieth.rkey = control.imm_or_key;
  if (!hw::is_send(control.opcode)) {
    const auto remote = remote_of(qp);
    packet->reth = {remote.addr, remote.rkey, control.length};
  } else if (qp.datagram()) {
    address_datagram(qp, *packet);
    if (comes_back(qp, *packet)) return send_to_group(qp, std::move(packet), bytes);
  }
  packet->resize_payload(bytes);
  if (!fill_payload(qp, std::move(packet), bytes)) return;
  end_packet(qp, 1, bytes);
}

void Requester::address_datagram(const QueuePair& qp, fabric::Packet& packet) {
  const auto to = hw::load<hw::SendWqeDatagram>(qp.send.front + hw::kSendWqeDatagramOffset);
  QueuePair::set_address(packet, to.av, to.remote_qpn & hw::bar::kNumberMask);
  if ((to.remote_qkey & hw::kOwnQkey) == 0) packet.qkey = to.remote_qkey;
}

// Own queue pairs of the port are in the group that it goes to.
bool Requester::comes_back(const QueuePair& qp, const fabric::Packet& packet) const {
  if (packet.dest_qp != hw::kMulticastQpn) return false;
  return std::ranges::any_of(
      core_.multicast.members(packet.address.dst_gid),
      [&](std::uint32_t member) { return core_.qp(member)->port == qp.out_port; });
}

// It takes a place in the queue, gathers or not, where it is copied as it leaves.
void Requester::send_to_group(QueuePair& qp, fabric::PacketPtr packet, std::uint32_t bytes) {
  const Message& message = qp.send.message;
  const std::uint8_t* data = qp.send.front + qp.service.data_offset;
  const bool inline_data = (message.control.flags & hw::kWqeInline) != 0;
  packet->resize_payload(bytes);
  GatherPlan plan;
  if (inline_data) {
    std::memcpy(packet->payload().data(), data, bytes);
  } else if (!plan_gather(core_.contexts.memory, &core_.caches.translation, qp.context.pd, data,
                          message.control.num_sge, 0, bytes, plan)) {
    return fail_here(qp, current(qp.send), hw::WcStatus::kLocProtErr);
  }
  gather(qp, std::move(packet), plan, true);
  end_packet(qp, 1, bytes);
}

void Requester::send_request_packet(QueuePair& qp) {
  Message& message = qp.send.message;
  const hw::SendWqeControl& control = message.control;
  const auto remote = remote_of(qp);
  fabric::PacketPtr packet = make_packet(qp);
  packet->ack_req = true;
  if (control.opcode == hw::WrOpcode::kRdmaRead) {
    packet->opcode = hw::BthOpcode::kRcReadRequest;
    packet->reth = {remote.addr + message.offset, remote.rkey, control.length - message.offset};
  } else {
    const auto atomic = hw::load<hw::SendWqeAtomic>(qp.send.front + hw::kSendWqeAtomicOffset);
    const bool swap = control.opcode == hw::WrOpcode::kAtomicCmpAndSwp;
    packet->opcode = swap ? hw::BthOpcode::kRcCompareSwap : hw::BthOpcode::kRcFetchAdd;
    packet->atomic = {remote.addr, remote.rkey, swap ? atomic.swap : atomic.compare_add,
                      swap ? atomic.compare_add : 0};
  }
  send_complete(qp, std::move(packet));
  const InFlight& node = current(qp.send);
  const std::int32_t psns = hw::psn_distance(qp.send.next_psn, node.last_psn) + 1;
  end_packet(qp, static_cast<std::uint32_t>(psns), control.length - message.offset);
}

// Fills the packet with inline data or gathers it. False when a key does not allow that.
inline bool Requester::fill_payload(QueuePair& qp, fabric::PacketPtr packet, std::uint32_t bytes) {
  const Message& message = qp.send.message;
  const std::uint8_t* data = qp.send.front + qp.service.data_offset;
  if ((message.control.flags & hw::kWqeInline) != 0) {
    std::memcpy(packet->payload().data(), data + message.offset, bytes);
    send_complete(qp, std::move(packet));
    return true;
  }
  GatherPlan plan;
  if (!plan_gather(core_.contexts.memory, &core_.caches.translation, qp.context.pd, data,
                   message.control.num_sge, message.offset, bytes, plan)) {
    fail_here(qp, current(qp.send), hw::WcStatus::kLocProtErr);
    return false;
  }
  gather(qp, std::move(packet), plan, false);
  return true;
}

inline void Requester::gather(QueuePair& qp, fabric::PacketPtr packet, const GatherPlan& plan,
                              bool comes_back) {
  ++qp.send.gathers;
  TransmitQueue& queue = transmit_queues_[qp.out_port];
  queue.open(std::move(packet), qp.context.qpn);
  if (comes_back) queue.loop_back();
  if (!plan.missing.empty()) queue.hold(plan.missing);
  std::uint32_t filled = 0;
  plan.for_each([&](std::uint64_t address, std::uint32_t length) {
    queue.gather(address, filled, length);
    filled += length;
  });
  queue.close();
}

// Sends a packet that needs no gathers.
inline void Requester::send_complete(QueuePair& qp, fabric::PacketPtr packet) {
  const std::uint64_t message = packet->message;
  const hw::OpcodeInfo& info = packet->info();
  const hw::Time at = transmit_queues_[qp.out_port].send(std::move(packet), qp.context.qpn);
  if (at == hw::kNever) {
    ++qp.send.gathers;
  } else {
    if (at != fabric::kStartsLater) stamp_packet(message, info, at);
    if (!qp.reliable() && info.ends) core_.departures->wait(qp, at);
  }
}

void Requester::stamp_packet(std::uint64_t message, const hw::OpcodeInfo& info, hw::Time at) {
  if (info.starts) core_.stamp(message, Stamp::kFirstPacketOut, at);
  if (info.ends) core_.stamp(message, Stamp::kLastPacketOut, at);
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

inline void Requester::end_packet(QueuePair& qp, std::uint32_t psns, std::uint32_t bytes) {
  SendState& send = qp.send;
  Message& message = send.message;
  ++counters_.packets;
  send.next_psn = hw::psn_add(send.next_psn, psns);
  message.offset += bytes;
  if (message.offset == message.control.length || hw::needs_response(message.control.opcode)) {
    message.open = false;
    if (send.repeat != nullptr) send.repeat = send.repeat->next;
    core_.wqe_fetch->pop(qp);
  }
  if (qp.reliable()) [[likely]] {
    core_.response_handler->packet_sent(qp);
  } else {
    send.unacked_psn = send.next_psn;  // nobody answers: the window is always open
  }
}

void Requester::packet_left(std::uint32_t qpn, std::uint64_t message, const hw::OpcodeInfo& info,
                            hw::Time at, std::uint32_t port) {
  if (at != fabric::kStartsLater) stamp_packet(message, info, at);
  if (QueuePair* qp = core_.qp(qpn)) {
    --qp->send.gathers;
    if (!qp->reliable() && info.ends) core_.departures->wait(*qp, at);
  }
  core_.scheduler->resume(port);
}

void Requester::packet_dropped(std::uint32_t qpn, std::uint32_t port) {
  if (QueuePair* qp = core_.qp(qpn)) --qp->send.gathers;
  core_.scheduler->resume(port);
}

inline void Requester::release(InFlight& node) {
  if (node.copy != nullptr) scatter_lists_.release(*node.copy);
  in_flight_.release(node);
}

void Requester::finish_oldest(QueuePair& qp, hw::WcStatus status, std::uint8_t syndrome) {
  SendState& send = qp.send;
  InFlight& node = send.in_flight.pop_front();
  if (node.outstanding) --send.rd_outstanding;
  if (send.repeat == &node) send.repeat = nullptr;  // skip_to() follows
  send.done.advance(1, qp.context.sq_size);
  if (status != hw::WcStatus::kSuccess || (node.flags & hw::kWqeSignaled) != 0) {
    hw::Cqe& cqe = core_.completion->complete_send(qp, status, node.tag);
    cqe.src_qp = qp.context.remote_qpn;
    cqe.byte_len = node.length;
    cqe.wqe_index = node.at.slot;
    cqe.opcode = completion_opcode(node.opcode);
    cqe.vendor_err = syndrome;
  }
  release(node);
}

void Requester::drop_all(QueuePair& qp) {
  while (!qp.send.in_flight.empty()) release(qp.send.in_flight.pop_front());
  qp.send.rd_outstanding = 0;
  qp.send.repeat = nullptr;
  qp.send.message.open = false;
  transmit_queues_.drop(qp.context.qpn);
  core_.wqe_fetch->restart(qp);
}

}  // namespace hcasim::hca
