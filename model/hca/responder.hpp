// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fabric/port.hpp"
#include "hca/context_cache.hpp"
#include "hca/core.hpp"
#include "hca/send_opcodes.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"
#include "hcasim/hw/wire/syndrome.hpp"
#include "hcasim/hw/wqe.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// A receive WQE that was taken for a message.
struct TakenWqe {
  TakenWqe* next = nullptr;
  std::array<hw::Sge, hw::kMaxReceiveSge> sges;  // only num_sge of them are ever written
  std::uint64_t wr_id = 0;
  std::uint64_t length = 0;  ///< bytes of all SGEs
  std::uint32_t slot = 0;
  std::uint32_t num_sge = 0;

  void copy(const TakenWqe& other) {
    std::copy_n(other.sges.begin(), other.num_sge, sges.begin());
    wr_id = other.wr_id;
    length = other.length;
    slot = other.slot;
    num_sge = other.num_sge;
  }
};

/// The responder: checks each request in the order of the specification, takes receive WQEs, writes
/// data to host memory and says what is to be answered. A packet whose receive WQE or atomic is not
/// at hand yet waits, and with it those of its queue pair behind it; so does one, request or
/// answer, whose context or translations have to be fetched. Other queue pairs go on. UC and UD get
/// no answer: what cannot be taken is dropped, with the rest of its message, and the receive WQE in
/// hand serves the next one.
///
/// Payload that PCIe has not taken yet fills the receive buffer; a packet that finds no room is
/// discarded, and one without payload always finds some.
class Responder final : public sim::Unit, public ContextUser {
 public:
  /// mlx5 hw_counters of the responder side.
  struct Counters {
    std::uint64_t rx_write_requests = 0;
    std::uint64_t rx_read_requests = 0;
    std::uint64_t rx_atomic_requests = 0;
    std::uint64_t rx_send_requests = 0;
    std::uint64_t out_of_buffer = 0;  ///< a message found no receive WQE
    std::uint64_t out_of_sequence = 0;
    std::uint64_t duplicate_request = 0;
    std::uint64_t resp_local_length_error = 0;
    std::uint64_t resp_remote_access_errors = 0;
    std::uint64_t resp_remote_invalid_request = 0;
    std::uint64_t resp_local_qp_error = 0;
    std::uint64_t n_pkt_drops = 0;      ///< rdmavt: nobody at the port to give it to, or dropped
    std::uint64_t rx_buffer_full = 0;   ///< waiting packets did not fit
    std::uint64_t rx_discards_phy = 0;  ///< payload did not fit behind what waits for PCIe
    std::uint64_t pkey_violations = 0;  ///< rdmavt: packets of a partition that is not the port's
    std::uint64_t qkey_violations = 0;  ///< rdmavt: datagrams
  };

  explicit Responder(Core& core);
  ~Responder() override;

  /// Who takes what comes in at this port: every packet, for until it could leave the stage nothing
  /// happens to it.
  fabric::PacketSink& sink(std::uint32_t port) { return sinks_[port]; }
  /// What this adapter sent to a group. To be told when it could leave the stage.
  void looped_back(fabric::PacketPtr packet);
  /// The answer to a take.
  void taken(std::uint32_t qpn, hw::rq::TakeStatus status, const TakenWqe& wqe,
             std::uint32_t remaining);
  /// An atomic has been carried out.
  void atomic_done(QueuePair& qp);
  /// `bytes` of payload are on the way to the host, and visible there at `visible`.
  void delivered(std::uint32_t bytes, hw::Time visible);
  /// Brings what an answer to this queue pair needs; the answer is looked at again then.
  void fetch_for_answer(QueuePair& qp, const Missing& missing);
  /// Drops what waits; a receive WQE in hand completes with `in_hand`, or vanishes on success.
  void stop(QueuePair& qp, hw::WcStatus in_hand);
  /// Gives back what the queue pair held.
  void release(QueuePair& qp);

  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;
  void on_context(std::uint64_t token) override;

 private:
  class Sink final : public fabric::PacketSink {
   public:
    Sink(Responder& responder, std::uint32_t port) : responder_(responder), port_(port) {}
    void on_packet(fabric::PacketPtr packet) override { on_wire(packet, responder_.now()); }
    void on_wire(fabric::PacketPtr& packet, hw::Time arrival) override {
      packet->port = port_;
      responder_.arrives(packet, arrival);
    }

   private:
    Responder& responder_;
    std::uint32_t port_;
  };

