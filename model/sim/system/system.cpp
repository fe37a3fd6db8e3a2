// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/system/system.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hcasim/sim/input_error.hpp"
#include "sim/engine/log.hpp"
#include "sim/engine/own_stack.hpp"

namespace hcasim::sim {

System::System(const SystemConfig& config, const SystemOptions& options)
    : conductor_(options.run_ahead) {
  route_kernel_reports();
  if (options.nodes.empty() || options.nodes.size() > kMaxNodes) {
    throw std::invalid_argument("a system has one node to " + std::to_string(kMaxNodes));
  }
  bool switched = options.nodes.size() > 2;
  for (const NodeOptions& it : options.nodes) {
    const NodeConfig& node = config.node(it.name);
    add_node(it, node, options);
    switched |= node.fabric.topology == fabric::Topology::kSwitch;
  }
  if (switched) {
    join_by_switch(options.seed);
  } else {
    lay_cable();
  }
}

// The last that came is the first to go, for it may share the host of an earlier one.
System::~System() {
  conductor_.stop();
  for (const auto& node : nodes_) node->release_device();
  while (!nodes_.empty()) nodes_.pop_back();
}

void System::add_node(const NodeOptions& options, const NodeConfig& config,
                      const SystemOptions& system) {
  const std::string module = "node_" + options.name;
  const std::size_t index = nodes_.size();
  if (!options.host) {
    nodes_.push_back(std::make_unique<NodeSystem>(module.c_str(), options.name, index, config,
                                                  system.seed, conductor_, system.receive_queues));
    return;
  }
  if (*options.host >= index || nodes_[*options.host]->shares_host()) {
    throw std::invalid_argument("the host of node " + options.name +
                                " is not that of an earlier node with a host of its own");
  }
  nodes_.push_back(std::make_unique<NodeSystem>(module.c_str(), options.name, index, config,
                                                system.seed, *nodes_[*options.host],
                                                system.receive_queues));
}

// Ports with the same number are at the ends of one cable.
void System::lay_cable() {
  NodeSystem& first = *nodes_.front();
  NodeSystem& second = *nodes_.back();  // with one node, cables lead back into their own port
  const std::uint32_t ports = first.adapter().ports();
  if (second.adapter().ports() != ports) {
    throw InputError("configuration", 0, 0,
                     "hca.ports of node " + second.node_name() + " to be that of node " +
                         first.node_name() + " (" + std::to_string(ports) +
                         "), as cables join their ports unless fabric.topology is switch",
                     std::to_string(second.adapter().ports()));
  }
  for (std::uint32_t port = 0; port < ports; ++port) {
    fabric::connect(first.adapter().port(port), second.adapter().port(port));
    fabric::couple(conductor_.coupling(), first.adapter().port(port), second.adapter().port(port));
  }
}

fabric::PortModule& System::switch_port(std::size_t node, std::uint32_t port) {
  return switch_->port(first_switch_port_[node] + port);
}

void System::join_by_switch(std::uint64_t seed) {
  std::vector<fabric::SwitchLink> links;
  for (const auto& node : nodes_) {
    first_switch_port_.push_back(links.size());
    for (std::uint32_t port = 0; port < node->adapter().ports(); ++port) {
      links.push_back({node->node_name(), node->config().fabric, port + 1});
    }
  }
  switch_ = std::make_unique<fabric::SwitchModule>("network_switch", conductor_, links, seed);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (std::uint32_t port = 0; port < nodes_[i]->adapter().ports(); ++port) {
      fabric::PortModule& own = nodes_[i]->adapter().port(port);
      fabric::PortModule& there = switch_port(i, port);
      fabric::connect(own, there);
      fabric::couple(conductor_.coupling(), own, there);
      switch_->core().add_address(nodes_[i]->address(port).mac, first_switch_port_[i] + port);
    }
  }
}

hw::Time System::apart(std::size_t from, std::size_t to) {
  if (&nodes_[from]->engine() == &nodes_[to]->engine()) return 0;
  return conductor_.coupling().latency(nodes_[from]->engine_module().index(),
                                       nodes_[to]->engine_module().index());
}

hw::Time System::now() const {
  hw::Time latest = switch_ != nullptr ? switch_->engine_module().engine().now() : 0;
  for (const auto& node : nodes_) latest = std::max(latest, node->engine().now());
  return latest;
}

bool System::run_until(hw::Time end) {
  conductor_.set_end(end);
  if (next_time() < end) {
    conductor_.schedule_next();
    sc_core::sc_start();
    announce_own_stack();
  }
  for (const auto& node : nodes_) {
    if (node->engine().error() != nullptr) std::rethrow_exception(node->engine().error());
  }
  if (switch_ != nullptr && switch_->engine_module().engine().error() != nullptr) {
    std::rethrow_exception(switch_->engine_module().engine().error());
  }
  return next_time() != hw::kNever;
}

hw::Time System::next_time() {
  Coupling& coupling = conductor_.coupling();
  return coupling.engine(coupling.earliest()).next_time();
}

void System::run_task(std::size_t node, std::function<void()> body) {
  nodes_[node]->host().cpu().start_task(std::move(body));
  run_until(hw::kNever);
}

void System::run_task_to_its_end(std::size_t node, const std::function<void()>& body) {
  constexpr hw::Time kStep = 10'000 * hw::kNanosecond;  // how far behind its end, at most
  bool ended = false;
  nodes_[node]->host().cpu().start_task([&] {
    body();
    ended = true;
  });
  while (!ended && run_until(next_time() + kStep)) {
  }
}

int System::start_devices() {
  int result = 0;
  for (std::size_t i = 0; i < nodes_.size() && result == 0; ++i) {
    run_task(i, [&] { result = rvt::rvt_register_device(nodes_[i]->device()); });
  }
  return result;
}

void System::begin_faults(hw::Time time) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i]->host().begin_faults(time);
    for (std::uint32_t port = 0; port < nodes_[i]->adapter().ports(); ++port) {
      nodes_[i]->adapter().port(port).begin_faults(time);
      if (switch_ != nullptr) switch_port(i, port).begin_faults(time);
    }
  }
}

}  // namespace hcasim::sim
