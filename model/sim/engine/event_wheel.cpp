// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/event_wheel.hpp"

#include <algorithm>
#include <bit>

namespace hcasim::sim {

EventWheel::EventWheel() {
  heads_.fill(kNone);
}

bool EventWheel::earlier(std::uint32_t a, std::uint32_t b) const {
  const Event& x = pool_[a];
  const Event& y = pool_[b];
  return x.time != y.time ? x.time < y.time : x.order < y.order;
}

std::uint32_t EventWheel::allocate() {
  if (free_ == kNone) {
    pool_.emplace_back();
    return static_cast<std::uint32_t>(pool_.size() - 1);
  }
  const std::uint32_t index = free_;
  free_ = pool_[index].next;
  return index;
}

void EventWheel::push(hw::Time time, std::uint64_t order, Unit& unit, std::uint64_t argument) {
  const std::uint32_t index = allocate();
  pool_[index] = {time, order, &unit, argument, kNone};
  if (bucket_of(time) < current_ + kBuckets) {
    insert_near(index);
  } else {
    push_far(index);
  }
  ++size_;
  next_time_ = std::min(next_time_, time);
}

void EventWheel::insert_near(std::uint32_t index) {
  const auto slot = static_cast<std::uint32_t>(bucket_of(pool_[index].time) & (kBuckets - 1));
  std::uint32_t* link = &heads_[slot];
  while (*link != kNone && !earlier(index, *link)) link = &pool_[*link].next;
  pool_[index].next = *link;
  *link = index;
  occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  ++near_;
}

void EventWheel::push_far(std::uint32_t index) {
  far_.push_back(index);
  std::push_heap(far_.begin(), far_.end(), [this](auto a, auto b) { return earlier(b, a); });
}

void EventWheel::migrate_far() {
  while (!far_.empty() && bucket_of(pool_[far_.front()].time) < current_ + kBuckets) {
    std::pop_heap(far_.begin(), far_.end(), [this](auto a, auto b) { return earlier(b, a); });
    const std::uint32_t index = far_.back();
    far_.pop_back();
    insert_near(index);
  }
}

std::uint32_t EventWheel::first_occupied_from(std::uint32_t slot) const {
  constexpr std::uint32_t kWords = kBuckets / 64;
  std::uint32_t word = slot / 64;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (slot % 64));
  for (std::uint32_t i = 0; i <= kWords; ++i) {
    if (bits != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    word = (word + 1) % kWords;
    bits = occupied_[word];
  }
  return kNone;
}

void EventWheel::find_next() {
  if (near_ != 0) {
    const auto from = static_cast<std::uint32_t>(current_ & (kBuckets - 1));
    next_time_ = pool_[heads_[first_occupied_from(from)]].time;
  } else {
    next_time_ = far_.empty() ? hw::kNever : pool_[far_.front()].time;
  }
}

Event EventWheel::pop() {
  current_ = bucket_of(next_time_);
  if (!far_.empty()) migrate_far();
  const auto slot = static_cast<std::uint32_t>(current_ & (kBuckets - 1));
  const std::uint32_t index = heads_[slot];
  const Event event = pool_[index];
  heads_[slot] = event.next;
  if (event.next == kNone) occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  pool_[index].next = free_;
  free_ = index;
  --size_;
  --near_;
  if (event.next != kNone) {
    next_time_ = pool_[event.next].time;
  } else {
    find_next();
  }
  return event;
}

}  // namespace hcasim::sim
