// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::sim {

/// An event of an engine: plain data, kept in a pool.
struct Event {
  Time time;
  Unit* unit;  ///< its rank breaks ties at one time, then the order of insertion does
  std::uint64_t argument;
  Event* next;  ///< in its bucket, or in the list of free ones
};

/// Pending events in order of time, then rank of the unit, then insertion. Near events lie in a
/// wheel of short sorted lists, far ones (timers) in a heap until the wheel comes near them.
/// Pushing and popping cost the same whatever the number of events in flight, as long as buckets
/// stay short. Both are called for each event, so all that is done for most of them is here to be
/// inlined.
class EventWheel {
 public:
  /// Time of the event popped last; later if time was let pass since.
  Time now() const { return now_; }
  /// Time of the first event, hw::kNever when there is none.
  Time next_time() const { return next_time_; }
  bool empty() const { return next_time_ == hw::kNever; }

  /// True when push_near can take an event at `time`: that is not before now(), near, and there is
  /// a free one. For most events that is all there is to ask.
  bool takes(Time time) const {
    return static_cast<std::uint64_t>(time - now_) < static_cast<std::uint64_t>(kReach) &&
           free_ != nullptr;
  }
  void push_near(Time time, Unit& unit, std::uint64_t argument) {
    insert(take(time, unit, argument));
  }
  /// Any event whose `time` is not before now(). Returns what withdraw() asks for; 0 for an event
  /// that is too near to be taken back.
  std::uint64_t push(Time time, Unit& unit, std::uint64_t argument);
  /// Takes back an event that is still far; one that has come near stays.
  void withdraw(std::uint64_t ticket);
  /// Lets time pass up to `time`, which is not behind the first event.
  void advance_to(Time time) {
    now_ = time;
    if (now_ >= far_due_) migrate_far();
  }
  /// Removes the first event, which stays as it is until the next push. The wheel must not be
  /// empty.
  const Event& pop() {
    now_ = next_time_;
    if (now_ >= far_due_) [[unlikely]]
      migrate_far();
    const std::uint32_t slot = slot_of(now_);
    Event* first = heads_[slot];
    Event* second = first->next;
    heads_[slot] = second;
    first->next = free_;
    free_ = first;
    next_time_ = second != nullptr ? second->time : time_behind(slot);
    return *first;
  }

 private:
  struct Far {
    Event* event;         // null when it was withdrawn, which the first one never is
    Time time;            // of the event
    std::uint64_t order;  // of insertion, from 1
  };

  static constexpr unsigned kBucketShift = 11;  // about two nanoseconds
  static constexpr std::uint32_t kBuckets = 1024;
  static constexpr std::uint32_t kWords = kBuckets / 64;
  // Whatever the place of now() in its bucket, this far ahead is less than a turn of the wheel.
  static constexpr Time kReach = Time{kBuckets - 1} << kBucketShift;

  static std::uint32_t slot_of(Time time) {
    return static_cast<std::uint32_t>(time >> kBucketShift) & (kBuckets - 1);
  }
  static bool later(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.unit->rank() > b.unit->rank();
  }

  Event* take(Time time, Unit& unit, std::uint64_t argument) {
    Event* event = free_;
    free_ = event->next;
    event->time = time;
    event->unit = &unit;
    event->argument = argument;
    return event;
  }
  // Behind all that are not later: of equal events the one inserted first stays first.
  void insert(Event* event) {
    const std::uint32_t slot = slot_of(event->time);
    Event** link = &heads_[slot];
    while (*link != nullptr && !later(**link, *event)) link = &(*link)->next;
    event->next = *link;
    *link = event;
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    if (event->time < next_time_) next_time_ = event->time;
  }
  // The bucket has become empty: where the first event behind it is.
  Time time_behind(std::uint32_t slot) {
    const std::uint32_t word = slot / 64;
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    const std::uint64_t left = occupied_[word] ^ bit;
    occupied_[word] = left;
    const std::uint64_t behind = left & (0 - bit);
    if (behind == 0) return time_behind_word(word);
    return heads_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(behind))]->time;
  }

  Time time_behind_word(std::uint32_t word) const;
  void grow();
  std::uint64_t push_far(Event* event);
  void pop_far();
  void migrate_far();
  void set_far_due();

  Event* free_ = nullptr;
  Time now_ = 0;
  Time next_time_ = hw::kNever;
  Time far_due_ = hw::kNever;  // when the first far event comes into reach
  std::array<std::uint64_t, kWords> occupied_{};
  std::array<Event*, kBuckets> heads_{};
  std::vector<Far> far_;  // heap, earliest on top
  std::uint64_t far_inserted_ = 0;
  std::vector<std::unique_ptr<Event[]>> blocks_;
};

}  // namespace hcasim::sim
