// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/switch_module.hpp"
#include "hcasim/sim/config.hpp"
#include "sim/engine/engine_module.hpp"
#include "sim/system/node_system.hpp"

namespace hcasim::sim {

/// What sim::Coupling handles well; addresses would go further.
inline constexpr std::size_t kMaxNodes = 256;

/// A node of a system.
struct NodeOptions {
  NodeOptions(std::string node_name, std::optional<std::size_t> in_host_of = {})  // NOLINT
      : name(std::move(node_name)), host(in_host_of) {}
  NodeOptions(const char* node_name) : name(node_name) {}  // NOLINT(google-explicit-constructor)

  std::string name;
  /// Index of the earlier node in whose host it sits, one that has a host of its own; absent: it
  /// has one itself.
  std::optional<std::size_t> host;
};

/// What a system is made of.
struct SystemOptions {
  std::vector<NodeOptions> nodes;  ///< one to kMaxNodes
  std::uint64_t seed = 1;
  bool run_ahead = true;
  /// Makes the receive-queue units, and outlives them; null: they are the model.
  ReceiveQueueMaker* receive_queues = nullptr;
};

/// All hosts, nodes and the cables or the switch between them. A process holds one system at a
/// time.
class System {
 public:
  /// @throws InputError when a cable is to join adapters that differ in their number of ports
  /// @throws std::invalid_argument when there are too few or too many nodes, or a host is none
  System(const SystemConfig& config, const SystemOptions& options);
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  std::size_t size() const { return nodes_.size(); }
  NodeSystem& node(std::size_t index) { return *nodes_[index]; }
  Conductor& conductor() { return conductor_; }
  /// Null where there is none.
  fabric::SwitchModule* network_switch() { return switch_.get(); }
  /// The least time from one node to another over the network; 0 for a node itself and within a
  /// host, where engine and memory are one.
  hw::Time apart(std::size_t from, std::size_t to);

  /// Brings up all drivers. 0, or the first negative errno.
  int start_devices();
  /// From this time on, and not before, links and hosts have the faults of the configuration.
  void begin_faults(hw::Time time);
  /// Runs `body` as a task of the node, and the simulation until nothing is left to do.
  void run_task(std::size_t node, std::function<void()> body);
  /// Runs `body` as a task of the node, and the simulation until soon after its end. For where
  /// others may always have something left to do, such as retries without end.
  void run_task_to_its_end(std::size_t node, const std::function<void()>& body);
  /// Runs until nothing is left to do before `end`; true when something is left after it.
  bool run_until(hw::Time end);
  /// The latest time that any engine has reached.
  hw::Time now() const;

 private:
  hw::Time next_time();
  fabric::PortModule& switch_port(std::size_t node, std::uint32_t port);
  void add_node(const NodeOptions& options, const NodeConfig& config, const SystemOptions& system);
  void lay_cable();
  void join_by_switch(std::uint64_t seed);

  Conductor conductor_;
  std::vector<std::unique_ptr<NodeSystem>> nodes_;
  std::unique_ptr<fabric::SwitchModule> switch_;
  std::vector<std::size_t> first_switch_port_;  // of each node
};

}  // namespace hcasim::sim
