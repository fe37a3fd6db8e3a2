// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/mmio_initiator.hpp"

namespace hcasim::host {

MmioInitiator::MmioInitiator(const sc_core::sc_module_name& name, sim::EngineModule& node)
    : sc_core::sc_module(name), node_(node), requester_("requester", node, *this) {}

void MmioInitiator::start_of_simulation() {
  device_ = fabric::ShortCut<pcie::DeviceSide>::behind(requester_.socket.operator->(), node_);
}

bool MmioInitiator::access(pcie::BarSink& sink, const pcie::BarAccess& access, Time arrival) {
  if (device_ != nullptr) [[likely]]
    return device_->access(sink, access, arrival);
  return access_by_socket(sink, access, arrival);
}

bool MmioInitiator::access_by_socket(pcie::BarSink& sink, const pcie::BarAccess& access,
                                     Time arrival) {
  sink_ = &sink;
  pcie::PooledPayload& payload =
      requester_.pool().acquire(access.is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                access.offset, access.data, access.bytes);
  payload.token = access.token;
  requester_.begin(payload, arrival);
  return requester_.ready();
}

void MmioInitiator::on_response(pcie::PooledPayload& payload, Time at) {
  // A load that no device answers returns all ones.
  if (payload.is_read() && payload.is_response_error()) {
    std::fill_n(payload.get_data_ptr(), payload.get_data_length(), std::uint8_t{0xff});
  }
  sink_->on_bar_done(payload.token, at);
}

void MmioInitiator::on_request_end() {
  sink_->on_bar_free();
}

}  // namespace hcasim::host
