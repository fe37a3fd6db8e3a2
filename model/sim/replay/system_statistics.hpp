// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fabric/switch_module.hpp"
#include "hcasim/sim/run_statistics.hpp"
#include "sim/system/node_system.hpp"

namespace hcasim::sim {

/// Counters and busy times of a node at one moment; results are differences to the epoch's.
struct SystemSnapshot {
  std::vector<Counter> counters;
  std::vector<std::pair<std::string, hw::Time>> busy;
  std::uint64_t engine_events = 0;
};

SystemSnapshot snapshot(NodeSystem& node);

/// Packets that the node has sent of requests and of data read, less those sent again. While it
/// grows, messages get on.
std::int64_t new_packets(NodeSystem& node);

/// What the switch has counted so far, one unit a port.
std::vector<Counter> switch_counters(fabric::SwitchModule& module);

/// Adds what was counted since `before` to the statistics of a run.
void append_difference(const std::vector<Counter>& before, std::vector<Counter> after,
                       RunStatistics& statistics);

/// Adds what the node's units counted since `before` to the statistics of a run that took `time`.
void append_statistics(NodeSystem& node, const SystemSnapshot& before, hw::Time time,
                       RunStatistics& statistics);

}  // namespace hcasim::sim
