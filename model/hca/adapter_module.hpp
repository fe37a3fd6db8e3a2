// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <systemc>

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
  fabric::PortModule& port() { return port_; }

  /// Null without priority flow control.
  const fabric::PausablePort* pausable_port() const { return pausable_.get(); }

  Adapter& adapter() { return adapter_; }
  pcie::Endpoint& endpoint() { return dma_.endpoint(); }

 private:
  fabric::PacketPool packets_;
  pcie::DmaInitiator dma_;
  pcie::BarTargetSocket bar_;
  fabric::PortModule port_;
  std::unique_ptr<fabric::PausablePort> pausable_;
  Adapter adapter_;
};

}  // namespace hcasim::hca
