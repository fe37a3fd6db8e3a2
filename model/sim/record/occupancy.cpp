// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/occupancy.hpp"

#include <limits>
#include <utility>

namespace hcasim::sim {

ChangeQueue::ChangeQueue() : first_(begin()), last_(begin()), end_(store_.get() + kFirstSize) {
  store_[0].at = std::numeric_limits<hw::Time>::min();
}

// Twice what is in use, so that there is room for a while.
void ChangeQueue::make_room() {
  const auto used = static_cast<std::size_t>(last_ - first_);
  const auto size = static_cast<std::size_t>(end_ - store_.get());
  if (2 * used < size) {
    last_ = std::move(first_, last_, begin());
    first_ = begin();
    return;
  }
  auto larger = std::make_unique<Change[]>(2 * size);
  larger[0] = store_[0];
  std::copy(first_, last_, larger.get() + 1);
  store_ = std::move(larger);
  first_ = begin();
  last_ = first_ + used;
  end_ = store_.get() + 2 * size;
}

// What happens at one time is one change.
void ChangeQueue::insert_among_others(Change change) {
  Change* place = last_;
  while (place != first_ && place[-1].at > change.at) --place;
  if (place != first_ && place[-1].at == change.at) {
    place[-1].entries += change.entries;
    return;
  }
  std::move_backward(place, last_, last_ + 1);
  *place = change;
  ++last_;
}

void Occupancy::settle(hw::Time now) {
  apply_until(now - kSettle);
  pending_.make_room();
}

void Occupancy::apply_until(hw::Time limit) {
  std::int64_t level = level_;
  hw::Time since = since_;
  const auto apply = [&](const ChangeQueue::Change& change) {
    if (change.at > since) {
      spend(level, change.at - since);
      since = change.at;
    }
    level += change.entries;
  };
  later_.take_until(limit, [&](const ChangeQueue::Change& change) {
    pending_.take_until(change.at, apply);
    apply(change);
  });
  pending_.take_until(limit, apply);
  level_ = level;
  since_ = since;
}

void Occupancy::spend_at_unusual(std::int64_t level, std::uint64_t time) {
  if (level < 0) {
    time_at_small_[0] += time;
  } else {
    count(static_cast<std::uint64_t>(level), time);
  }
}

void Occupancy::count(std::uint64_t level, std::uint64_t time) {
  time_at_level_.add(level, time);
  integral_ += static_cast<Wide>(level) * time;
  max_ = std::max(max_, level);
}

void Occupancy::begin(hw::Time epoch) {
  time_at_small_.fill(0);
  time_at_level_.clear();
  integral_ = 0;
  max_ = 0;
  since_ = epoch;
}

void Occupancy::end(hw::Time end) {
  apply_until(end);
  if (end > since_) spend(level_, end - since_);
  since_ = std::max(since_, end);
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
