// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace hcasim::hca {

/// First-in first-out store of fixed depth, allocated once.
template <typename T>
class RingFifo {
 public:
  explicit RingFifo(std::size_t depth) : items_(depth) {}

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == items_.size(); }
  const T& front() const { return items_[first_]; }

  void push(const T& item) {
    std::size_t place = first_ + count_;
    if (place >= items_.size()) place -= items_.size();
    items_[place] = item;
    ++count_;
  }

  void pop() {
    if (++first_ == items_.size()) first_ = 0;
    --count_;
  }

 private:
  std::vector<T> items_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace hcasim::hca
