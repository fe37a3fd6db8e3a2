// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hcasim::hca {

inline constexpr std::uint32_t kNone = 0xffff'ffff;

/// Objects with a `next` to link them by. Grows in chunks, so addresses stay valid, and never
/// shrinks, so that nothing is allocated once a run has seen its peak. An object comes with the
/// values of its last use.
template <typename T, std::size_t kChunk = 64>
class Pool {
 public:
  T& acquire() {
    if (free_ == nullptr) [[unlikely]]
      grow();
    T& object = *free_;
    free_ = object.next;
    return object;
  }
  void release(T& object) {
    object.next = free_;
    free_ = &object;
  }

 private:
  [[gnu::noinline]] void grow() {
    T* const chunk = chunks_.emplace_back(std::make_unique<T[]>(kChunk)).get();
    for (std::size_t i = kChunk; i-- > 0;) release(chunk[i]);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  T* free_ = nullptr;
};

/// A FIFO of objects of a pool.
template <typename T>
struct PoolList {
  T* first = nullptr;
  T* last = nullptr;

  bool empty() const { return first == nullptr; }

  void push_back(T& object) {
    object.next = nullptr;
    (first == nullptr ? first : last->next) = &object;
    last = &object;
  }
  T& pop_front() {
    T& object = *first;
    first = object.next;
    return object;
  }
};

/// A ring that grows when it is full: a FIFO without allocation once it has seen its peak. One that
/// is never used costs nothing.
template <typename T>
class Fifo {
 public:
  bool empty() const { return first_ == last_; }
  std::uint32_t size() const { return last_ - first_; }
  T& front() { return slots_[first_ & mask_]; }
  T& back() { return slots_[(last_ - 1) & mask_]; }
  T& operator[](std::uint32_t i) { return slots_[(first_ + i) & mask_]; }
  void push(T value) { add() = std::move(value); }
  /// A new last element, still with the value of one that was here before.
  T& add() {
    if (size() == capacity_) [[unlikely]]
      grow();
    return slots_[last_++ & mask_];
  }
  /// Inserts before all elements at the end for which `later(element)` holds.
  template <typename Later>
  void push_sorted(T value, Later later) {
    push(std::move(value));
    for (std::uint32_t i = last_ - 1; i != first_ && later(slots_[(i - 1) & mask_]); --i) {
      std::swap(slots_[i & mask_], slots_[(i - 1) & mask_]);
    }
  }
  T pop() { return std::move(slots_[first_++ & mask_]); }
  /// Removes the first element without looking at it; what it owns is not given back.
  void drop() { ++first_; }

 private:
  [[gnu::noinline]] void grow() {
    const std::uint32_t count = size();
    std::vector<T> larger(count == 0 ? kFirst : 2 * count);
    for (std::uint32_t i = 0; i < count; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    capacity_ = static_cast<std::uint32_t>(slots_.size());
    mask_ = capacity_ - 1;
    first_ = 0;
    last_ = count;
  }

  static constexpr std::uint32_t kFirst = 16;

  std::vector<T> slots_;  // none, or a power of two
  std::uint32_t capacity_ = 0;
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;  // counts, not slots
  std::uint32_t last_ = 0;
};

}  // namespace hcasim::hca
