// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "hca/parameters.hpp"
#include "hcasim/hw/time.hpp"

namespace hcasim::hca {

using hw::Time;

/// The clock of the adapter's core, of at most 500 GHz. Its period is a whole number of
/// picoseconds.
class CoreClock {
 public:
  explicit CoreClock(std::uint32_t mhz)
      : period_(hw::kMicrosecond / mhz),
        shift_(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(period_ - 1))) - 1),
        reciprocal_(static_cast<std::uint64_t>((Wide{1} << (64 + shift_)) /
                                               static_cast<std::uint64_t>(period_)) +
                    1) {}

  Time period() const { return period_; }
  Time cycles(std::uint64_t count) const { return static_cast<Time>(count) * period_; }
  /// The last cycle that has begun at `time`, which is not negative.
  std::uint64_t cycle_at(Time time) const {
    return static_cast<std::uint64_t>(Wide{static_cast<std::uint64_t>(time)} * reciprocal_ >> 64) >>
           shift_;
  }
  /// The first edge strictly after `time`: where a value produced at `time` is sampled.
  Time edge_after(Time time) const { return cycles(cycle_at(time) + 1); }

 private:
  __extension__ using Wide = unsigned __int128;

  Time period_;
  // A multiplication in place of a division, which is the dearest of all instructions: exact for
  // every time (Granlund and Montgomery, Division by invariant integers, theorem 4.2).
  unsigned shift_;
  std::uint64_t reciprocal_;
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
  Time enter(Time now) { return enter_at_edge(clock_.edge_after(now)); }
  /// The same for a value that is sampled at `edge`.
  Time enter_at_edge(Time edge) {
    const Time start = std::max(edge, next_free_);
    next_free_ = start + interval_;
    busy_ += interval_;
    return start + latency_;
  }
  /// The next value may not enter before `time`.
  void hold_until(Time time) {
    if (time > next_free_) next_free_ = clock_.edge_after(time - 1);
  }
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
