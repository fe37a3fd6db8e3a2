// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "fabric/port_module.hpp"
#include "fabric/switch.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::fabric {

/// A node at a switch: its name, the link that leads to it, and which of the node's ports is there.
struct SwitchLink {
  std::string name;
  Parameters link;
  std::uint32_t port = 1;
};

/// A switch with an engine of its own, and the two sockets of each of its ports.
class SwitchModule : public sc_core::sc_module {
 public:
  SwitchModule(const sc_core::sc_module_name& name, sim::Conductor& conductor,
               const std::vector<SwitchLink>& links, std::uint64_t seed);

  PortModule& port(std::size_t index) { return *ports_[index]; }
  Switch& core() { return *core_; }
  sim::EngineModule& engine_module() { return engine_; }

 private:
  sim::EngineModule engine_;
  std::vector<std::unique_ptr<PortModule>> ports_;
  std::unique_ptr<Switch> core_;
};

}  // namespace hcasim::fabric
