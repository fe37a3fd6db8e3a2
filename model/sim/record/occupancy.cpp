// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/occupancy.hpp"

namespace hcasim::sim {

void ChangeQueue::grow() {
  const std::size_t larger_mask = 2 * mask_ + 1;
  auto larger = std::make_unique<Change[]>(larger_mask + 1);
  for (std::size_t i = first_; i != last_; ++i) larger[i & larger_mask] = ring_[i & mask_];
  ring_ = std::move(larger);
  mask_ = larger_mask;
}

void ChangeQueue::insert_before_others(Change change) {
  std::size_t place = last_++;
  for (; place != first_ && ring_[(place - 1) & mask_].at > change.at; --place) {
    ring_[place & mask_] = ring_[(place - 1) & mask_];
  }
  ring_[place & mask_] = change;
}

void Occupancy::settle(hw::Time now) {
  apply_until(now - kSettle);
  enough_ = std::max(kEnough, 2 * pending_.size());
}

void Occupancy::apply_until(hw::Time limit) {
  while (!later_.empty()) {
    ChangeQueue& first = later_.next() < pending_.next() ? later_ : pending_;
    if (first.next() > limit) return;
    apply(first.pop());
  }
  while (pending_.next() <= limit && !pending_.empty()) apply(pending_.pop());
}

void Occupancy::count(std::uint64_t level, std::uint64_t time) {
  time_at_level_.add(level, time);
  integral_ += static_cast<Wide>(level) * time;
  max_ = std::max(max_, level);
}

void Occupancy::begin(hw::Time epoch) {
  std::fill(time_at_small_.begin(), time_at_small_.end(), 0);
  time_at_level_.clear();
  integral_ = 0;
  max_ = 0;
  since_ = epoch;
}

void Occupancy::end(hw::Time end) {
  apply_until(end);
  advance(end);
  for (std::size_t level = 0; level < time_at_small_.size(); ++level) {
    if (time_at_small_[level] != 0) count(level, time_at_small_[level]);
    time_at_small_[level] = 0;
  }
}

OccupancyStatistics Occupancy::statistics() const {
  OccupancyStatistics result;
  const std::uint64_t time = time_at_level_.total();
  if (time == 0) return result;
  result.mean_thousandths = static_cast<std::uint64_t>((integral_ * 1000 + time / 2) / time);
  result.p99 = std::min(time_at_level_.quantile(990), max_);
  result.max = max_;
  const Wide empty = time_at_level_.weight_of(0);
  result.empty_millionths = static_cast<std::uint64_t>((empty * 1'000'000 + time / 2) / time);
  return result;
}

}  // namespace hcasim::sim
