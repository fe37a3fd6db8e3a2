// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/core.hpp"
#include "hca/pool.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Messages of UC and UD on their way out of their port. Nobody answers them: the work request is
/// done when the last bit of its last packet has left, and its completion is made at that time.
/// Also minds ports that are paused: what waits there is stamped as it starts.
class Departures final : public sim::Unit {
 public:
  explicit Departures(Core& core)
      : Unit(core.engine, "departures"),
        core_(core),
        ports_{{{*this, 0}, {*this, 1}, {*this, 2}, {*this, 3}}} {}

  /// The last packet of the queue pair's oldest message that is not here yet went to the port last,
  /// which said that it starts at `start`.
  void wait(QueuePair& qp, hw::Time start);
  /// For the port with this index, which may be paused.
  fabric::PortListener& listener(std::uint32_t index) { return ports_[index]; }

  void on_event(std::uint64_t qpn) override;

 private:
  class PausedPort final : public fabric::PortListener {
   public:
    PausedPort(Departures& owner, std::uint32_t index) : owner_(owner), index_(index) {}
    void wait(std::uint32_t qpn) { waiting_.push(qpn); }
    void port_stops() override;
    void port_goes_on() override;
    void started(const fabric::Departure& departure) override;

   private:
    Departures& owner_;
    std::uint32_t index_;
    Fifo<std::uint32_t> waiting_;  // queue pairs whose last packet waits in the port
  };

  Core& core_;
  static_assert(hw::kMaxPorts == 4);
  std::array<PausedPort, hw::kMaxPorts> ports_;
};

}  // namespace hcasim::hca
