// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <systemc>

#include "pcie/requester.hpp"
#include "pcie/transactions.hpp"

namespace hcasim::host {

using hw::Time;

/// The host's MMIO accesses as a TLM initiator; addresses are offsets into the BAR. A target ends a
/// request as soon as it can buffer the next one, and responds when the credits of this one are
/// back.
class MmioInitiator : public sc_core::sc_module,
                      public pcie::DeviceSide,
                      private pcie::ResponseSink {
 public:
  MmioInitiator(const sc_core::sc_module_name& name, sim::EngineModule& node);

  tlm::tlm_initiator_socket<>& socket() { return requester_.socket; }
  const pcie::PayloadPool& payloads() { return requester_.pool(); }

  bool access(pcie::BarSink& sink, const pcie::BarAccess& access, Time arrival) override;

 private:
  void start_of_simulation() override;
  bool access_by_socket(pcie::BarSink& sink, const pcie::BarAccess& access, Time arrival);
  void on_response(pcie::PooledPayload& payload, Time at) override;
  void on_request_end() override;

  sim::EngineModule& node_;
  pcie::Requester requester_;
  pcie::DeviceSide* device_ = nullptr;  // reached without the socket
  pcie::BarSink* sink_ = nullptr;       // the one MMIO port of the host
};

}  // namespace hcasim::host
