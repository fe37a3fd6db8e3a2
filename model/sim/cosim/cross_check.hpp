// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cosim/coverage.hpp"
#include "sim/cosim/profile.hpp"
#include "sim/cosim/shrink.hpp"

namespace hcasim::sim::cosim {

/// One random run.
struct RandomRun {
  const Profile* profile = nullptr;
  hw::rq::Parameters parameters;
  std::uint64_t seed = 1;
  hca::Cycle cycles = 200'000;
};

/// What came of it.
struct RunResult {
  hca::Cycle cycles = 0;  ///< compared, those in which the unit came to rest included
  std::uint64_t operations = 0;
  hca::ReceiveQueueCounters counters;  ///< of the first side, at the end
  std::optional<FailingStimulus> failing;
};

/// Longest life of a unit: a longer run begins anew, so that what replays it stays of a size.
inline constexpr hca::Cycle kLongestLife = 500'000;

/// Runs until `run.cycles` or to the first difference.
/// @param coverage counts what the first side did; may be null
RunResult cross_check(std::span<const Side> sides, const RandomRun& run,
                      Coverage* coverage = nullptr);

/// Where and what, the last transactions of the queue, and what the stimulus is.
std::string describe(std::span<const Side> sides, const FailingStimulus& failing);

}  // namespace hcasim::sim::cosim
