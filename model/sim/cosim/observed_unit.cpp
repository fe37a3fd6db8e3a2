// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/observed_unit.hpp"

#include <utility>

namespace hcasim::sim::cosim {

ObservedUnit::ObservedUnit(std::unique_ptr<hca::ReceiveQueueUnit> unit, Coverage& coverage)
    : unit_(std::move(unit)), collector_(coverage), scoreboard_(*unit_, &collector_) {
  scoreboard_.ignore_data();
}

const hw::rq::Outputs& ObservedUnit::step(hca::Cycle cycle, const hw::rq::Inputs& in) {
  const hw::rq::Outputs now = unit_->outputs();
  const hw::rq::Outputs& next = unit_->step(cycle, in);
  scoreboard_.cycle(cycle, in, now, next);
  collector_.cycle(cycle, in, now, *unit_, scoreboard_);
  return next;
}

}  // namespace hcasim::sim::cosim
