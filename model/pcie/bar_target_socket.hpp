// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "fabric/link_calls.hpp"
#include "pcie/bar_port.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::pcie {

/// The adapter's BAR as a module. Addresses are offsets into the BAR. A request is ended at once;
/// its response begins when the adapter has taken it, which gives the initiator its credits back.
class BarTargetSocket : public sc_core::sc_module,
                        public tlm::tlm_fw_transport_if<>,
                        public fabric::EnginePeer,
                        public fabric::ShortCut<DeviceSide>,
                        private DeviceSide,
                        private BarSink {
 public:
  /// `endpoint` sends the answers to reads upstream.
  BarTargetSocket(const sc_core::sc_module_name& name, sim::EngineModule& node,
                  const Parameters& parameters, Endpoint& endpoint);

  ~BarTargetSocket() override;

  tlm::tlm_target_socket<> socket;

  /// The adapter; must be set before the first access.
  void set_target(BarTarget& target);
  /// What the adapter calls when it can take a write that it refused.
  BarHost& host() { return port_; }
  const BarPort& port() const { return port_; }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  /// A write is taken at the time that the delay tells, and the call returns at once; a read
  /// waits until the adapter has answered.
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  /// Registers can be read without time passing; nothing is written.
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;
  DeviceSide* short_cut(const sim::EngineModule& initiator) override {
    return &initiator == &node_ ? this : nullptr;
  }

 private:
  class BlockingCalls;

  void start_of_simulation() override;
  bool access(BarSink& sink, const BarAccess& access, Time arrival) override;
  void on_bar_done(std::uint64_t token, Time at) override;
  void on_bar_free() override {}
  static void refuse(BarSink& sink, const BarAccess& access, Time arrival);
  static bool inside(std::uint64_t offset, std::uint64_t bytes);
  static bool fits(const BarAccess& access);
  static bool acceptable(tlm::tlm_generic_payload& payload);

  sim::EngineModule& node_;
  BarTarget* target_ = nullptr;
  BarPort port_;
  fabric::SocketCalls calls_;
  std::unique_ptr<BlockingCalls> blocking_;
};

}  // namespace hcasim::pcie
