// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <vector>

#include "hca/receive_queue/queue_store.hpp"

namespace hcasim::hca {

/// A take that was accepted and not yet judged.
struct WaitEntry {
  std::uint64_t age = 0;  ///< number of the take in order of acceptance
  RqQueue* queue = nullptr;
  std::uint32_t id = 0;  ///< of the queue, known or not
  std::uint32_t tag = 0;
  hw::rq::TakeKind kind = hw::rq::TakeKind::kTake;
  hw::rq::TakeStatus verdict = hw::rq::TakeStatus::kOk;  ///< kOk: none yet
  bool counted = false;          ///< the command in progress waits for its answer
  std::uint8_t next = kNoEntry;  ///< next TAKE without a verdict of the same queue
};

/// The takes that wait, with one mask per question that a cycle asks of all of them.
class WaitTable {
 public:
  explicit WaitTable(unsigned takes)
      : entries_(takes), free_(takes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << takes) - 1) {}

  WaitEntry& operator[](unsigned index) { return entries_[index]; }
  const WaitEntry& operator[](unsigned index) const { return entries_[index]; }
  static std::uint64_t bit(unsigned index) { return std::uint64_t{1} << index; }

  std::uint64_t used() const { return ~free_ & mask_of_size(); }

  /// Makes the lowest free entry the youngest; there is one.
  unsigned add(const hw::rq::Take& take, RqQueue* queue) {
    const auto index = static_cast<unsigned>(std::countr_zero(free_));
    free_ &= free_ - 1;
    WaitEntry& entry = entries_[index];
    entry.age = ++newest_;
    entry.queue = queue;
    entry.id = take.queue;
    entry.tag = take.tag;
    entry.kind = take.kind;
    entry.verdict = hw::rq::TakeStatus::kOk;
    entry.counted = false;
    entry.next = kNoEntry;
    return index;
  }
  void remove(unsigned index) {
    free_ |= bit(index);
    clear(index);
  }
  /// Gives a take its verdict; it waits for nothing any more.
  void decide(unsigned index, hw::rq::TakeStatus verdict) {
    entries_[index].verdict = verdict;
    clear(index);
    answerable |= bit(index);
  }
  void clear(unsigned index) {
    answerable &= ~bit(index);
    needy &= ~bit(index);
    waiting &= ~bit(index);
    waited &= ~bit(index);
  }

  /// The entry of a mask, not empty, that was accepted first.
  unsigned oldest(std::uint64_t mask) const {
    auto best = static_cast<unsigned>(std::countr_zero(mask));
    for (mask &= mask - 1; mask != 0; mask &= mask - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(mask));
      if (entries_[index].age < entries_[best].age) best = index;
    }
    return best;
  }

  std::uint64_t answerable = 0;
  std::uint64_t needy = 0;    ///< oldest TAKE of a needy queue
  std::uint64_t waiting = 0;  ///< oldest TAKE of its queue, its slot posted and not complete
  std::uint64_t waited = 0;   ///< was `waiting` at the start of some cycle

 private:
  std::uint64_t mask_of_size() const {
    return entries_.size() == 64 ? ~std::uint64_t{0}
                                 : bit(static_cast<unsigned>(entries_.size())) - 1;
  }

  std::vector<WaitEntry> entries_;
  std::uint64_t free_;
  std::uint64_t newest_ = 0;
};

}  // namespace hcasim::hca
