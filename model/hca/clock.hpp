// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "hca/parameters.hpp"
#include "hcasim/hw/time.hpp"

namespace hcasim::hca {

using hw::Time;

/// The clock of the adapter's core. Its period is a whole number of picoseconds.
class CoreClock {
 public:
  explicit CoreClock(std::uint32_t mhz) : period_(hw::kMicrosecond / mhz) {}

  Time period() const { return period_; }
  Time cycles(std::uint64_t count) const { return static_cast<Time>(count) * period_; }
  /// The first edge strictly after `time`: where a value produced at `time` is sampled.
  Time edge_after(Time time) const { return (time / period_ + 1) * period_; }

 private:
  Time period_;
};

/// One pipeline stage: accepts a value each interval, delivers it a latency after accepting it.
class Stage {
 public:
  Stage(const CoreClock& clock, StageTiming timing)
      : clock_(clock),
        latency_(clock.cycles(timing.latency_cycles)),
        interval_(clock.cycles(timing.interval_cycles)) {}

  /// A value that was produced at `now` enters as soon as the stage is free; returns the time at
  /// which it leaves. Calls must be in order of time.
  Time enter(Time now) {
    const Time start = std::max(clock_.edge_after(now), next_free_);
    next_free_ = start + interval_;
    busy_ += interval_;
    return start + latency_;
  }
  /// The next value may not enter before `time`.
  void hold_until(Time time) { next_free_ = std::max(next_free_, clock_.edge_after(time - 1)); }
  Time next_free() const { return next_free_; }
  Time latency() const { return latency_; }
  /// Total time during which the stage could accept nothing.
  Time busy() const { return busy_; }

 private:
  CoreClock clock_;
  Time latency_;
  Time interval_;
  Time next_free_ = 0;
  Time busy_ = 0;
};

}  // namespace hcasim::hca
