// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/run_watchers.hpp"

namespace hcasim::sim {

RunWatchers::RunWatchers(const RunOptions& options) : observer_(options.observer) {
  if (!options.pcap.empty()) {
    packets_ = std::make_unique<PacketRecorder>(options.pcap, PacketRecorder::kReorderWindow,
                                                options.outputs);
  }
  if (!options.ftrace.empty()) {
    tracepoints_ = std::make_unique<ftrace::Recorder>(
        options.ftrace, ftrace::Recorder::kReorderWindow, options.outputs);
  }
}

void RunWatchers::watch(NodeSystem& node, std::size_t index) {
  watch_ports(node.adapter(), index);
  if (tracepoints_ == nullptr) return;
  node.adapter().adapter().set_timer_observer(
      &tracepoints_->add_node(node.node_name(), *node.device()));
}

// Only an observer of the run hears of arrivals, which cost an event each.
void RunWatchers::watch_ports(hca::AdapterModule& adapter, std::size_t index) {
  for (std::uint32_t port = 0; port < adapter.ports(); ++port) {
    fabric::PacketObserver* const recorder = packets_ != nullptr ? &packets_->add_port() : nullptr;
    adapter.port(port).port().set_observer(recorder);
    if (observer_ == nullptr) continue;
    ObservedNode& node = observed_.emplace_back(*observer_, index, recorder);
    adapter.port(port).port().set_observer(&node, true);
    adapter.adapter().set_transport_observer(&node);
  }
}

void RunWatchers::set_epoch(hw::Time epoch) {
  if (packets_ != nullptr) packets_->set_epoch(epoch);
  if (tracepoints_ != nullptr) tracepoints_->set_epoch(epoch);
  if (observer_ != nullptr) observer_->on_epoch(epoch);
}

bool RunWatchers::failed() const {
  return (packets_ != nullptr && packets_->failed()) ||
         (tracepoints_ != nullptr && tracepoints_->failed());
}

void RunWatchers::close() {
  if (packets_ != nullptr) packets_->close();
  if (tracepoints_ != nullptr) tracepoints_->close();
}

void RunWatchers::leave(NodeSystem& node) {
  hca::AdapterModule& adapter = node.adapter();
  adapter.adapter().set_transport_observer(nullptr);
  adapter.adapter().set_timer_observer(nullptr);
  for (std::uint32_t port = 0; port < adapter.ports(); ++port) {
    adapter.port(port).port().set_observer(nullptr);
  }
}

}  // namespace hcasim::sim
