// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>

#include "hcasim/sim/run_statistics.hpp"

namespace hcasim::sim {

/// What only a clock on the wall can tell of a run.
struct RunSpeed {
  double wall_seconds = 0;
  std::uint64_t engine_events = 0;
};

/// Writes the summary of a run for people: at most 24 lines of 100 columns with two nodes.
void print_summary(std::ostream& out, const RunStatistics& statistics, const RunSpeed& speed);

}  // namespace hcasim::sim
