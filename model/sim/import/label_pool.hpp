// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace hcasim::sim {

/// Numbers for labels, reused once nothing refers to them any more, so that a long trace needs few.
class LabelPool {
 public:
  /// The smallest number that is free.
  std::size_t take() {
    if (free_.empty()) return next_++;
    const std::size_t number = free_.top();
    free_.pop();
    return number;
  }
  void give_back(std::size_t number) { free_.push(number); }

 private:
  std::size_t next_ = 1;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free_;
};

}  // namespace hcasim::sim
