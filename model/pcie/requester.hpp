// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>
#include <tlm>

#include "fabric/link_calls.hpp"
#include "fabric/link_ring.hpp"
#include "pcie/payload_pool.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::pcie {

/// Takes the responses of a Requester.
class ResponseSink {
 public:
  /// The response to a transaction arrives at `at`; the payload goes back to its pool afterwards.
  virtual void on_response(PooledPayload& payload, sim::Time at) = 0;
  /// A target that had held back the end of a request takes requests again.
  virtual void on_request_end() = 0;

 protected:
  ~ResponseSink() = default;
};

/// The initiator's half of the TLM-2.0 base protocol over one socket. Times are annotated: a
/// request is with the target when its delay has passed. A response is always accepted at once.
class Requester : public sc_core::sc_module,
                  public tlm::tlm_bw_transport_if<>,
                  public fabric::EnginePeer {
 public:
  Requester(const sc_core::sc_module_name& name, sim::EngineModule& node, ResponseSink& sink);
  ~Requester() override;

  tlm::tlm_initiator_socket<> socket;

  PayloadPool& pool() { return pool_; }
  /// Begins a transaction that reaches the target at `at`, and takes over the caller's reference.
  /// Allowed only while ready(). A target may answer within the call.
  void begin(PooledPayload& payload, sim::Time at);
  /// False from a request to its end, where the target holds that back.
  bool ready() const { return holding_ == nullptr; }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  void start_of_simulation() override;
  struct Answer {
    PooledPayload* payload;
    sim::Time at;
    bool responds;
    bool ends_request;
  };
  class Late;

  void take(const Answer& answer);
  void end_response(tlm::tlm_generic_payload& payload);

  sim::EngineModule& node_;
  ResponseSink& sink_;
  PayloadPool pool_;
  fabric::SocketCalls calls_;
  std::unique_ptr<Late> late_;
  tlm::tlm_generic_payload* holding_ = nullptr;  // request begun and not ended
};

}  // namespace hcasim::pcie
