// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include <algorithm>
#include "fabric/link.hpp"

namespace hcasim::fabric {

/// A port that honours pause frames. It keeps its packets until they may start, so that none starts
/// while it is paused, and is at rest nothing but its Ethernet port.
class PausablePort final : public sim::Unit, public PacketPort, public PauseListener {
 public:
  PausablePort(sim::Engine& engine, const std::string& name, EthernetPort& port);

  /// The time that is returned is when the packet starts if no pause comes in before.
  Time send(PacketPtr packet) override;
  /// As if it were not paused: who keeps a buffer filled goes on to do so, and the link has work as
  /// soon as a pause ends.
  Time free_at() const override;
  void on_pause(Time length, Time arrival) override;
  void on_event(std::uint64_t argument) override;

  /// Pause frames that came in, those that end a pause included.
  std::uint64_t frames_in() const { return frames_in_; }

 private:
  struct Pause {
    Time length = 0;
    Time arrival = 0;
  };

  /// The earliest time at which a packet may start.
  Time ready_at() const { return std::max(port_.free_at(), paused_until_); }
  void take_pauses();
  void start_waiting();

  EthernetPort& port_;
  LinkRing<PacketPtr> waiting_;
  std::uint64_t waiting_bytes_ = 0;  // on the wire
  Time paused_until_ = 0;
  Time wake_at_ = 0;
  LinkRing<Pause> pauses_;  // on their way here
  std::uint64_t frames_in_ = 0;
};

}  // namespace hcasim::fabric
