// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

class Unit;

/// An event of an engine: plain data, kept in a pool.
struct Event {
  hw::Time time;
  std::uint64_t order;  ///< unit rank, then insertion: breaks ties at one time
  Unit* unit;
  std::uint64_t argument;
  Event* next;  ///< in its bucket, or in the list of free ones
};

/// Pending events in order of (time, order). Near events lie in a wheel of short sorted lists, far
/// ones (timers) in a heap until the wheel comes near them. Pushing and popping cost the same
/// whatever the number of events in flight, as long as buckets stay short. Both are called for each
/// event, so all that is done for most of them is here to be inlined.
class EventWheel {
 public:
  /// `time` must not be before the event popped last.
  void push(hw::Time time, std::uint64_t order, Unit& unit, std::uint64_t argument) {
    const std::int64_t bucket = bucket_of(time);
    if (free_ == nullptr || bucket - current_ >= kBuckets) {
      push_slowly(time, order, unit, argument);
      return;
    }
    insert_near(take(time, order, unit, argument), bucket);
    if (time < next_time_) next_time_ = time;
  }
  bool empty() const { return size_ == 0; }
  std::uint64_t size() const { return size_; }
  /// Time of the first event, hw::kNever when there is none.
  hw::Time next_time() const { return next_time_; }
  /// Removes the first event, which stays as it is until the next push. The wheel must not be
  /// empty.
  const Event& pop() {
    current_ = bucket_of(next_time_);
    if (first_far_ - current_ < kBuckets) migrate_far();
    const std::uint32_t slot = slot_of(current_);
    Event* first = heads_[slot];
    Event* second = first->next;
    heads_[slot] = second;
    first->next = free_;
    free_ = first;
    --size_;
    if (second != nullptr) {
      next_time_ = second->time;
    } else {
      leave(slot);
    }
    return *first;
  }

 private:
  static constexpr unsigned kBucketShift = 11;  // about two nanoseconds
  static constexpr std::int64_t kBuckets = 2048;
  static constexpr std::uint32_t kWords = kBuckets / 64;  // less than 64
  static constexpr std::int64_t kNoBucket = std::numeric_limits<std::int64_t>::max();

  static std::int64_t bucket_of(hw::Time time) { return time >> kBucketShift; }
  static std::uint32_t slot_of(std::int64_t bucket) {
    return static_cast<std::uint32_t>(bucket & (kBuckets - 1));
  }
  static bool earlier(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
  static std::uint32_t lowest(std::uint64_t bits) {
    return static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  Event* take(hw::Time time, std::uint64_t order, Unit& unit, std::uint64_t argument) {
    Event* event = free_;
    free_ = event->next;
    event->time = time;
    event->order = order;
    event->unit = &unit;
    event->argument = argument;
    ++size_;
    return event;
  }
  void insert_near(Event* event, std::int64_t bucket) {
    const std::uint32_t slot = slot_of(bucket);
    Event** link = &heads_[slot];
    while (*link != nullptr && earlier(**link, *event)) link = &(*link)->next;
    event->next = *link;
    *link = event;
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    words_ |= std::uint64_t{1} << (slot / 64);
  }

  // The bucket has become empty; all that is left of the wheel lies behind it.
  void leave(std::uint32_t slot) {
    const std::uint32_t word = slot / 64;
    occupied_[word] &= ~(std::uint64_t{1} << (slot % 64));
    if (occupied_[word] == 0) words_ &= ~(std::uint64_t{1} << word);
    if (words_ == 0) {
      next_time_ = far_.empty() ? hw::kNever : far_.front()->time;
    } else {
      next_time_ = heads_[first_occupied_from(slot)]->time;
    }
  }
  std::uint32_t first_occupied_from(std::uint32_t slot) const {
    std::uint32_t word = slot / 64;
    const std::uint64_t here = occupied_[word] & (~std::uint64_t{0} << (slot % 64));
    if (here != 0) return word * 64 + lowest(here);
    const std::uint64_t behind = words_ & (~std::uint64_t{0} << (word + 1));
    word = lowest(behind != 0 ? behind : words_);
    return word * 64 + lowest(occupied_[word]);
  }

  void grow();
  void push_slowly(hw::Time time, std::uint64_t order, Unit& unit, std::uint64_t argument);
  void push_far(Event* event);
  void migrate_far();

  Event* free_ = nullptr;
  std::int64_t current_ = 0;  // bucket of the event popped last
  std::int64_t first_far_ = kNoBucket;
  hw::Time next_time_ = hw::kNever;
  std::uint64_t size_ = 0;
  std::uint64_t words_ = 0;  // which of the next are not 0
  std::array<std::uint64_t, kWords> occupied_{};
  std::array<Event*, kBuckets> heads_{};
  std::vector<Event*> far_;  // heap, earliest on top
  std::vector<std::unique_ptr<Event[]>> blocks_;
};

}  // namespace hcasim::sim
