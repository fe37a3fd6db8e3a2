// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/adapter_module.hpp"

#include <string>
#include <utility>

#include "sim/engine/random.hpp"

namespace hcasim::hca {

namespace {

// The first port has the name and the seed that the only one has.
std::unique_ptr<fabric::PortModule> make_port(std::uint32_t index, sim::EngineModule& node,
                                              const fabric::Parameters& fabric,
                                              std::uint64_t seed) {
  if (index == 0) return std::make_unique<fabric::PortModule>("port", node, fabric, seed);
  const std::string name = "port_" + std::to_string(index + 1);
  const std::uint64_t own = sim::Random::mix(sim::Random::mix(seed) + index);
  return std::make_unique<fabric::PortModule>(name.c_str(), node, fabric, own);
}

}  // namespace

std::vector<std::unique_ptr<AdapterModule::Port>> AdapterModule::make_ports(
    std::uint32_t count, sim::EngineModule& node, const fabric::Parameters& fabric,
    std::uint64_t seed) {
  std::vector<std::unique_ptr<Port>> ports;
  for (std::uint32_t i = 0; i < count; ++i) {
    ports.push_back(std::make_unique<Port>());
    ports.back()->index = i;
    ports.back()->module = make_port(i, node, fabric, seed);
  }
  return ports;
}

AdapterModule::AdapterModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
                             const Parameters& parameters, const pcie::Parameters& pcie,
                             const fabric::Parameters& fabric,
                             std::unique_ptr<ReceiveQueueUnit> unit, std::uint64_t seed)
    : sc_core::sc_module(name),
      dma_("dma", node, pcie),
      bar_("bar", node, pcie, dma_.endpoint()),
      ports_(make_ports(parameters.ports, node, fabric, seed)),
      adapter_(node.engine(), parameters, dma_.port(), packets_, std::move(unit)) {
  bar_.set_target(adapter_);
  adapter_.set_bar_host(bar_.host());
  for (const auto& port : ports_) attach(*port, node, parameters, fabric);
}

void AdapterModule::attach(Port& port, sim::EngineModule& node, const Parameters& parameters,
                           const fabric::Parameters& fabric) {
  port.adapter = &adapter_;
  port.module->set_link_listener(port);
  fabric::EthernetPort& ethernet = port.module->port();
  ethernet.set_sink(adapter_.packet_sink(port.index));
  fabric::PacketPort* out = &ethernet;
  if (fabric.at_switch.pfc) {
    port.pausable = std::make_unique<fabric::PausablePort>(node.engine(), "pausable_port", ethernet,
                                                           parameters.scheduler.port_buffer_bytes);
    out = port.pausable.get();
  }
  const double bits = 8.0 * parameters.scheduler.port_buffer_bytes;
  adapter_.set_port(*out, static_cast<hw::Time>(bits * 1000.0 / fabric.rate_gbps), port.index);
}

}  // namespace hcasim::hca
