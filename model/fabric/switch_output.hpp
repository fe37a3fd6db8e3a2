// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "fabric/link.hpp"
#include "fabric/pause_control.hpp"
#include "fabric/red_marker.hpp"

namespace hcasim::fabric {

/// What a port of a switch has counted, under the names that `ethtool -S` has for them.
struct SwitchCounters {
  std::uint64_t rx_packets_phy = 0;
  std::uint64_t rx_bytes_phy = 0;  ///< with FCS
  std::uint64_t tx_packets_phy = 0;
  std::uint64_t tx_bytes_phy = 0;
  std::uint64_t tx_discards_phy = 0;          ///< came to a full buffer
  std::uint64_t discard_ingress_general = 0;  ///< for nobody that the switch knows
  std::uint64_t ecn_marked = 0;
};

/// The queue of one output: first come, first served, in a buffer of bytes. A packet takes its
/// place, with FCS, from its arrival until its last bit has left; one that finds too little room
/// is dropped.
class SwitchOutput final : public sim::Unit {
 public:
  SwitchOutput(sim::Engine& engine, const std::string& name, EthernetPort& port,
               const SwitchParameters& parameters, std::uint64_t seed);

  /// Takes a packet that came in where `input` is paused.
  void take(PacketPtr packet, PauseControl& input);
  void on_event(std::uint64_t argument) override;

  std::uint64_t held() const { return held_; }
  SwitchCounters& counters() { return counters_; }

  /// Bytes that a packet takes in a buffer.
  static std::uint32_t bytes_of(const Packet& packet);

 private:
  struct Waiting {
    PacketPtr packet;
    PauseControl* input = nullptr;
    std::uint32_t bytes = 0;
  };

  void mark(Packet& packet);
  void send_next();

  EthernetPort& port_;
  std::uint64_t buffer_bytes_;
  bool ecn_;
  RedMarker marker_;
  std::uint64_t held_ = 0;
  LinkRing<Waiting> waiting_;
  Waiting leaving_;  // on the wire: its packet has gone
  SwitchCounters counters_;
};

}  // namespace hcasim::fabric
