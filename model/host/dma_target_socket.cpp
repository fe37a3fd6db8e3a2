// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/dma_target_socket.hpp"

namespace hcasim::host {

DmaTargetSocket::DmaTargetSocket(const sc_core::sc_module_name& name, sim::EngineModule& node,
                                 RootComplex& root_complex)
    : sc_core::sc_module(name),
      socket("socket"),
      node_(node),
      root_complex_(root_complex),
      host_(&root_complex),
      calls_(node) {
  socket.bind(*this);
}

void DmaTargetSocket::start_of_simulation() {
  calls_.set_peer(socket.operator->());
}

// Answers what no DMA can be.
bool DmaTargetSocket::acceptable(tlm::tlm_generic_payload& payload) {
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (payload.get_data_length() == 0 ||
             payload.get_streaming_width() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (!payload.is_read() && !payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  } else {
    return true;
  }
  return false;
}

// A posted write has no answer on the bus, so it never fails here; the root complex counts those
// that hit nothing.
void DmaTargetSocket::write(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Time visible = host_->write(payload.get_address(), payload.get_data_ptr(),
                                    payload.get_data_length(), sim::EngineModule::time_of(delay));
  delay = node_.delay_to(visible);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum DmaTargetSocket::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                    tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  if (!acceptable(payload)) return tlm::TLM_COMPLETED;
  if (payload.is_write()) {
    write(payload, delay);
    calls_.after_call_in();
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  host_->read(*this, reinterpret_cast<std::uintptr_t>(&payload), payload.get_address(),
              payload.get_data_ptr(), payload.get_data_length(), sim::EngineModule::time_of(delay));
  calls_.after_call_in();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void DmaTargetSocket::on_completion(std::uint64_t token, std::uint64_t, std::uint32_t, Time at,
                                    bool error) {
  // A token is the address of what it stands for. NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto& payload = *reinterpret_cast<tlm::tlm_generic_payload*>(token);
  payload.set_response_status(error ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = node_.delay_to(at);
  socket->nb_transport_bw(payload, phase, delay);
  calls_.after_call_out();
  payload.release();
}

void DmaTargetSocket::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!acceptable(payload)) return;
  if (payload.is_write()) {
    write(payload, delay);
    calls_.after_call_in();
    return;
  }
  bool error = false;
  const Time begin = sim::EngineModule::time_of(delay);
  const Time latency = root_complex_.read_at_once(payload.get_address(), payload.get_data_ptr(),
                                                  payload.get_data_length(), begin, error);
  delay = node_.delay_to(begin + latency);
  payload.set_response_status(error ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
}

unsigned int DmaTargetSocket::transport_dbg(tlm::tlm_generic_payload& payload) {
  Memory& memory = root_complex_.memory();
  const std::uint32_t bytes = payload.get_data_length();
  if (!acceptable(payload) || !memory.mapped(payload.get_address(), bytes)) return 0;
  if (payload.is_write()) {
    memory.write(payload.get_address(), payload.get_data_ptr(), bytes);
  } else {
    memory.read(payload.get_address(), payload.get_data_ptr(), bytes);
  }
  return bytes;
}

}  // namespace hcasim::host
