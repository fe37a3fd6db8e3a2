// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/adapter_module.hpp"

#include <utility>

namespace hcasim::hca {

AdapterModule::AdapterModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
                             const Parameters& parameters, const pcie::Parameters& pcie,
                             const fabric::Parameters& fabric,
                             std::unique_ptr<ReceiveQueueUnit> unit, std::uint64_t seed)
    : sc_core::sc_module(name),
      dma_("dma", node, pcie),
      bar_("bar", node, pcie, dma_.endpoint()),
      port_("port", node, fabric, seed),
      adapter_(node.engine(), parameters, dma_.port(), packets_, std::move(unit)) {
  bar_.set_target(adapter_);
  adapter_.set_bar_host(bar_.host());
  port_.port().set_sink(adapter_.packet_sink());
  fabric::PacketPort* out = &port_.port();
  if (fabric.at_switch.pfc) {
    pausable_ = std::make_unique<fabric::PausablePort>(node.engine(), "pausable_port", port_.port(),
                                                       parameters.scheduler.port_buffer_bytes);
    out = pausable_.get();
  }
  const double bits = 8.0 * parameters.scheduler.port_buffer_bytes;
  adapter_.set_port(*out, static_cast<hw::Time>(bits * 1000.0 / fabric.rate_gbps));
}

}  // namespace hcasim::hca
