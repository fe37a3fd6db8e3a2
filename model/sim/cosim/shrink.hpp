// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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

/// What one attempt showed.
struct Trial {
  std::optional<Difference> difference;
  hca::Cycle cycles = 0;       ///< that it took
  std::size_t operations = 0;  ///< of the list that were used up to the difference
};
using TryStimulus = std::function<Trial(const StimulusList&)>;

/// Makes a failing stimulus as short as can be found: leaves out operations, then makes numbers
/// smaller, and keeps what still fails in the same port and field. The same input gives the same
/// result, whatever the machine: the search ends after `budget` cycles.
FailingStimulus shrink(std::span<const Side> sides, const FailingStimulus& failing,
                       hca::Cycle budget = 8'000'000);

/// The same for any other way to fail.
FailingStimulus shrink(const TryStimulus& attempt, const FailingStimulus& failing,
                       hca::Cycle budget = 8'000'000);

}  // namespace hcasim::sim::cosim
