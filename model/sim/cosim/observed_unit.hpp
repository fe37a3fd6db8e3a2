// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/cosim/coverage_collector.hpp"

namespace hcasim::sim::cosim {

/// A unit in a whole system whose traffic is judged by the rules and counted in a coverage. It is
/// stepped when the system steps it; cycles that are left out have nothing to see but stalls.
class ObservedUnit final : public hca::ReceiveQueueUnit {
 public:
  /// @param unit made with at most some ten thousand queues: each costs memory here
  /// @param coverage must live as long
  ObservedUnit(std::unique_ptr<hca::ReceiveQueueUnit> unit, Coverage& coverage);

  const hw::rq::Outputs& step(hca::Cycle cycle, const hw::rq::Inputs& in) override;
  const hw::rq::Outputs& outputs() const override { return unit_->outputs(); }
  hca::Cycle next_activity() const override { return unit_->next_activity(); }
  hca::Cycle next_output() const override { return unit_->next_output(); }
  hca::Cycle output_delay(const hw::rq::Take& take) const override {
    return unit_->output_delay(take);
  }
  hca::Cycle output_delay(const hw::rq::Doorbell& doorbell) const override {
    return unit_->output_delay(doorbell);
  }
  hca::Cycle output_delay_of_beats(std::uint8_t tag) const override {
    return unit_->output_delay_of_beats(tag);
  }
  const hca::ReceiveQueueCounters& counters() const override { return unit_->counters(); }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override { return unit_->snapshot(queue); }
  const hw::rq::Parameters& parameters() const override { return unit_->parameters(); }

  /// What the scoreboard found wrong.
  const std::vector<std::string>& faults() const { return scoreboard_.faults(); }

 private:
  std::unique_ptr<hca::ReceiveQueueUnit> unit_;
  CoverageCollector collector_;
  Scoreboard scoreboard_;
};

}  // namespace hcasim::sim::cosim
