// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
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
  std::uint32_t next;  ///< pool index of the bucket's next event
};

/// Pending events in order of (time, order). Near events lie in a wheel of short sorted lists, far
/// ones (timers) in a heap until the wheel comes near them. Pushing and popping cost the same
/// whatever the number of events in flight, as long as buckets stay short.
class EventWheel {
 public:
  EventWheel();

  /// `time` must not be before the event popped last.
  void push(hw::Time time, std::uint64_t order, Unit& unit, std::uint64_t argument);
  bool empty() const { return size_ == 0; }
  std::uint64_t size() const { return size_; }
  /// Time of the first event, hw::kNever when there is none.
  hw::Time next_time() const { return next_time_; }
  /// Removes the first event. The wheel must not be empty.
  Event pop();

 private:
  static constexpr unsigned kBucketShift = 10;  // about a nanosecond
  static constexpr std::uint32_t kBuckets = 4096;
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  std::uint32_t allocate();
  void insert_near(std::uint32_t index);
  void push_far(std::uint32_t index);
  void migrate_far();
  void find_next();
  bool earlier(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t first_occupied_from(std::uint32_t slot) const;
  static std::int64_t bucket_of(hw::Time time) { return time >> kBucketShift; }

  std::vector<Event> pool_;
  std::uint32_t free_ = kNone;
  std::array<std::uint32_t, kBuckets> heads_;
  std::array<std::uint64_t, kBuckets / 64> occupied_{};
  std::vector<std::uint32_t> far_;  // heap, earliest on top
  std::int64_t current_ = 0;        // bucket of the event popped last
  std::uint64_t size_ = 0;
  std::uint64_t near_ = 0;
  hw::Time next_time_ = hw::kNever;
};

}  // namespace hcasim::sim
