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
  std::size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  /// Item `i` from the front.
  T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }
  T& back() { return (*this)[size_ - 1]; }

  void push(T item) {
    if (size_ == items_.size()) grow();
    (*this)[size_++] = std::move(item);
  }
  /// Inserts before all items at the end for which `later(item)` holds.
  template <typename Later>
  void push_sorted(T item, Later later) {
    push(std::move(item));
    for (std::size_t i = size_ - 1; i > 0 && later((*this)[i - 1]); --i) {
      std::swap((*this)[i], (*this)[i - 1]);
    }
  }
  T pop() {
    T item = std::move(front());
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  static constexpr std::size_t kFirst = 16;

  void grow() {
    std::vector<T> larger(items_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_;  // a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hcasim::fabric
