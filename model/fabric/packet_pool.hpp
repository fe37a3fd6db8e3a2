// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "fabric/packet.hpp"

namespace hcasim::fabric {

/// The packets of one node. It grows in blocks and never shrinks, so that a run allocates nothing
/// once it has seen its peak. Packets that are still on their way when the pool goes stay valid.
class PacketPool {
 public:
  PacketPool();
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// An empty packet with default headers, or those given.
  PacketPtr acquire(const PacketHeaders& headers = detail::kDefaultHeaders) {
    if (store_->free == nullptr) grow();
    Packet* const packet = store_->free;
    store_->free = packet->next;
    ++store_->in_use;
    packet->clear(headers);
    packet->next = nullptr;
    return PacketPtr(packet);
  }

  /// A packet with the same headers and payload.
  PacketPtr clone(const Packet& original);

  std::size_t in_use() const;    ///< packets now held by handles
  std::size_t capacity() const;  ///< packets ever made

 private:
  void grow();

  detail::PoolStore* store_;
};

}  // namespace hcasim::fabric
