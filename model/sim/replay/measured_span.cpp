// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/measured_span.hpp"

namespace hcasim::sim {

void MeasuredSpan::begin(System& system) {
  for (std::size_t i = 0; i < system.size(); ++i) nodes_.push_back(snapshot(system.node(i)));
  if (fabric::SwitchModule* network_switch = system.network_switch()) {
    switch_ = switch_counters(*network_switch);
    switch_events_ = network_switch->engine_module().engine().events_run();
  }
}

void MeasuredSpan::append_to(RunResult& out, System& system, hw::Time time) const {
  for (std::size_t i = 0; i < system.size(); ++i) {
    NodeSystem& node = system.node(i);
    append_statistics(node, nodes_[i], time, out.statistics);
    if (node.shares_host()) {
      out.statistics.nodes[i].host = node.host_owner().node_name();
    } else {
      out.engine_events += node.engine().events_run() - nodes_[i].engine_events;
    }
  }
  if (fabric::SwitchModule* network_switch = system.network_switch()) {
    append_difference(switch_, switch_counters(*network_switch), out.statistics);
    out.engine_events += network_switch->engine_module().engine().events_run() - switch_events_;
  }
}

}  // namespace hcasim::sim
