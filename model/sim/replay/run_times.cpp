// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/run_times.hpp"

#include <algorithm>
#include <string>

namespace hcasim::sim {

hw::Time patience_with(const CheckedTrace& trace, const SystemConfig& config) {
  constexpr hw::Time kTimeoutUnit = 4096 * hw::kNanosecond;
  std::uint32_t timeout = trace.longest_timeout();
  hw::Time flight = 0;
  for (const NameId name : trace.nodes()) {
    const NodeConfig& node = config.node(std::string(trace.names().text(name)));
    timeout = std::max(timeout, node.hca.requester.ack_timeout_floor);
    const fabric::Parameters& link = node.fabric;
    const hw::Time late =
        std::max(link.faults.reordering_delay_ns, link.faults.duplication_delay_ns);
    flight = std::max<hw::Time>(flight, (link.propagation_ns + late) * hw::kNanosecond);
  }
  const hw::Time apart = (kTimeoutUnit << std::min(timeout, 31u)) + trace.longest_rnr_pause();
  return 2 * hw::Time{8} * (apart + 2 * flight) + kSlice;
}

hw::Time time_to_arrive(const NodeConfig& node) {
  const fabric::Parameters& link = node.fabric;
  const double bytes = 1.0 * node.hca.scheduler.port_buffer_bytes + link.at_switch.buffer_bytes +
                       node.hca.responder.rx_buffer_bytes;
  const double buffered_ns = 10 * bytes * 8 / link.rate_gbps;
  const hw::Time delays = hw::Time{link.propagation_ns} + link.at_switch.latency_ns +
                          link.faults.reordering_delay_ns + link.faults.duplication_delay_ns;
  return (static_cast<hw::Time>(buffered_ns) + 2 * delays) * hw::kNanosecond + kSlice;
}

}  // namespace hcasim::sim
