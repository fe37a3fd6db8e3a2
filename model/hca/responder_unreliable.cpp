// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Receiving without answers: what UC and UD do otherwise than RC.

#include <algorithm>
#include <span>

#include "fabric/codec.hpp"
#include "hca/qp_control.hpp"
#include "hca/responder.hpp"
#include "hcasim/hw/wire/multicast.hpp"

namespace hcasim::hca {

// Each queue pair of the group at the port gets a copy of the datagram, which takes a turn of the
// stage and a receive of its own. The sender's message is not timed by any of them. What is for
// nobody is dropped.
void Responder::to_group(const fabric::Packet& packet) {
  const bool group =
      packet.dest_qp == hw::kMulticastQpn && hw::transport_of(packet.opcode) == hw::Transport::kUd;
  const auto members =
      group ? core_.multicast.members(packet.address.dst_gid) : std::span<const std::uint32_t>{};
  bool heard = false;
  for (const std::uint32_t qpn : members) {
    if (core_.qp(qpn)->port != packet.port) continue;
    heard = true;
    fabric::PacketPtr copy = core_.packets.clone(packet);
    copy->port = packet.port;
    copy->dest_qp = qpn;
    copy->message = 0;
    enter_again(std::move(copy));
  }
  if (!heard) ++counters_.n_pkt_drops;
}

// On UC a gap, or the beginning of another message, is the end of the message in hand. Whatever
// the PSN, the packet is looked at: the next that begins a message is the one to go on with.
bool Responder::admit_unreliable(QueuePair& qp, fabric::Packet& packet) {
  ReceiveState& receive = qp.receive;
  packet.ack_req = false;  // whatever it asks for
  if (qp.datagram() && packet.qkey != qp.context.qkey) {
    ++counters_.qkey_violations;
    ++counters_.n_pkt_drops;
    return false;
  }
  if (qp.datagram()) {
    receive.comm_est = true;  // nothing to establish
  } else {
    const bool gap = packet.psn != receive.expected_psn;
    if (gap) ++counters_.out_of_sequence;
    if (gap || packet.info().starts) receive.receiving = Receiving::kNothing;
    receive.expected_psn = packet.psn;
  }
  if (packet.info().starts && receive.rwqe != nullptr) {
    core_.stamp(packet.message, Stamp::kRwqeTaken, now());  // left over from one that was dropped
  }
  return true;
}

// Nobody hears of it, and the rest of the message is dropped too.
Responder::Verdict Responder::give_up(QueuePair& qp) {
  ++counters_.n_pkt_drops;
  qp.receive.receiving = Receiving::kNothing;
  if (!qp.datagram()) qp.receive.expected_psn = hw::psn_add(qp.receive.expected_psn, 1);
  return Verdict::kDone;
}

// Only an error of the receive WQE itself ends the queue pair (InfiniBand specification 9.9.3).
Responder::Verdict Responder::refuse_unreliable(QueuePair& qp, hw::NakCode code,
                                                hw::WcStatus in_hand) {
  if (code != hw::NakCode::kRemoteOperational) return give_up(qp);
  core_.qp_control->fail(qp, in_hand);
  return Verdict::kDone;
}

// In one piece, as it lies in host memory.
void Responder::assemble(const fabric::Packet& packet, DatagramBytes& bytes) {
  fabric::encode_grh_area(packet, std::span(bytes).first<hw::kGrhAreaBytes>());
  std::ranges::copy(packet.payload(), bytes.begin() + hw::kGrhAreaBytes);
}

}  // namespace hcasim::hca
