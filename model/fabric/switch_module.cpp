// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/switch_module.hpp"

#include "sim/engine/random.hpp"

namespace hcasim::fabric {

SwitchModule::SwitchModule(const sc_core::sc_module_name& name, sim::Conductor& conductor,
                           const std::vector<SwitchLink>& links, std::uint64_t seed)
    : sc_core::sc_module(name), engine_("switch", conductor) {
  std::vector<Switch::Port> ports;
  for (const SwitchLink& link : links) {
    const std::uint64_t of_port = sim::Random::mix(seed) + ports_.size();
    ports_.push_back(
        std::make_unique<PortModule>(("port_" + link.name).c_str(), engine_, link.link, of_port));
    ports.push_back({link.name, ports_.back()->port(), link.link.at_switch});
  }
  core_ = std::make_unique<Switch>(engine_.engine(), ports, seed);
}

}  // namespace hcasim::fabric
