// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/payload_pool.hpp"

namespace hcasim::pcie {

PooledPayload& PayloadPool::acquire(tlm::tlm_command command, std::uint64_t address, void* data,
                                    std::uint32_t bytes) {
  if (free_.empty()) {
    payloads_.push_back(std::make_unique<PooledPayload>());
    payloads_.back()->set_mm(this);
    free_.reserve(payloads_.capacity());
    free_.push_back(payloads_.back().get());
  }
  PooledPayload& payload = *free_.back();
  free_.pop_back();
  payload.acquire();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return payload;
}

void PayloadPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  free_.push_back(static_cast<PooledPayload*>(payload));
}

}  // namespace hcasim::pcie
