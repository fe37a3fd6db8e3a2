// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/queue_store.hpp"

namespace hcasim::hca {

RqQueue& QueueStore::make(std::uint32_t id) {
  auto& chunk = chunks_[id / kChunk];
  if (!chunk) {
    chunk = std::make_unique<RqQueue[]>(kChunk);
    const std::uint32_t first = id - id % kChunk;
    for (std::uint32_t i = 0; i < kChunk; ++i) chunk[i].id = first + i;
  }
  return chunk[id % kChunk];
}

}  // namespace hcasim::hca
