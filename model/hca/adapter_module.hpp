// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "fabric/packet_pool.hpp"
#include "fabric/pausable_port.hpp"
#include "fabric/port_module.hpp"
#include "hca/adapter.hpp"
#include "pcie/bar_target_socket.hpp"
#include "pcie/dma_initiator.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::hca {

/// An adapter with the sockets of its three buses: DMA, BAR, network.
class AdapterModule : public sc_core::sc_module {
 public:
  /// `seed` is that of the faults of the link.
  AdapterModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
                const Parameters& parameters, const pcie::Parameters& pcie,
                const fabric::Parameters& fabric, std::unique_ptr<ReceiveQueueUnit> unit,
                std::uint64_t seed = 0);

  /// To be bound to the host's DMA target.
  tlm::tlm_initiator_socket<>& dma() { return dma_.socket(); }
  /// For the host's MMIO initiator; addresses are offsets into BAR 0.
  tlm::tlm_target_socket<>& bar() { return bar_.socket; }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(ports_.size()); }
  /// Counted from 0.
  fabric::PortModule& port(std::uint32_t index = 0) { return *ports_[index]->module; }
  /// Null without priority flow control.
  const fabric::PausablePort* pausable_port(std::uint32_t index = 0) const {
    return ports_[index]->pausable.get();
  }

  Adapter& adapter() { return adapter_; }
  pcie::Endpoint& endpoint() { return dma_.endpoint(); }

 private:
  /// One network port, and what it tells the adapter.
  struct Port final : fabric::LinkListener {
    void on_link(bool up) override { adapter->link_changed(index, up); }

    Adapter* adapter = nullptr;
    std::uint32_t index = 0;
    std::unique_ptr<fabric::PortModule> module;
    std::unique_ptr<fabric::PausablePort> pausable;
  };

  static std::vector<std::unique_ptr<Port>> make_ports(std::uint32_t count, sim::EngineModule& node,
                                                       const fabric::Parameters& fabric,
                                                       std::uint64_t seed);
  void attach(Port& port, sim::EngineModule& node, const Parameters& parameters,
              const fabric::Parameters& fabric);

  fabric::PacketPool packets_;
  pcie::DmaInitiator dma_;
  pcie::BarTargetSocket bar_;
  std::vector<std::unique_ptr<Port>> ports_;
  Adapter adapter_;
};

}  // namespace hcasim::hca
