// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <vector>

#include "hca/receive_queue/queue_store.hpp"

namespace hcasim::hca {

/// The shared buffer: lines of 64 bytes, a bitmap of the free ones, chains in ring order, and the
/// order of allocation of the slots that a queue still holds. A slot is named by its first line.
class LineStore {
 public:
  explicit LineStore(std::uint32_t lines);

  unsigned free_count() const { return free_count_; }

  /// Takes the lowest free lines for `slots` slots of `per_slot` lines as one chain and appends it
  /// to the chain of `owner`; returns the first line. There are enough free lines.
  std::uint16_t allocate(RqQueue& owner, unsigned slots, unsigned per_slot);

  /// Frees `count` lines of the chain from `first` on.
  void release(std::uint16_t first, unsigned count) {
    free_count_ += count;
    for (; count != 0; --count) {
      const std::size_t word = first / 64;
      free_[word] |= std::uint64_t{1} << (first % 64);
      first_word_ = std::min(first_word_, word);
      first = meta_[first].next;
    }
  }

  std::uint16_t next(std::uint16_t line) const { return meta_[line].next; }
  std::uint16_t skip(std::uint16_t line, unsigned count) const {
    while (count-- != 0) line = meta_[line].next;
    return line;
  }
  hw::rq::Beat& data(std::uint16_t line) { return data_[line]; }

  bool complete(std::uint16_t slot) const { return meta_[slot].missing == 0; }
  /// Counts one more line of the slot as filled; true when it was the last one.
  bool fill(std::uint16_t slot) { return --meta_[slot].missing == 0; }

  /// Slots held by queues, from the first allocated on; kNoLine ends the walk.
  std::uint16_t oldest() const { return oldest_; }
  std::uint16_t newer(std::uint16_t slot) const { return meta_[slot].newer; }
  RqQueue& owner(std::uint16_t slot) const { return *meta_[slot].owner; }
  /// Takes a slot out of the order of allocation: it no longer belongs to its queue.
  void forget(std::uint16_t slot) {
    const Meta& meta = meta_[slot];
    (meta.older == kNoLine ? oldest_ : meta_[meta.older].newer) = meta.newer;
    (meta.newer == kNoLine ? newest_ : meta_[meta.newer].older) = meta.older;
  }

 private:
  struct Meta {
    RqQueue* owner = nullptr;
    std::uint16_t next = kNoLine;
    std::uint16_t older = kNoLine;
    std::uint16_t newer = kNoLine;
    std::uint8_t missing = 0;
  };

  std::uint16_t take_lowest() {
    while (free_[first_word_] == 0) ++first_word_;
    std::uint64_t& word = free_[first_word_];
    const auto bit = static_cast<unsigned>(std::countr_zero(word));
    word &= word - 1;
    return static_cast<std::uint16_t>(first_word_ * 64 + bit);
  }
  void remember(std::uint16_t slot, RqQueue& owner, unsigned per_slot) {
    Meta& meta = meta_[slot];
    meta.owner = &owner;
    meta.missing = static_cast<std::uint8_t>(per_slot);
    meta.older = newest_;
    meta.newer = kNoLine;
    (newest_ == kNoLine ? oldest_ : meta_[newest_].newer) = slot;
    newest_ = slot;
  }

  std::vector<hw::rq::Beat> data_;
  std::vector<Meta> meta_;
  std::vector<std::uint64_t> free_;
  std::size_t first_word_ = 0;  ///< no word before it has a free line
  unsigned free_count_;
  std::uint16_t oldest_ = kNoLine;
  std::uint16_t newest_ = kNoLine;
};

}  // namespace hcasim::hca
