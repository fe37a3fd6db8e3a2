// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "fabric/link.hpp"
#include "fabric/packet_pool.hpp"
#include "fabric/parameters.hpp"
#include "sim/engine/random.hpp"

namespace hcasim::fabric {

/// What a wire did to the packets of one direction.
struct FaultCounters {
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t lost_link_down = 0;
};

/// One direction of a link with faults: packets are lost, doubled, held back, have bits flipped, or
/// find the link down. It stands between a port and what the port would put its packets on, and
/// only ever adds delay.
class FaultyWire final : public Wire {
 public:
  /// `port` is the one that sends; `seed` that of the run and the node.
  FaultyWire(const EthernetPort& port, const Parameters::Faults& faults, std::uint64_t seed);

  /// Where packets go to.
  void set_wire(Wire& wire) { wire_ = &wire; }
  /// The run begins: before this time, and until this is called, the wire is sound.
  void begin(Time time) { begun_ = time; }

  void carry(PacketPtr packet, Time arrival) override;
  void carry_damaged(PacketPtr packet, std::span<const std::uint8_t> frame, Time arrival) override {
    wire_->carry_damaged(std::move(packet), frame, arrival);
  }

  /// Pause frames are left alone.
  void carry_pause(Time length, Time arrival) override { wire_->carry_pause(length, arrival); }

  const FaultCounters& counters() const { return counters_; }

 private:
  bool finds_link_down(const Packet& packet, Time arrival) const;
  void duplicate(const Packet& packet, Time arrival);
  void corrupt(PacketPtr packet, Time arrival);

  const EthernetPort& port_;
  Wire* wire_ = nullptr;
  sim::Chance loss_;
  sim::Chance duplication_;
  sim::Chance reordering_;
  sim::Chance corruption_;
  sim::Random flips_;
  Time duplication_delay_;
  Time reordering_delay_;
  Time down_at_;
  Time down_for_;
  Time begun_ = hw::kNever;
  PacketPool copies_;
  FaultCounters counters_;
};

}  // namespace hcasim::fabric
