// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hcasim/sim/config.hpp"
#include "sim/engine/engine_module.hpp"
#include "sim/system/node_system.hpp"

namespace hcasim::sim {

/// What a system is made of.
struct SystemOptions {
  std::vector<std::string> nodes;  ///< one or two names
  std::uint64_t seed = 1;
  bool run_ahead = true;
};

/// All nodes and the cable between them. A process holds one system at a time.
class System {
 public:
  System(const SystemConfig& config, const SystemOptions& options);
  ~System() { conductor_.stop(); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  std::size_t size() const { return nodes_.size(); }
  NodeSystem& node(std::size_t index) { return *nodes_[index]; }
  Conductor& conductor() { return conductor_; }

  /// Brings up all drivers. 0, or the first negative errno.
  int start_devices();
  /// From this time on, and not before, links and hosts have the faults of the configuration.
  void begin_faults(hw::Time time);
  /// Runs `body` as a task of the node, and the simulation until nothing is left to do.
  void run_task(std::size_t node, std::function<void()> body);
  /// Runs until nothing is left to do before `end`; true when something is left after it.
  bool run_until(hw::Time end);
  /// The latest time that any engine has reached.
  hw::Time now() const;

 private:
  hw::Time next_time();

  Conductor conductor_;
  std::vector<std::unique_ptr<NodeSystem>> nodes_;
};

}  // namespace hcasim::sim
