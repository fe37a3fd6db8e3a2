// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/event_wheel.hpp"

#include <algorithm>

namespace hcasim::sim {

namespace {

constexpr std::size_t kFirstBlock = 64;

// For a heap with the earliest on top.
constexpr auto kComesAfter = [](const auto& a, const auto& b) {
  if (a.event->time != b.event->time) return a.event->time > b.event->time;
  if (a.event->unit != b.event->unit) return a.event->unit->rank() > b.event->unit->rank();
  return a.order > b.order;
};

}  // namespace

// Each block is twice as large as the one before it.
void EventWheel::grow() {
  const std::size_t count = kFirstBlock << blocks_.size();
  Event* block = blocks_.emplace_back(std::make_unique<Event[]>(count)).get();
  for (std::size_t i = count; i-- != 0;) {
    block[i].next = free_;
    free_ = &block[i];
  }
}

// Nothing is left in the rest of this word of buckets: the next one in turn, or else the heap.
Time EventWheel::time_behind_word(std::uint32_t word) const {
  for (std::uint32_t i = 1; i <= kWords; ++i) {
    const std::uint32_t next = (word + i) % kWords;
    if (occupied_[next] == 0) continue;
    return heads_[next * 64 + static_cast<std::uint32_t>(std::countr_zero(occupied_[next]))]->time;
  }
  return far_.empty() ? hw::kNever : far_.front().event->time;
}

void EventWheel::push(Time time, Unit& unit, std::uint64_t argument) {
  if (free_ == nullptr) grow();
  Event* event = take(time, unit, argument);
  if (time - now_ < kReach) {
    insert(event);
  } else {
    push_far(event);
  }
}

void EventWheel::push_far(Event* event) {
  far_.push_back({event, far_inserted_++});
  std::push_heap(far_.begin(), far_.end(), kComesAfter);
  set_far_due();
  next_time_ = std::min(next_time_, event->time);
}

// What comes into reach goes into the wheel before anything else of its time can be pushed there.
void EventWheel::migrate_far() {
  while (now_ >= far_due_) {
    std::pop_heap(far_.begin(), far_.end(), kComesAfter);
    insert(far_.back().event);
    far_.pop_back();
    set_far_due();
  }
}

void EventWheel::set_far_due() {
  far_due_ = far_.empty() ? hw::kNever : far_.front().event->time - kReach + 1;
}

}  // namespace hcasim::sim
