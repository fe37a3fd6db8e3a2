// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// Numbers of queues by the time at which to look at them, the earliest first.
class TimedQueues {
 public:
  bool empty() const { return heap_.empty(); }
  hw::Time earliest() const { return heap_.front().at; }

  void push(hw::Time at, std::uint32_t queue) {
    heap_.push_back({at, queue});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  /// Takes the earliest out. @return its queue
  std::uint32_t pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const std::uint32_t queue = heap_.back().queue;
    heap_.pop_back();
    return queue;
  }

 private:
  struct Timed {
    hw::Time at;
    std::uint32_t queue;
  };
  static bool later(const Timed& a, const Timed& b) { return a.at > b.at; }

  std::vector<Timed> heap_;
};

}  // namespace hcasim::sim
