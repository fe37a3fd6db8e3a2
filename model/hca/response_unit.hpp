// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/core.hpp"
#include "hca/port_lane.hpp"
#include "hca/transmit_queue.hpp"
#include "hcasim/hw/wire/syndrome.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// An answer that waits for its turn.
struct Response {
  enum class Kind : std::uint8_t { kAck, kRead, kAtomic };

  Response* next = nullptr;
  std::uint64_t addr = 0;
  std::uint64_t original = 0;
  std::uint64_t message = 0;
  hw::Time since = 0;  ///< decided at
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;
  std::uint32_t offset = 0;
  std::uint32_t psn = 0;
  std::uint32_t msn = 0;
  Kind kind = Kind::kAck;
  std::uint8_t syndrome = 0;
  bool ready = true;
  bool repeated = false;  ///< does not count against the limit of READs and atomics
};

/// Answers of the last atomics of a queue pair.
struct Replay {
  static constexpr std::uint32_t kEntries = 256;
  Replay* next = nullptr;
  std::uint32_t written = 0;
  std::array<std::uint64_t, kEntries> original;
  std::array<std::uint32_t, kEntries> psn;
};

/// Sends what the responder answers: ACKs, NAKs, READ responses, atomic answers; in the order of
/// the requests within a queue pair, round robin among them, a packet a turn; for each port on its
/// own. An ACK that still
/// waits behind nothing but ACKs takes up later ones.
///
/// Timing: an answer decided at t leaves at the first edge after t plus `ack_latency_cycles`, one
/// packet each `interval` of the responder.
class ResponseUnit : public sim::Unit, public TransmitQueue::Owner {
 public:
  struct Counters {
    std::uint64_t acks = 0;
    std::uint64_t acks_merged = 0;
    std::uint64_t naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t read_response_packets = 0;
    std::uint64_t atomic_responses = 0;
    std::uint64_t atomic_replays = 0;
  };

  explicit ResponseUnit(Core& core);

  void acknowledge(QueuePair& qp, std::uint32_t psn);
  void nak(QueuePair& qp, std::uint32_t psn, std::uint8_t syndrome);
  /// `repeated`: was asked for before, and does not count against the limit of READs and atomics.
  void read(QueuePair& qp, const fabric::Packet& request, bool repeated);
  /// Keeps a place for the answer of an atomic; atomic_ready() fills it.
  Response& atomic(QueuePair& qp, const fabric::Packet& request);
  void atomic_ready(QueuePair& qp, Response& response, std::uint64_t original);
  /// The atomic could not be carried out: its answer is a NAK.
  void atomic_failed(QueuePair& qp, Response& response);
  /// Answers a repeated atomic from memory; silent when it is too old.
  void replay_atomic(QueuePair& qp, std::uint32_t psn);
  /// Forgets answers that have not left and those kept for repetition.
  void release(QueuePair& qp);

  /// An answer to a READ by this key is not complete.
  static bool reads_by(const QueuePair& qp, std::uint32_t rkey);
  TransmitQueues& transmit_queues() { return transmit_queues_; }
  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;
  void packet_left(std::uint32_t qpn, std::uint64_t message, const hw::OpcodeInfo& info,
                   hw::Time at, std::uint32_t port) override;
  bool gather_failed(std::uint32_t qpn, fabric::Packet& packet, std::uint32_t port) override;
  void packet_dropped(std::uint32_t qpn, std::uint32_t port) override;

 private:
  using Kind = Response::Kind;
  struct Place {
    std::uint32_t qpn = 0;
    hw::Time since = 0;  ///< when its next packet could be begun
  };

  Response& append(QueuePair& qp, Kind kind, std::uint32_t psn);
  void activate(QueuePair& qp);
  void resume(std::uint32_t port);
  void arrange(std::uint64_t port);
  bool send_one(QueuePair& qp);
  void make_nak(fabric::Packet& packet, hw::NakCode code);
  void refuse_read(QueuePair& qp, fabric::PacketPtr packet);
  void send_read_packet(QueuePair& qp, Response& response);
  void pop(QueuePair& qp);
  std::uint8_t credits(const QueuePair& qp) const;
  fabric::PacketPtr make_packet(const QueuePair& qp, const Response& response);
  void transmit(fabric::PacketPtr packet, QueuePair& qp);

  Core& core_;
  Stage stage_;
  TransmitQueues transmit_queues_;
  Pool<Response, 256> responses_;
  Pool<Replay, 4> replays_;
  PortLanes<Place> lanes_;
  Counters counters_;
};

}  // namespace hcasim::hca
