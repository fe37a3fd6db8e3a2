// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hcasim::fabric {

/// A first-in first-out queue in one array that grows to what was needed at most and then allocates
/// no more.
template <typename T>
class LinkRing {
 public:
  LinkRing() : items_(kFirst) {}

  bool empty() const { return size_ == 0; }
  /// True when the next item makes the array grow.
  bool full() const { return size_ > mask_; }
  std::size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  /// Item `i` from the front.
  T& operator[](std::size_t i) { return items_[(head_ + i) & mask_]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & mask_]; }
  T& back() { return (*this)[size_ - 1]; }

  void push(T item) {
    if (full()) [[unlikely]]
      grow();
    (*this)[size_++] = std::move(item);
  }
  /// A place at the end for the caller to fill, with whatever was there before.
  T& emplace() {
    if (full()) [[unlikely]]
      grow();
    return (*this)[size_++];
  }
  /// The same in two steps, while it is not full(): the place, which extend() makes the last item.
  T& place_behind() { return (*this)[size_]; }
  void extend() { ++size_; }
  /// Inserts before all items at the end for which `later(item)` holds.
  template <typename Later>
  void push_sorted(T item, Later later) {
    push(std::move(item));
    settle_last(later);
  }
  /// Does so with the item that is the last.
  template <typename Later>
  void settle_last(Later later) {
    for (std::size_t i = size_ - 1; i > 0 && later((*this)[i - 1]); --i) {
      std::swap((*this)[i], (*this)[i - 1]);
    }
  }
  T pop() {
    T item = std::move(front());
    drop();
    return item;
  }
  /// Removes the front, which keeps its resources until its place is taken again.
  void drop() {
    head_ = (head_ + 1) & mask_;
    --size_;
  }

 private:
  static constexpr std::size_t kFirst = 16;

  [[gnu::noinline]] void grow() {
    std::vector<T> larger(items_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    items_ = std::move(larger);
    mask_ = items_.size() - 1;
    head_ = 0;
  }

  std::vector<T> items_;  // a power of two
  std::size_t mask_ = kFirst - 1;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hcasim::fabric
