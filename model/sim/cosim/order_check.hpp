// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cosim/cross_check.hpp"

namespace hcasim::sim::cosim {

/// Compares by order and content alone, for RTL of another latency
/// (testbench/cosim/COMPARISON.md): each side has its own neighbours, which wait for it.
///
/// Uses the operations of a random run of `run.cycles` cycles without those that name cycles.
RunResult order_check(std::span<const Side> sides, const RandomRun& run);

/// The same with given operations.
std::optional<Difference> order_replay(std::span<const Side> sides, const StimulusList& stimulus);

/// Makes its stimulus as short as can be found.
FailingStimulus order_shrink(std::span<const Side> sides, const FailingStimulus& failing);

}  // namespace hcasim::sim::cosim
