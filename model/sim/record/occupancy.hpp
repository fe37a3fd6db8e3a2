// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/run_statistics.hpp"
#include "sim/record/bucketed_weights.hpp"
#include "sim/record/change_queue.hpp"

namespace hcasim::sim {

/// How full a queue was over time. Changes need not come in order: each waits until software has
/// moved on by kSettle, and older ones are sorted in before it.
class Occupancy {
 public:
  /// Longest time by which software's reports of one node are out of order.
  static constexpr hw::Time kSettle = 4 * hw::kMicrosecond;

  /// A change that takes place now.
  void change(hw::Time at, std::int64_t entries) {
    pending_.insert(at, entries);
    settle(at);
  }
  /// A change of which is known in advance when it will take place.
  void change_later(hw::Time at, std::int64_t entries) { pending_.insert(at, entries); }

  /// The time that counts begins; the queue keeps what is in it.
  void begin(hw::Time epoch);
  /// The time that counts ends.
  void end(hw::Time end);

  /// Fills in all but node and queue. Right after end().
  OccupancyStatistics statistics() const;

 private:
  void settle(hw::Time now) {
    while (!pending_.empty() && pending_.front().at <= now - kSettle) apply(pending_.pop());
  }
  void apply(const ChangeQueue::Change& change) {
    advance(change.at);
    level_ += change.entries;
  }
  void advance(hw::Time to) {
    if (to <= since_) return;
    const auto level = static_cast<std::uint64_t>(std::max<std::int64_t>(level_, 0));
    const auto time = static_cast<std::uint64_t>(to - since_);
    time_at_level_.add(level, time);
    integral_ += static_cast<Wide>(level) * time;
    max_ = std::max(max_, level);
    since_ = to;
  }

  ChangeQueue pending_;
  BucketedWeights time_at_level_;
  Wide integral_ = 0;
  std::int64_t level_ = 0;
  std::uint64_t max_ = 0;
  hw::Time since_ = hw::kNever;  // all before it is accounted for; never: not begun
};

}  // namespace hcasim::sim
