// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hcasim::hca {

inline constexpr std::uint32_t kNone = 0xffff'ffff;

/// Objects named by small numbers. Grows in chunks, so addresses stay valid, and never shrinks, so
/// that nothing is allocated once a run has seen its peak.
template <typename T, std::uint32_t kChunk = 64>
class Pool {
 public:
  std::uint32_t acquire() {
    if (free_.empty()) grow();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(std::uint32_t index) { free_.push_back(index); }
  T& operator[](std::uint32_t index) { return chunks_[index / kChunk][index % kChunk]; }
  const T& operator[](std::uint32_t index) const { return chunks_[index / kChunk][index % kChunk]; }
  std::uint32_t in_use() const {
    return static_cast<std::uint32_t>(chunks_.size() * kChunk - free_.size());
  }

 private:
  void grow() {
    const auto first = static_cast<std::uint32_t>(chunks_.size() * kChunk);
    chunks_.push_back(std::make_unique<T[]>(kChunk));
    free_.reserve(chunks_.size() * kChunk);
    for (std::uint32_t i = kChunk; i-- > 0;) free_.push_back(first + i);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<std::uint32_t> free_;
};

/// A FIFO of pool elements, linked by their `next`.
struct PoolList {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;

  bool empty() const { return first == kNone; }

  template <typename P>
  void push_back(P& pool, std::uint32_t index) {
    pool[index].next = kNone;
    if (empty()) {
      first = index;
    } else {
      pool[last].next = index;
    }
    last = index;
  }
  template <typename P>
  std::uint32_t pop_front(P& pool) {
    const std::uint32_t index = first;
    first = pool[index].next;
    if (first == kNone) last = kNone;
    return index;
  }
};

/// A ring that grows when it is full: a FIFO without allocation once it has seen its peak.
template <typename T>
class Fifo {
 public:
  Fifo() : slots_(kFirst) {}

  bool empty() const { return first_ == last_; }
  std::uint32_t size() const { return last_ - first_; }
  T& front() { return slots_[first_ & mask_]; }
  T& back() { return slots_[(last_ - 1) & mask_]; }
  T& operator[](std::uint32_t i) { return slots_[(first_ + i) & mask_]; }
  void push(T value) { add() = std::move(value); }
  /// A new last element, still with the value of one that was here before.
  T& add() {
    if (size() > mask_) grow();
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
  void grow() {
    std::vector<T> larger(2 * slots_.size());
    const std::uint32_t count = size();
    for (std::uint32_t i = 0; i < count; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
    first_ = 0;
    last_ = count;
  }

  static constexpr std::uint32_t kFirst = 16;

  std::vector<T> slots_;  // a power of two
  std::uint32_t mask_ = kFirst - 1;
  std::uint32_t first_ = 0;  // counts, not slots
  std::uint32_t last_ = 0;
};

}  // namespace hcasim::hca
