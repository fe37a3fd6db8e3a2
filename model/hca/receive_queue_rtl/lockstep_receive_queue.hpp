// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hca/receive_queue/receive_queue_unit.hpp"
#include "hca/receive_queue_rtl/left_out_inputs.hpp"
#include "hca/receive_queue_rtl/port_difference.hpp"
#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

namespace hcasim::hca {

/// A unit that runs in lockstep with others.
struct LockstepSide {
  std::string name;  ///< for messages
  std::unique_ptr<ReceiveQueueUnit> unit;
  bool counts = true;        ///< its counters can be compared
  bool shows_queues = true;  ///< its snapshots can be compared
  hw::rq::PluginWidths widths{};
};

LockstepSide lockstep_side(std::string name, std::unique_ptr<ReceiveQueueUnit> unit);
LockstepSide lockstep_side(std::unique_ptr<RtlReceiveQueue> unit);

/// How much a lockstep compared.
struct LockstepCoverage {
  Cycle compared = 0;
  Cycle not_compared = 0;          ///< run, but not compared
  Cycle skipped = 0;               ///< not run, since all sides were at rest
  std::uint64_t takes = 0;         ///< takes accepted in cycles that were compared
  std::uint64_t takes_missed = 0;  ///< takes that a unit judged beyond these

  LockstepCoverage& operator+=(const LockstepCoverage& other);
};

/// Why a comparison that covers no more is worth nothing; empty when it is good: at least 95 % of
/// the cycles that were not skipped, and every take.
std::string too_little(const LockstepCoverage& coverage);

/// Two sides differ.
class LockstepMismatch : public std::runtime_error {
 public:
  /// `where` begins the message, as in "node a: "; it may be empty.
  LockstepMismatch(const std::string& where, Cycle cycle, PortDifference difference,
                   const std::string& reference, const std::string& side);

  Cycle cycle() const { return cycle_; }
  const PortDifference& difference() const { return difference_; }

 private:
  Cycle cycle_;
  PortDifference difference_;
};

/// Several units on the same inputs. In each cycle that is not skipped each side is compared with
/// the first: every output port, the counters, and the registers of a queue - the one that was last
/// on an input port, by turns with all others. What it shows is what the first side shows.
class LockstepReceiveQueue final : public ReceiveQueueUnit {
 public:
  /// The first side is the reference. `where` begins the messages.
  explicit LockstepReceiveQueue(std::vector<LockstepSide> sides, std::string where = {});

  /// The outputs are those of the cycle after `cycle`, and so is the cycle of a mismatch.
  /// @throws LockstepMismatch
  const hw::rq::Outputs& step(Cycle cycle, const hw::rq::Inputs& inputs) override;
  const hw::rq::Outputs& outputs() const override { return out_; }
  /// What the reference foresees: a system runs as with it alone. Cycles that are left out since it
  /// foresees nothing in them are run, late, unless all sides are at rest.
  Cycle next_activity() const override { return reference().next_activity(); }
  Cycle next_output() const override { return reference().next_output(); }
  Cycle output_delay(const hw::rq::Take& take) const override {
    return reference().output_delay(take);
  }
  Cycle output_delay(const hw::rq::Doorbell& doorbell) const override {
    return reference().output_delay(doorbell);
  }
  Cycle output_delay_of_beats(std::uint8_t tag) const override {
    return reference().output_delay_of_beats(tag);
  }
  const ReceiveQueueCounters& counters() const override { return reference().counters(); }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override {
    return reference().snapshot(queue);
  }
  const hw::rq::Parameters& parameters() const override { return reference().parameters(); }

  LockstepCoverage coverage() const;

 private:
  ReceiveQueueUnit& reference() const { return *sides_.front().unit; }
  bool at_rest() const;
  void run_one(Cycle cycle, const hw::rq::Inputs& inputs);
  void watch(const hw::rq::Inputs& inputs);
  void compare(Cycle cycle, LockstepSide& side);
  void compare_ports(Cycle cycle, const LockstepSide& side);
  void check(Cycle cycle, const LockstepSide& side, const std::optional<PortDifference>& found);

  std::vector<LockstepSide> sides_;
  std::string where_;
  const hw::rq::Outputs& out_;
  LeftOutInputs left_out_;
  LockstepCoverage coverage_;
  Cycle next_ = 0;
  std::uint32_t watched_ = 0;   // queue whose registers are compared
  std::uint32_t by_turns_ = 0;  // the other one
};

}  // namespace hcasim::hca
