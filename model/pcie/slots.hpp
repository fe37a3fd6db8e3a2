// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

namespace hcasim::pcie {

/// Items under small numbers, which are used again. The table grows to what was needed at most and
/// moves its items then; so a reference is good until the next take().
template <typename T>
class Slots {
 public:
  /// A free slot, with what was there before.
  std::uint32_t take() {
    if (free_ == items_.size()) [[unlikely]]
      grow();
    const std::uint32_t index = free_;
    free_ = items_[index].next_free;
    return index;
  }
  void give_back(std::uint32_t index) {
    items_[index].next_free = free_;
    free_ = index;
  }
  T& operator[](std::uint32_t index) { return items_[index].item; }
  const T& operator[](std::uint32_t index) const { return items_[index].item; }

 private:
  struct Slot {
    T item;
    std::uint32_t next_free;  // the size of the table: none
  };

  [[gnu::noinline]] void grow() { items_.push_back({T{}, free_ + 1}); }

  std::vector<Slot> items_;
  std::uint32_t free_ = 0;
};

}  // namespace hcasim::pcie
