// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hcasim/sim/run_observer.hpp"
#include "support/protocol_monitor/protocol_monitor.hpp"

namespace hcasim::support {

/// Holds every queue pair of a run against the rules of the transport, as RunOptions::observer.
/// The ports have the numbers of the nodes.
class MonitoredRun : public sim::RunObserver {
 public:
  /// What is on its way in an adapter when it learns something may be held up by slow memory, by
  /// pauses and by packets of other queue pairs.
  static constexpr hw::Time kReaction = 100 * hw::kMicrosecond;

  explicit MonitoredRun(const monitor::MonitorOptions& strictness = {.reaction = kReaction})
      : monitor_(strictness) {}

  monitor::ProtocolMonitor& monitor() { return monitor_; }

  void on_sent(std::size_t node, const fabric::Packet& packet, hw::Time start) override {
    port(node).on_sent(packet, start);
  }
  void on_arrived(std::size_t node, const fabric::Packet& packet, hw::Time end) override {
    port(node).on_arrived(packet, end);
  }
  void on_discarded(std::size_t node, const fabric::Packet& packet, hw::Time at) override {
    port(node).on_discarded(packet, at);
  }
  void on_qp_modified(std::size_t node, const hw::QpContext& context, hw::QpState before,
                      hw::Time at) override {
    port(node).on_qp_modified(context, before, at);
  }
  void on_qp_reset(std::size_t node, std::uint32_t qpn, hw::Time at) override {
    port(node).on_qp_reset(qpn, at);
  }

 private:
  monitor::MonitoredPort& port(std::size_t node) {
    while (ports_.size() <= node) ports_.push_back(&monitor_.add_port());
    return *ports_[node];
  }

  monitor::ProtocolMonitor monitor_;
  std::vector<monitor::MonitoredPort*> ports_;
};

}  // namespace hcasim::support
