// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/event_wheel.hpp"

#include <algorithm>

namespace hcasim::sim {

namespace {
constexpr std::size_t kFirstBlock = 64;
}

// Each block is as large as all before it together.
void EventWheel::grow() {
  const std::size_t count = std::max(kFirstBlock, static_cast<std::size_t>(size_));
  Event* block = blocks_.emplace_back(std::make_unique<Event[]>(count)).get();
  for (std::size_t i = count; i-- != 0;) {
    block[i].next = free_;
    free_ = &block[i];
  }
}

// A far event, or the first one after the pool was used up.
void EventWheel::push_slowly(hw::Time time, std::uint64_t order, Unit& unit,
                             std::uint64_t argument) {
  if (free_ == nullptr) grow();
  Event* event = take(time, order, unit, argument);
  const std::int64_t bucket = bucket_of(time);
  if (bucket - current_ < kBuckets) {
    insert_near(event, bucket);
  } else {
    push_far(event);
  }
  next_time_ = std::min(next_time_, time);
}

void EventWheel::push_far(Event* event) {
  far_.push_back(event);
  std::push_heap(far_.begin(), far_.end(), [](auto* a, auto* b) { return earlier(*b, *a); });
  first_far_ = bucket_of(far_.front()->time);
}

void EventWheel::migrate_far() {
  while (first_far_ - current_ < kBuckets) {
    std::pop_heap(far_.begin(), far_.end(), [](auto* a, auto* b) { return earlier(*b, *a); });
    Event* event = far_.back();
    far_.pop_back();
    insert_near(event, bucket_of(event->time));
    first_far_ = far_.empty() ? kNoBucket : bucket_of(far_.front()->time);
  }
}

}  // namespace hcasim::sim
