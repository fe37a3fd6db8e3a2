// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/config.hpp"
#include "sim/replay/checked_trace.hpp"

/// How long a run goes on before it is looked at, or given up.
namespace hcasim::sim {

/// A run is looked at after each slice, to see whether it still gets anywhere.
inline constexpr hw::Time kSlice = 10 * hw::kMillisecond;

/// Slices grow while a run waits for a time; what then goes on for ever does so for one of them.
inline constexpr hw::Time kLongestSlice = 100 * hw::kSecond;

/// How long nothing may come of it, while something still happens, before nodes look further ahead.
inline constexpr hw::Time kPatienceWithWindow = hw::kSecond;

/// How long nothing may come of it before a run is given up: twice as long as retries last that
/// come to an end, of which there are 7 after a first try, as far apart as the trace's longest
/// timeout and the longest pause after an RNR NAK. What goes on for longer goes on for ever.
hw::Time patience_with(const CheckedTrace& trace, const SystemConfig& config);

/// How long after it has left a message may still arrive: what is ahead of it in buffers takes its
/// time on the wire, and to a host that may be ten times slower.
hw::Time time_to_arrive(const NodeConfig& node);

}  // namespace hcasim::sim
