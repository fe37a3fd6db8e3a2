// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hcasim/sim/run_statistics.hpp"

namespace hcasim::sim {

/// The text of stats.json: all of a run, times in nanoseconds with at most three decimals. The same
/// statistics give the same bytes, always.
std::string to_json(const RunStatistics& statistics);

/// The text that `hcasim run --json` prints: the few numbers that scripts ask for.
std::string to_short_json(const RunStatistics& statistics);

}  // namespace hcasim::sim
