// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/host_module.hpp"

namespace hcasim::host {

HostModule::HostModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
                       const pcie::Parameters& pcie, const Parameters& parameters,
                       std::uint64_t memory_bytes, std::uint64_t seed)
    : sc_core::sc_module(name),
      tasks_(node.engine()),
      memory_(node.engine(), memory_bytes),
      interrupts_(node.engine(), parameters),
      root_complex_(node.engine(), pcie, memory_, interrupts_, seed),
      faults_(pcie.faults.any() ? std::make_unique<FaultyHost>(root_complex_, pcie.faults, seed)
                                : nullptr),
      mmio_initiator_("mmio_initiator", node),
      mmio_(node.engine(), pcie, root_complex_.downstream(), mmio_initiator_),
      cpu_(node.engine(), parameters, memory_, mmio_, interrupts_, tasks_),
      dma_target_("dma_target", node, root_complex_) {
  if (faults_) dma_target_.set_host(*faults_);
}

}  // namespace hcasim::host
