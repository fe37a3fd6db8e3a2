// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/sim/run.hpp"
#include "sim/replay/system_statistics.hpp"
#include "sim/system/system.hpp"

namespace hcasim::sim {

/// What units count and how long they are busy, as differences to those of the moment in which
/// measuring begins.
class MeasuredSpan {
 public:
  /// This is the moment.
  void begin(System& system);
  bool begun() const { return !nodes_.empty(); }
  /// Adds what all have done since, in `time`.
  void append_to(RunResult& out, System& system, hw::Time time) const;

 private:
  std::vector<SystemSnapshot> nodes_;
  std::vector<Counter> switch_;
  std::uint64_t switch_events_ = 0;
};

}  // namespace hcasim::sim
