// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/occupancy.hpp"

namespace hcasim::sim {

void ChangeQueue::grow() {
  std::vector<Change> larger(2 * ring_.size());
  for (std::size_t i = first_; i != last_; ++i) larger[i & (larger.size() - 1)] = ring_[i & mask()];
  ring_.swap(larger);
}

void Occupancy::begin(hw::Time epoch) {
  time_at_level_.clear();
  integral_ = 0;
  max_ = 0;
  since_ = epoch;
}

void Occupancy::end(hw::Time end) {
  while (!pending_.empty() && pending_.front().at <= end) apply(pending_.pop());
  advance(end);
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
