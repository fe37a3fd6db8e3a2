// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hca/clock.hpp"
#include "hca/core.hpp"

namespace hcasim::hca {

/// Those whose packets leave by one port, in a ring, and how far their next turn is. All lanes
/// share one stage, in which only the turns stand whose port takes the packet: one that is busy
/// holds up no other.
template <typename Place>
struct PortLane {
  /// Argument of the event at which a turn is looked at again, beside the number of the lane.
  static constexpr std::uint64_t kAgain = 16;
  static_assert(kAgain >= hw::kMaxPorts);

  Fifo<Place> ring;
  Time resumed_at = 0;
  Time open_at = 0;        ///< with several ports: the port has room for the packet of a turn
  bool scheduled = false;  ///< an event stands for the front
  bool held_up = false;    ///< for lack of room

  /// When the next turn could be entered, as far as the lane goes.
  Time since() { return std::max(ring.front().since, resumed_at); }

  /// Room was made. True when the front has waited for it, and is to be arranged again.
  bool resume(Time now) {
    if (!held_up) return false;
    held_up = false;
    resumed_at = now;
    return true;
  }
  /// True when an event is to be scheduled for the front. `full()`: it has to wait for room.
  template <typename Full>
  bool arrange(Full full) {
    if (scheduled || ring.empty()) return false;
    held_up = full();
    scheduled = !held_up;
    return scheduled;
  }
  /// The lane's event is here. False when the turn is to be arranged again.
  bool has_turn(std::uint64_t argument) {
    scheduled = false;
    return (argument & kAgain) == 0;
  }
  static std::uint64_t port_of(std::uint64_t argument) { return argument % kAgain; }
};

template <typename Place>
using PortLanes = std::array<PortLane<Place>, hw::kMaxPorts>;

/// A port's buffer is bounded: the next packet is made when all but its lead of it has left. With
/// one port that keeps the stage; with several, the lane.
template <typename Place>
void hold_for_room(const Core& core, std::uint64_t port, PortLane<Place>& lane, Stage& stage) {
  const CorePort& to = core.ports[port];
  const Time open_at = to.out->free_at() - to.lead - stage.latency();
  if (core.several_ports()) {
    lane.open_at = open_at;
  } else {
    stage.hold_until(open_at);
  }
}

/// The event of the next turn: when it leaves the stage; or when it is to be looked at again, so
/// late that the stage is taken in order of time. `argument` is set to match.
template <typename Place>
Time next_turn(const Core& core, PortLane<Place>& lane, Stage& stage, Time now,
               std::uint64_t& argument) {
  Time since = lane.since();
  if (core.several_ports() && lane.open_at > 0) {  // before that all ports have room
    const Time before = core.clock.edge_after(lane.open_at - 1) - core.clock.period();
    if (before > now) {
      argument |= PortLane<Place>::kAgain;
      return before;
    }
    since = std::max(since, before);
  }
  return stage.enter(since);
}

}  // namespace hcasim::hca
