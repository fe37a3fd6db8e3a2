// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <systemc>
#include <tlm>

#include "fabric/link_calls.hpp"
#include "host/root_complex.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::host {

/// The root complex as a TLM target: addresses are those of host memory and of the interrupt
/// controller. Writes are answered with TLM_COMPLETED and the time at which they are visible.
class DmaTargetSocket : public sc_core::sc_module,
                        public tlm::tlm_fw_transport_if<>,
                        public fabric::EnginePeer,
                        public fabric::ShortCut<pcie::HostSide>,
                        private pcie::ReadSink {
 public:
  DmaTargetSocket(const sc_core::sc_module_name& name, sim::EngineModule& node,
                  RootComplex& root_complex);

  tlm::tlm_target_socket<> socket;

  /// What stands before the root complex, to be reached in its place from now on.
  void set_host(pcie::HostSide& host) { host_ = &host; }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;
  pcie::HostSide* short_cut(const sim::EngineModule& initiator) override {
    return &initiator == &node_ ? host_ : nullptr;
  }

 private:
  void start_of_simulation() override;
  void on_completion(std::uint64_t token, std::uint64_t address, std::uint32_t bytes, Time at,
                     bool error) override;
  void write(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  static bool acceptable(tlm::tlm_generic_payload& payload);

  sim::EngineModule& node_;
  RootComplex& root_complex_;
  pcie::HostSide* host_;
  fabric::SocketCalls calls_;
};

}  // namespace hcasim::host