  enum class Verdict : std::uint8_t { kDone, kWait };
  // What a fetch was for, beside the QPN: the context, the data of an answer, or else that of the
  // first pending request.
  static constexpr std::uint64_t kForHeld = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kForAnswer = std::uint64_t{1} << 33;
  using DatagramBytes = std::array<std::uint8_t, hw::kGrhAreaBytes + fabric::kMaxPayloadBytes>;

  struct Arrival {
    fabric::Packet* packet;  ///< owned
    hw::Time at;
  };

  /// Payload in the receive buffer.
  struct Buffered {
    hw::Time until;
    std::uint32_t bytes;
  };

  void arrives(fabric::PacketPtr& packet, hw::Time arrival);
  bool fits(std::uint32_t bytes);
  fabric::PacketPtr enter_stage();
  void handle(fabric::PacketPtr packet);
  void enter_again(fabric::PacketPtr packet);
  void to_group(const fabric::Packet& packet);
  bool dispatch(QueuePair& qp, fabric::PacketPtr& packet, bool fetched);
  void hold(QueuePair& qp, fabric::PacketPtr packet);
  void go_on(QueuePair& qp, bool fetched);
  void drop_held(QueuePair& qp);
  fabric::PacketPtr take_held(QueuePair& qp);
  bool must_fetch(QueuePair& qp, const Missing& missing);
  Translation* translation();
  void request(QueuePair& qp, fabric::PacketPtr packet);
  void run_pending(QueuePair& qp);
  Verdict process(QueuePair& qp, fabric::Packet& packet);
  Verdict carry_out(QueuePair& qp, const fabric::Packet& packet);
  bool admit_unreliable(QueuePair& qp, fabric::Packet& packet);
  static void assemble(const fabric::Packet& packet, DatagramBytes& bytes);
  Verdict datagram(QueuePair& qp, const fabric::Packet& packet);
  Verdict give_up(QueuePair& qp);
  Verdict refuse_unreliable(QueuePair& qp, hw::NakCode code, hw::WcStatus in_hand);
  void establish(QueuePair& qp);
  bool in_order(QueuePair& qp, const fabric::Packet& packet);
  void duplicate(QueuePair& qp, const fabric::Packet& packet);
  bool sequence_ok(const QueuePair& qp, const fabric::Packet& packet) const;
  bool length_ok(const QueuePair& qp, const fabric::Packet& packet) const;
  Verdict send(QueuePair& qp, const fabric::Packet& packet);
  bool begin_write(QueuePair& qp, const hw::Reth& reth);
  hw::Time write_data(const MemoryRegion& region, std::uint64_t address,
                      const fabric::Packet& packet);
  Verdict write(QueuePair& qp, const fabric::Packet& packet);
  Verdict read(QueuePair& qp, const fabric::Packet& packet);
  Verdict atomic(QueuePair& qp, const fabric::Packet& packet);
  Verdict need_receive(QueuePair& qp);
  bool plan_receive(QueuePair& qp, std::uint32_t bytes, GatherPlan& plan);
  hw::Time scatter(const GatherPlan& plan, const std::uint8_t* data, std::uint32_t bytes);
  bool may_invalidate(const QueuePair& qp, std::uint32_t key);
  hw::Cqe& complete_receive(QueuePair& qp, const fabric::Packet& packet, hw::WcOpcode opcode);
  void taken_too_late(QueuePair& qp, hw::rq::TakeStatus status, const TakenWqe& wqe);
  void queue_failed(QueuePair& qp);
  void found_none(QueuePair& qp);
  void complete_failed(QueuePair& qp, const TakenWqe& wqe, hw::WcStatus status);
  static void advance(QueuePair& qp, bool ends);
  void accept(QueuePair& qp, const fabric::Packet& packet);
  Verdict refuse(QueuePair& qp, hw::NakCode code, hw::WcStatus in_hand);
  void drop_pending(QueuePair& qp);
  void drop_first_pending(QueuePair& qp);

  Core& core_;
  Stage stage_;
  std::array<Sink, hw::kMaxPorts> sinks_{{{*this, 0}, {*this, 1}, {*this, 2}, {*this, 3}}};
  Fifo<Arrival> arriving_;           // not in the stage yet
  Fifo<fabric::PacketPtr> delayed_;  // in it, behind others
  Pool<TakenWqe> taken_;
  std::uint32_t waiting_packets_ = 0;
  Fifo<Buffered> buffered_;
  std::uint32_t buffered_bytes_ = 0;
  bool fetched_ = false;  // the translations of the packet that is carried out
  Counters counters_;
};

}  // namespace hcasim::hca
