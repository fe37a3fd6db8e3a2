// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hcasim/sim/run_statistics.hpp"

namespace hcasim::sim {

/// Adds the messages of another of the same opcode, or of any; latencies are left alone.
void add(OpcodeStatistics& sum, const OpcodeStatistics& part);

/// The same run with one entry in place of all nodes, named after their number: messages and
/// counters are summed up, of occupancy the mean and the empty share are averaged, and its p99 and
/// maximum and all utilisation ("up to") are those of the node that has the most. Counters of what
/// is no node stay as they are.
RunStatistics sum_of_nodes(const RunStatistics& statistics);

}  // namespace hcasim::sim
