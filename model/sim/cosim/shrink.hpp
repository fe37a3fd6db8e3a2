// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sim/cosim/bench.hpp"
#include "sim/cosim/stimulus_list.hpp"

namespace hcasim::sim::cosim {

/// A stimulus, and the difference that it shows.
struct FailingStimulus {
  StimulusList stimulus;
  Difference difference;
};

/// Replays a stimulus from reset. @return its difference, if there is one
std::optional<Difference> replay(std::span<const Side> sides, const StimulusList& stimulus);

/// Makes a failing stimulus as short as can be found: leaves out operations, then makes numbers
/// smaller, and keeps what still fails in the same port and field. The same input gives the same
/// result, whatever the machine: the search ends after `budget` cycles.
FailingStimulus shrink(std::span<const Side> sides, const FailingStimulus& failing,
                       hca::Cycle budget = 8'000'000);

}  // namespace hcasim::sim::cosim
