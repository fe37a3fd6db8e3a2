// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "hca/receive_queue/receive_queue_unit.hpp"

namespace hcasim::hca {

/// A unit whose input traffic is written down as stimulus for the cross-check: the text of
/// `hcasim-receive-queue-stimulus 1`. What is new on a port in a cycle is one operation; outputs
/// are accepted at once, as adapters do. Beats of memory are told by their tag and cycle, rings by
/// the low bits of their address, and what the WQEs hold is left to whoever replays it. In a long
/// silence of a unit at rest nothing happens, and most of it is left out.
class RecordingReceiveQueue final : public ReceiveQueueUnit {
 public:
  /// Who gets the text, line by line and in order.
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void line(const std::string& text) = 0;
    /// A command named this queue.
    virtual void queue(std::uint32_t number) = 0;
  };

  /// `sink` outlives this.
  RecordingReceiveQueue(std::unique_ptr<ReceiveQueueUnit> unit, Sink& sink);

  const hw::rq::Outputs& step(Cycle cycle, const hw::rq::Inputs& inputs) override;
  const hw::rq::Outputs& outputs() const override { return unit_->outputs(); }
  Cycle next_activity() const override { return unit_->next_activity(); }
  Cycle next_output() const override { return unit_->next_output(); }
  Cycle output_delay(const hw::rq::Take& take) const override { return unit_->output_delay(take); }
  Cycle output_delay(const hw::rq::Doorbell& doorbell) const override {
    return unit_->output_delay(doorbell);
  }
  Cycle output_delay_of_beats(std::uint8_t tag) const override {
    return unit_->output_delay_of_beats(tag);
  }
  const ReceiveQueueCounters& counters() const override { return unit_->counters(); }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override { return unit_->snapshot(queue); }
  const hw::rq::Parameters& parameters() const override { return unit_->parameters(); }

 private:
  void wait_until(Cycle cycle);
  void record(const hw::rq::Inputs& inputs);

  std::unique_ptr<ReceiveQueueUnit> unit_;
  Sink& sink_;
  Cycle recorded_ = 0;      // the cycle that the text has come to
  Cycle stepped_ = 0;       // the one after the last that was stepped
  bool cmd_waits_ = false;  // was offered in the last cycle and not accepted
  bool doorbell_waits_ = false;
  bool take_waits_ = false;
};

/// The lines at the beginning of a recording, for units of this size.
std::string stimulus_head(const hw::rq::Parameters& parameters);

}  // namespace hcasim::hca
