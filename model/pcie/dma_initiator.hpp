// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <systemc>

#include "pcie/endpoint.hpp"
#include "pcie/requester.hpp"

namespace hcasim::pcie {

/// The adapter's end of the PCIe link as a module: DMA operations come in at port(), transactions
/// go out at the socket. The target must answer a posted write within the request (TLM_COMPLETED,
/// or BEGIN_RESP), with the time at which it is visible as the delay.
class DmaInitiator : public sc_core::sc_module, private HostSide, private ResponseSink {
 public:
  DmaInitiator(const sc_core::sc_module_name& name, sim::EngineModule& node,
               const Parameters& parameters);

  /// To be bound to host::HostModule's dma_target, or to what stands in between.
  tlm::tlm_initiator_socket<>& socket() { return requester_.socket; }
  DmaPort& port() { return endpoint_; }
  Endpoint& endpoint() { return endpoint_; }
  const PayloadPool& payloads() { return requester_.pool(); }

 private:
  struct Waiting {  // a read behind a request that the target has not ended yet
    PooledPayload* payload;
    Time arrival;
  };

  void start_of_simulation() override;
  Time write(std::uint64_t address, const void* from, std::uint32_t bytes, Time arrival) override;
  void read(ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
            std::uint32_t bytes, Time arrival) override;
  void on_response(PooledPayload& payload, Time at) override;
  void on_request_end() override;

  sim::EngineModule& node_;
  Requester requester_;
  Endpoint endpoint_;
  fabric::LinkRing<Waiting> waiting_;
  Time visible_at_ = 0;     // of the last write
  Time last_response_ = 0;  // of a read
};

}  // namespace hcasim::pcie
