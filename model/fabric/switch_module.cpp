// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/switch_module.hpp"

namespace hcasim::fabric {

SwitchModule::SwitchModule(const sc_core::sc_module_name& name, sim::Conductor& conductor,
                           const std::vector<SwitchLink>& links, std::uint64_t seed)
    : sc_core::sc_module(name), engine_("switch", conductor), links_(links) {
  std::vector<Switch::Port> ports;
  for (const SwitchLink& link : links_) {
    ports_.push_back(
        std::make_unique<PortModule>(("port_" + link.name).c_str(), engine_, link.link));
    ports.push_back({link.name, ports_.back()->port(), link.link.at_switch});
  }
  core_ = std::make_unique<Switch>(engine_.engine(), ports, seed);
}

}  // namespace hcasim::fabric
