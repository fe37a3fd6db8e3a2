// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <memory>
#include <vector>

namespace hcasim::hca {

inline constexpr std::uint16_t kNoLine = 0xFFFF;
inline constexpr std::uint8_t kNoEntry = 0xFF;

/// Registers of one receive queue and its places in the lists of the unit.
struct RqQueue {
  std::uint64_t base = 0;
  RqQueue* next_in_fifo = nullptr;
  std::uint32_t id = 0;
  std::uint32_t arm = 0;
  std::uint16_t size = 0;
  std::uint16_t head = 0;
  std::uint16_t fetch = 0;
  std::uint16_t tail = 0;
  std::uint16_t limit = 0;
  std::uint16_t first_line = kNoLine;  ///< chain of the lines of slots tail..fetch-1
  std::uint16_t last_line = kNoLine;
  hw::rq::QueueState state = hw::rq::QueueState::kInvalid;
  std::uint8_t stride_log2 = 5;
  std::uint8_t requests = 0;           ///< tags in use
  std::uint8_t first_wait = kNoEntry;  ///< chain of the waiting TAKEs without a verdict
  std::uint8_t last_wait = kNoEntry;   ///< its end, when there is one
  bool in_fifo = false;

  /// Distance from index `from` to index `to` around the ring.
  unsigned distance(unsigned from, unsigned to) const {
    return to >= from ? to - from : to + size - from;
  }
  std::uint16_t advance(unsigned index, unsigned by) const {
    index += by;
    return static_cast<std::uint16_t>(index >= size ? index - size : index);
  }
  unsigned posted() const { return distance(tail, head); }
  unsigned lines_per_slot_log2() const { return stride_log2 <= 6 ? 0U : stride_log2 - 6U; }
  unsigned lines_per_slot() const { return 1U << lines_per_slot_log2(); }
  unsigned stride() const { return 1U << stride_log2; }
};
static_assert(sizeof(RqQueue) <= 64);

/// Queues by number. Storage comes in chunks when a queue of the chunk is first initialised, so a
/// unit with millions of possible queues costs only those in use.
class QueueStore {
 public:
  explicit QueueStore(std::uint32_t queues) : chunks_((queues + kChunk - 1) / kChunk) {}

  /// The queue, or null when it was never initialised. `id` is below the number of queues.
  RqQueue* find(std::uint32_t id) const {
    RqQueue* chunk = chunks_[id / kChunk].get();
    return chunk == nullptr ? nullptr : chunk + id % kChunk;
  }

  /// The queue, its storage made if need be.
  RqQueue& make(std::uint32_t id);

 private:
  static constexpr std::uint32_t kChunk = 64;
  std::vector<std::unique_ptr<RqQueue[]>> chunks_;
};

}  // namespace hcasim::hca
