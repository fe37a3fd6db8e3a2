// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/dma_initiator.hpp"

#include <algorithm>

namespace hcasim::pcie {

DmaInitiator::DmaInitiator(const sc_core::sc_module_name& name, sim::EngineModule& node,
                           const Parameters& p)
    : sc_core::sc_module(name),
      node_(node),
      requester_("requester", node, *this),
      endpoint_(node.engine(), "pcie", p, *this) {}

void DmaInitiator::start_of_simulation() {
  HostSide* host = fabric::ShortCut<HostSide>::behind(requester_.socket.operator->(), node_);
  if (host != nullptr) endpoint_.set_host(*host);
}

Time DmaInitiator::write(std::uint64_t address, const void* from, std::uint32_t bytes,
                         Time arrival) {
  if (!requester_.ready()) {
    throw sim::SimulationError(node_.engine().now(), name(),
                               "the DMA target holds back a request while a write is posted");
  }
  // The target only reads the data of a write, as the base protocol demands.
  PooledPayload& payload =
      requester_.pool().acquire(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(from), bytes);
  visible_at_ = hw::kNever;
  requester_.begin(payload, arrival);
  if (visible_at_ == hw::kNever) {
    throw sim::SimulationError(node_.engine().now(), name(),
                               "the DMA target did not answer a posted write at once");
  }
  return visible_at_;
}

void DmaInitiator::read(ReadSink&, std::uint64_t token, std::uint64_t address, void* to,
                        std::uint32_t bytes, Time arrival) {
  PooledPayload& payload = requester_.pool().acquire(tlm::TLM_READ_COMMAND, address, to, bytes);
  payload.token = token;
  if (requester_.ready() && waiting_.empty()) {
    requester_.begin(payload, arrival);
  } else {
    waiting_.push({&payload, arrival});
  }
}

void DmaInitiator::on_response(PooledPayload& payload, Time at) {
  if (payload.is_write()) {
    visible_at_ = at;
    return;
  }
  // One link brings all completions, so none can overtake another.
  last_response_ = std::max(last_response_, at);
  endpoint_.on_completion(payload.token, payload.get_address(), payload.get_data_length(),
                          last_response_, payload.is_response_error());
}

void DmaInitiator::on_request_end() {
  while (requester_.ready() && !waiting_.empty()) {
    const Waiting next = waiting_.pop();
    requester_.begin(*next.payload, std::max(next.arrival, node_.engine().now()));
  }
}

}  // namespace hcasim::pcie
