// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/core.hpp"
#include "hca/transmit_queue.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::hca {

struct GatherPlan;

/// Where the response of a READ or an atomic goes.
struct ScatterList {
  ScatterList* next = nullptr;
  std::uint32_t count = 0;
  std::array<hw::Sge, 62> sges;
};

/// A work request that was begun and has no completion yet.
struct InFlight {
  RingPointer at;
  std::uint64_t tag = 0;
  std::uint32_t first_psn = 0;
  std::uint32_t last_psn = 0;
  std::uint32_t ssn = 0;
  std::uint32_t length = 0;
  std::uint32_t received = 0;  ///< bytes of a READ's response
  hw::WrOpcode opcode = hw::WrOpcode::kSend;
  std::uint8_t flags = 0;
  bool outstanding = false;  ///< a READ or an atomic that counts against the limit
  hw::WcStatus status = hw::WcStatus::kSuccess;  ///< an error that shows when its turn comes
  ScatterList* copy = nullptr;                   ///< SGEs of a READ or an atomic
  InFlight* next = nullptr;
};
static_assert(sizeof(InFlight) == 64, "larger than a cache line");

/// Cuts work requests into packets: path MTU, PSN, fences, the limit of outstanding READs and
/// atomics, the window, end-to-end credits; payload inline or gathered by DMA. A message of UC or
/// UD is done once its last packet has left: see Departures.
class Requester final : public TransmitQueue::Owner {
 public:
  struct Counters {
    std::uint64_t packets = 0;
    std::uint64_t messages = 0;
    std::uint64_t retransmitted_packets = 0;
    std::uint64_t credit_waits = 0;  ///< rdmavt n_rc_crwaits
  };

  explicit Requester(Core& core) : core_(core), transmit_queues_(core, *this) {}

  /// Makes the next packet of the queue pair; false when it has none to send now.
  bool transmit(QueuePair& qp);
  /// Since when the next packet has been at hand, as far as work requests go; never: it is not.
  static hw::Time more_since(const QueuePair& qp) {
    if (qp.send.message.open) return 0;
    return qp.send.front != nullptr ? qp.send.front_arrival : hw::kNever;
  }
  /// True while no further packet may be made for this port.
  bool full(std::uint32_t port) const {
    return transmit_queues_[port].size() >= core_.parameters.requester.gather_reads;
  }
  /// Decides by which port the next datagram leaves. False when it has to wait: completions are
  /// made in order, so a queue pair changes its port when all that it sent has left.
  bool choose_port(QueuePair& qp) const;
  /// Everything that was sent up to here is to be sent again from `psn` on.
  void rewind(QueuePair& qp, std::uint32_t psn);
  /// All before `psn` is answered, and finished where it was whole: of what is to be sent again,
  /// that is left out.
  void skip_to(QueuePair& qp, std::uint32_t psn) {
    if (hw::psn_before(qp.send.next_psn, psn)) skip(qp, psn);
  }
  /// Ends the oldest work request. Success completes only what asked for it.
  void finish_oldest(QueuePair& qp, hw::WcStatus status, std::uint8_t syndrome);
  /// The oldest work request, a local one, has been carried out.
  void local_done(QueuePair& qp, hw::WcStatus status);
  /// The oldest message, one of UC or UD, has left.
  void departed(QueuePair& qp);
  /// Ends work requests that failed before they left, once those before them are done.
  void settle(QueuePair& qp);
  /// Forgets all work requests that were begun.
  void drop_all(QueuePair& qp);

  /// A packet started at `at`.
  void stamp_packet(std::uint64_t message, const hw::OpcodeInfo& info, hw::Time at);
  TransmitQueues& transmit_queues() { return transmit_queues_; }
  const Counters& counters() const { return counters_; }

  void packet_left(std::uint32_t qpn, std::uint64_t message, const hw::OpcodeInfo& info,
                   hw::Time at, std::uint32_t port) override;
  bool gather_failed(std::uint32_t qpn, fabric::Packet& packet, std::uint32_t port) override;
  void packet_dropped(std::uint32_t qpn, std::uint32_t port) override;

 private:
  bool begin(QueuePair& qp);
  bool may_begin(QueuePair& qp, const hw::SendWqeControl& control);
  bool has_credit(QueuePair& qp, hw::WrOpcode opcode);
  void begin_message(QueuePair& qp, const hw::SendWqeControl& control);
  InFlight& append(QueuePair& qp, const hw::SendWqeControl& control);
  static InFlight& current(SendState& send) {
    return send.repeat != nullptr ? *send.repeat : *send.in_flight.last;
  }
  void copy_scatter_list(InFlight& node, const std::uint8_t* wqe, std::uint32_t num_sge);
  void local_operation(QueuePair& qp, InFlight& node);
  void fail_here(QueuePair& qp, InFlight& node, hw::WcStatus status);
  // Where the packet of this PSN begins in the message.
  static std::uint32_t offset_of(const InFlight& node, std::uint32_t psn, const QueuePair& qp) {
    return ((psn - node.first_psn) & hw::kPsnMask) << qp.mtu_shift();
  }
  static void go_back(QueuePair& qp, InFlight& node, std::uint32_t psn);
  void skip(QueuePair& qp, std::uint32_t psn);
  bool window_open(const QueuePair& qp) const;
  fabric::PacketPtr make_packet(const QueuePair& qp);
  void send_data_packet(QueuePair& qp);
  void send_request_packet(QueuePair& qp);
  bool fill_payload(QueuePair& qp, fabric::PacketPtr packet, std::uint32_t bytes);
  void send_complete(QueuePair& qp, fabric::PacketPtr packet);
  void gather(QueuePair& qp, fabric::PacketPtr packet, const GatherPlan& plan, bool comes_back);
  bool comes_back(const QueuePair& qp, const fabric::Packet& packet) const;
  bool has_port(const QueuePair& qp) const;
  void send_to_group(QueuePair& qp, fabric::PacketPtr packet, std::uint32_t bytes);
  static void address_datagram(const QueuePair& qp, fabric::Packet& packet);
  bool wants_ack(QueuePair& qp, bool last);
  void end_packet(QueuePair& qp, std::uint32_t psns, std::uint32_t bytes);
  void release(InFlight& node);

  Core& core_;
  TransmitQueues transmit_queues_;
  Pool<InFlight, 256> in_flight_;
  Pool<ScatterList> scatter_lists_;
  Counters counters_;
};

}  // namespace hcasim::hca
