// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/context_cache.hpp"
#include "hca/core.hpp"
#include "hca/port_lane.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Chooses the queue pair that sends the next packet: round robin over those that have something to
/// send, at most `burst_packets` of one before the next one's turn. It makes packets only as fast
/// as the port takes them, and for each port on its own: one that takes none holds up no queue pair
/// of another. A queue pair whose context is not on chip gives up its turn, and comes
/// back as the last once the context is here.
///
/// Timing: a queue pair that becomes active at t has its packet made at the first edge after t plus
/// the latencies of scheduler and requester; packets follow each other by the larger of the two
/// intervals.
class SendScheduler : public sim::Unit, public ContextUser {
 public:
  struct Counters {
    std::uint64_t turns = 0;
    std::uint64_t blocked = 0;  ///< turns in which the queue pair could not send
  };

  explicit SendScheduler(Core& core);

  /// The queue pair may have something to send.
  void activate(QueuePair& qp);
  /// Room was made for packets of this port.
  void resume(std::uint32_t port);

  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;
  void on_context(std::uint64_t qpn) override;

 private:
  struct Place {
    std::uint32_t qpn = 0;
    bool fetched = false;  ///< the context came for this turn
    hw::Time since = 0;    ///< when its next packet could be begun
  };
  struct Lane : PortLane<Place> {
    std::uint32_t burst = 0;  ///< packets of the front in this turn
  };

  void arrange(std::uint64_t port);
  bool has_context(Lane& lane, std::uint64_t port);
  bool has_moved(Lane& lane, std::uint64_t port);
  void take_turn(Lane& lane);

  Core& core_;
  Stage stage_;
  std::array<Lane, hw::kMaxPorts> lanes_;
  Counters counters_;
};

}  // namespace hcasim::hca
