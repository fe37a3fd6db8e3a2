// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  const Change& front() const { return ring_[first_ & mask()]; }
  Change pop() { return ring_[first_++ & mask()]; }

  void insert(hw::Time at, std::int64_t entries) {
    if (!empty() && ring_[(last_ - 1) & mask()].at == at) {
      ring_[(last_ - 1) & mask()].entries += entries;
      return;
    }
    if (last_ - first_ == ring_.size()) grow();
    std::size_t place = last_++;
    for (; place != first_ && ring_[(place - 1) & mask()].at > at; --place) {
      ring_[place & mask()] = ring_[(place - 1) & mask()];
    }
    ring_[place & mask()] = {at, entries};
  }

 private:
  std::size_t mask() const { return ring_.size() - 1; }
  void grow();

  std::vector<Change> ring_ = std::vector<Change>(16);  // a power of two
  std::size_t first_ = 0;                               // counts, not slots
  std::size_t last_ = 0;
};

}  // namespace hcasim::sim
