// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <hcasim/hw/receive_queue_counters.hpp>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <limits>

namespace hcasim::hca {

/// Number of a clock cycle since reset.
using Cycle = std::uint64_t;

/// A cycle that never comes.
inline constexpr Cycle kNoCycle = std::numeric_limits<Cycle>::max();

/// What a receive-queue unit counted since reset.
using ReceiveQueueCounters = hw::rq::Counters;

/// One receive-queue unit, whatever it is made of. All implementations show the same outputs in
/// every cycle for the same inputs.
class ReceiveQueueUnit {
 public:
  ReceiveQueueUnit() = default;
  ReceiveQueueUnit(const ReceiveQueueUnit&) = delete;
  ReceiveQueueUnit& operator=(const ReceiveQueueUnit&) = delete;
  virtual ~ReceiveQueueUnit() = default;

  /// Runs cycle `cycle` with the inputs of that cycle and returns the outputs of the next one. The
  /// reference stays valid and follows the unit. Cycles are given in rising order. A cycle may be
  /// left out if it is before next_activity() and no handshake happens in it on any port (an input
  /// that is valid but not ready may wait), for nothing changes in such a cycle.
  virtual const hw::rq::Outputs& step(Cycle cycle, const hw::rq::Inputs& inputs) = 0;

  /// Outputs of the cycle after the last one stepped; those of reset before the first.
  virtual const hw::rq::Outputs& outputs() const = 0;

  /// The first cycle after the last one stepped in which something can change, if no input becomes
  /// valid and the readys stay as they were in that step; kNoCycle if there is none.
  virtual Cycle next_activity() const = 0;

  /// Steps the cycles from `cycle` to `last` in which something can change, the first with these
  /// inputs and the others with none, all outputs being accepted, until one of them has made an
  /// output valid; `cycle` becomes the last one. Returns the next cycle to be run; one in which
  /// nothing but the acceptance of a request happens may be left out.
  virtual Cycle run(Cycle& cycle, Cycle last, const hw::rq::Inputs& inputs);

  /// The first cycle after the last one stepped whose step may make an output valid, if no input
  /// becomes valid and the readys are set. The steps before it show nothing, so they may be run
  /// late, in order, each with the inputs of its cycle. A unit that cannot tell says when it is
  /// active next.
  virtual Cycle next_output() const { return next_activity(); }

  /// How many cycles after the step that takes the input an output may become valid because of it,
  /// as the unit stands now: 0 is that step itself, kNoCycle never.
  virtual Cycle output_delay(const hw::rq::Take&) const { return 0; }
  virtual Cycle output_delay(const hw::rq::Doorbell&) const { return 0; }
  virtual Cycle output_delay_of_beats(std::uint8_t /*tag*/) const { return 0; }

  virtual const ReceiveQueueCounters& counters() const = 0;

  /// Registers of a queue now, as QUERY would show them.
  virtual hw::rq::Snapshot snapshot(std::uint32_t queue) const = 0;

  virtual const hw::rq::Parameters& parameters() const = 0;
};

}  // namespace hcasim::hca
