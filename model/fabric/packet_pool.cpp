// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "fabric/packet_pool.hpp"

#include <algorithm>
#include <memory>

namespace hcasim::fabric {

namespace {
constexpr std::size_t kBlockPackets = 32;
}

PacketPool::PacketPool() : store_(new detail::PoolStore) {}

PacketPool::~PacketPool() {
  if (store_->in_use == 0) {
    delete store_;
  } else {
    store_->abandoned = true;
  }
}

PacketPtr PacketPool::clone(const Packet& original) {
  PacketPtr copy = acquire();
  copy->set_headers(original);
  std::ranges::copy(original.payload(), copy->resize_payload(original.payload_size()).begin());
  return copy;
}

std::size_t PacketPool::in_use() const {
  return store_->in_use;
}

std::size_t PacketPool::capacity() const {
  return store_->blocks.size() * kBlockPackets;
}

void PacketPool::grow() {
  // Not make_unique: it would fill the payloads with zeros.
  Packet* const block =
      store_->blocks.emplace_back(std::unique_ptr<Packet[]>(new Packet[kBlockPackets])).get();
  for (std::size_t i = 0; i < kBlockPackets; ++i) {
    block[i].pool_ = store_;
    block[i].next = store_->free;
    store_->free = &block[i];
  }
}

}  // namespace hcasim::fabric
