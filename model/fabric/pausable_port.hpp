// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "fabric/link.hpp"

namespace hcasim::fabric {

/// A port that honours pause frames. It keeps its packets until they may start, so that none starts
/// while it is paused, and is at rest nothing but its Ethernet port. A listener is stopped while
/// the port is paused and its buffer has no room for another packet, and until it has room again.
class PausablePort final : public sim::Unit, public PacketPort, public PauseListener {
 public:
  /// `buffer_bytes`, on the wire: what is kept at most of what is handed over during a pause.
  PausablePort(sim::Engine& engine, const std::string& name, EthernetPort& port,
               std::uint64_t buffer_bytes);

  void set_listener(PortListener& listener) override { listener_ = &listener; }
  /// kStartsLater when the packet has to wait.
  Time send(PacketPtr packet) override;
  /// As if it were not paused, so that its buffer is kept filled and the link has work as soon as a
  /// pause ends.
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
  bool paused() const { return paused_until_ > now(); }
  bool has_room() const { return waiting_bytes_ + kMaxWireBytes <= buffer_bytes_; }
  void take_pauses();
  void start_waiting();
  void start_first();
  void stop_or_go_on();
  void wake_at(Time at);

  EthernetPort& port_;
  LinkRing<PacketPtr> waiting_;
  std::uint64_t buffer_bytes_;
  std::uint64_t waiting_bytes_ = 0;  // on the wire
  PortListener* listener_ = nullptr;
  bool stopped_ = false;   // the listener
  bool draining_ = false;  // what came in during a pause has not left
  Time paused_until_ = 0;
  Time wake_ = 0;
  LinkRing<Pause> pauses_;  // on their way here
  std::uint64_t frames_in_ = 0;
};

}  // namespace hcasim::fabric
