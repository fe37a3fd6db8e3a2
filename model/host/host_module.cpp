// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/host_module.hpp"

#include <utility>

namespace hcasim::host {

HostModule::HostModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
                       const pcie::Parameters& pcie, const Parameters& parameters,
                       std::uint64_t memory_bytes, std::uint64_t seed)
    : HostModule(name, std::make_shared<Machine>(node, memory_bytes), pcie, parameters, seed) {}

HostModule::HostModule(const sc_core::sc_module_name& name, std::shared_ptr<Machine> machine,
                       const pcie::Parameters& pcie, const Parameters& parameters,
                       std::uint64_t seed)
    : sc_core::sc_module(name),
      machine_(std::move(machine)),
      interrupts_(machine_->engine.engine(), parameters),
      root_complex_(machine_->engine.engine(), pcie, machine_->memory, interrupts_, seed),
      faults_(pcie.faults.any() ? std::make_unique<FaultyHost>(root_complex_, pcie.faults, seed)
                                : nullptr),
      mmio_initiator_("mmio_initiator", machine_->engine),
      mmio_(machine_->engine.engine(), pcie, root_complex_.downstream(), mmio_initiator_),
      cpu_(machine_->engine.engine(), parameters, machine_->memory, mmio_, interrupts_,
           machine_->tasks),
      dma_target_("dma_target", machine_->engine, root_complex_) {
  if (faults_) dma_target_.set_host(*faults_);
}

}  // namespace hcasim::host
