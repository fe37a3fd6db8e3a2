// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/requester.hpp"

namespace hcasim::pcie {

Requester::Requester(const sc_core::sc_module_name& name, sim::EngineModule& node,
                     ResponseSink& sink)
    : sc_core::sc_module(name), socket("socket"), node_(node), sink_(sink), calls_(node) {
  socket.bind(*this);
}

void Requester::start_of_simulation() {
  calls_.set_peer(socket.operator->());
}

void Requester::begin(PooledPayload& payload, sim::Time at) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = node_.delay_to(at);
  holding_ = &payload;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
  calls_.after_call_out();
  if (status == tlm::TLM_ACCEPTED) return;
  holding_ = nullptr;
  const bool responds = status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP;
  if (responds) end_response(payload);
  if (responds || status == tlm::TLM_COMPLETED) respond(payload, delay);
}

tlm::tlm_sync_enum Requester::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const bool ends_request = holding_ == &payload;
  if (ends_request) holding_ = nullptr;
  const bool responds = phase == tlm::BEGIN_RESP;
  if (responds) respond(payload, delay);
  if (ends_request) sink_.on_request_end();
  calls_.after_call_in();
  return responds ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void Requester::respond(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  sink_.on_response(static_cast<PooledPayload&>(payload), sim::EngineModule::time_of(delay));
  payload.release();
}

// For a target that answered within the request.
void Requester::end_response(tlm::tlm_generic_payload& payload) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->nb_transport_fw(payload, phase, delay);
}

}  // namespace hcasim::pcie
