// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/core.hpp"
#include "hca/pool.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Messages of UC and UD on their way out of the port. Nobody answers them: the work request is
/// done when the last bit of its last packet has left, and its completion is made at that time.
/// Also minds a port that is paused: what waits there is stamped as it starts.
class Departures final : public sim::Unit, public fabric::PortListener {
 public:
  explicit Departures(Core& core) : Unit(core.engine, "departures"), core_(core) {}

  /// The last packet of the queue pair's oldest message that is not here yet went to the port last,
  /// which said that it starts at `start`.
  void wait(QueuePair& qp, hw::Time start);

  void on_event(std::uint64_t qpn) override;
  void port_stops() override { core_.port_stopped = true; }
  void port_goes_on() override;
  void started(const fabric::Departure& departure) override;

 private:
  Core& core_;
  Fifo<std::uint32_t> waiting_;  // queue pairs whose last packet waits in the port
};

}  // namespace hcasim::hca
