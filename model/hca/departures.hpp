// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/core.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Messages of UC and UD on their way out of their port. Nobody answers them: the work request is
/// done when the last bit of its last packet has left, and its completion is made at that time.
class Departures final : public sim::Unit {
 public:
  explicit Departures(Core& core) : Unit(core.engine, "departures"), core_(core) {}

  /// The last packet of the queue pair's oldest message that is not here yet went to the port last.
  void wait(QueuePair& qp);

  void on_event(std::uint64_t qpn) override;

 private:
  Core& core_;
};

}  // namespace hcasim::hca
