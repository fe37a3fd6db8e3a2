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
    const std::string number = link.port == 1 ? "" : std::to_string(link.port);
    const std::string module_name = "port" + number + '_' + link.name;  // no dot in a module's name
    ports_.push_back(
        std::make_unique<PortModule>(module_name.c_str(), engine_, link.link, of_port));
    const std::string port_name = number.empty() ? link.name : link.name + '.' + number;
    ports.push_back({port_name, ports_.back()->port(), link.link.at_switch});
  }
  core_ = std::make_unique<Switch>(engine_.engine(), ports, seed);
}

}  // namespace hcasim::fabric
