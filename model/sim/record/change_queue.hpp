// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// Changes of a queue's filling in order of time. Takes them nearly in order at little cost, and
/// grows to its peak.
class ChangeQueue {
 public:
  struct Change {
    hw::Time at;
    std::int64_t entries;
  };

  bool empty() const { return first_ == last_; }
  std::size_t size() const { return last_ - first_; }
  /// hw::kNever when empty.
  hw::Time next() const { return empty() ? hw::kNever : ring_[first_ & mask_].at; }
  Change pop() { return ring_[first_++ & mask_]; }

  void insert(hw::Time at, std::int64_t entries) {
    if (size() > mask_) grow();
    if (at < newest_) return insert_before_others({at, entries});
    newest_ = at;
    ring_[last_++ & mask_] = {at, entries};
  }

 private:
  static constexpr std::size_t kFirstSize = 16;  // a power of two

  void grow();
  void insert_before_others(Change change);

  std::unique_ptr<Change[]> ring_ = std::make_unique<Change[]>(kFirstSize);
  std::size_t mask_ = kFirstSize - 1;
  std::size_t first_ = 0;  // counts, not slots
  std::size_t last_ = 0;
  hw::Time newest_ = 0;  // of all that were ever inserted
};

}  // namespace hcasim::sim
