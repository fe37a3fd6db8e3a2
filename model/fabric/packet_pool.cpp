// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "fabric/packet_pool.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace hcasim::fabric {

namespace {
constexpr std::size_t kBlockPackets = 32;
}

/// What a pool owns. It outlives its pool while packets of it are out, so that nodes may be
/// destroyed in any order.
struct detail::PoolStore {
  std::vector<std::unique_ptr<Packet[]>> blocks;
  std::vector<Packet*> free;
  std::size_t in_use = 0;
  bool abandoned = false;
};

void PacketPtr::give_back(Packet* packet) {
  detail::PoolStore* const store = packet->pool_;
  store->free.push_back(packet);
  --store->in_use;
  if (store->abandoned && store->in_use == 0) delete store;
}

PacketPool::PacketPool() : store_(new detail::PoolStore) {}

PacketPool::~PacketPool() {
  if (store_->in_use == 0) {
    delete store_;
  } else {
    store_->abandoned = true;
  }
}

PacketPtr PacketPool::acquire() {
  if (store_->free.empty()) grow();
  Packet* const packet = store_->free.back();
  store_->free.pop_back();
  ++store_->in_use;
  packet->clear();
  return PacketPtr(packet);
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
  // Giving back never allocates: there is room for every packet that exists.
  store_->free.reserve(capacity());
  for (std::size_t i = 0; i < kBlockPackets; ++i) {
    block[i].pool_ = store_;
    store_->free.push_back(&block[i]);
  }
}

}  // namespace hcasim::fabric
