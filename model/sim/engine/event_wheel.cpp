// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/event_wheel.hpp"

#include <algorithm>
#include <utility>

namespace hcasim::sim {

namespace {

constexpr std::size_t kFirstBlock = 64;

// For a heap with the earliest on top. What lies in it has no use for the rank of units: insert()
// looks at that.
constexpr auto kComesAfter = [](const auto& a, const auto& b) {
  return a.time != b.time ? a.time > b.time : a.order > b.order;
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
  return far_.empty() ? hw::kNever : far_.front().time;
}

std::uint64_t EventWheel::push(Time time, Unit& unit, std::uint64_t argument) {
  if (free_ == nullptr) grow();
  Event* event = take(time, unit, argument);
  if (time - now_ >= kReach) return push_far(event);
  insert(event);
  return 0;
}

std::uint64_t EventWheel::push_far(Event* event) {
  far_.push_back({event, event->time, ++far_inserted_});
  std::push_heap(far_.begin(), far_.end(), kComesAfter);
  set_far_due();
  next_time_ = std::min(next_time_, event->time);
  return far_inserted_;
}

// The last that came are mostly the latest, and so at the end of the heap.
void EventWheel::withdraw(std::uint64_t ticket) {
  const auto far = std::find_if(far_.rbegin(), far_.rend(),
                                [ticket](const Far& it) { return it.order == ticket; });
  if (far == far_.rend()) return;
  far->event->next = free_;
  free_ = std::exchange(far->event, nullptr);
  // Whatever is in the wheel comes before all that is far.
  const bool was_next = next_time_ == far->time;
  if (far == far_.rbegin()) far_.pop_back();
  if (!far_.empty() && far_.front().event == nullptr) pop_far();
  set_far_due();
  if (was_next) next_time_ = far_.empty() ? hw::kNever : far_.front().time;
}

// Removes the first, and those behind it that were withdrawn.
void EventWheel::pop_far() {
  do {
    std::pop_heap(far_.begin(), far_.end(), kComesAfter);
    far_.pop_back();
  } while (!far_.empty() && far_.front().event == nullptr);
}

// What comes into reach goes into the wheel before anything else of its time can be pushed there.
void EventWheel::migrate_far() {
  while (now_ >= far_due_) {
    insert(far_.front().event);
    pop_far();
    set_far_due();
  }
}

void EventWheel::set_far_due() {
  far_due_ = far_.empty() ? hw::kNever : far_.front().time - kReach + 1;
}

}  // namespace hcasim::sim
