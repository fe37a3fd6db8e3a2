// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>

#include "host/cpu_port.hpp"
#include "host/dma_target_socket.hpp"
#include "host/faulty_host.hpp"
#include "host/interrupt_controller.hpp"
#include "host/machine.hpp"
#include "host/mmio_initiator.hpp"
#include "host/mmio_port.hpp"
#include "host/parameters.hpp"
#include "host/root_complex.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::host {

/// A PCIe slot and what belongs to it: root port, link, interrupt vectors and the CPU port of the
/// driver of its device. With memory and tasks, which the slots of a Machine share, it is a host.
class HostModule : public sc_core::sc_module {
 public:
  /// A host with one slot. `memory_bytes` can be allocated by the driver; `seed` is that of the
  /// read latencies and of the faults.
  HostModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
             const pcie::Parameters& pcie, const Parameters& parameters, std::uint64_t memory_bytes,
             std::uint64_t seed);
  /// The first or a further slot of a machine. Its PCIe link, its read latencies, its interrupts
  /// and what its driver's CPU work costs are its own.
  HostModule(const sc_core::sc_module_name& name, std::shared_ptr<Machine> machine,
             const pcie::Parameters& pcie, const Parameters& parameters, std::uint64_t seed);

  /// For the adapter's DMA initiator.
  tlm::tlm_target_socket<>& dma_target() { return dma_target_.socket; }
  /// To be bound to the adapter's BAR.
  tlm::tlm_initiator_socket<>& mmio_initiator() { return mmio_initiator_.socket(); }

  CpuPort& cpu() { return cpu_; }
  /// To give it a further slot.
  const std::shared_ptr<Machine>& machine() const { return machine_; }
  Memory& memory() { return machine_->memory; }
  RootComplex& root_complex() { return root_complex_; }
  InterruptController& interrupts() { return interrupts_; }
  MmioPort& mmio() { return mmio_; }
  sim::Tasks& tasks() { return machine_->tasks; }
  /// From this time on memory has the faults that it was given.
  void begin_faults(Time time) {
    if (faults_) faults_->begin(time);
  }
  FaultCounters fault_counters() const { return faults_ ? faults_->counters() : FaultCounters{}; }

 private:
  std::shared_ptr<Machine> machine_;
  InterruptController interrupts_;
  RootComplex root_complex_;
  std::unique_ptr<FaultyHost> faults_;  // null: it has none
  MmioInitiator mmio_initiator_;
  MmioPort mmio_;
  CpuPort cpu_;
  DmaTargetSocket dma_target_;
};

}  // namespace hcasim::host
