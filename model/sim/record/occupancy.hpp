// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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
    if (pending_.size() >= enough_) settle(at);
  }
  /// A change of which is known in advance when it will take place.
  void change_later(hw::Time at, std::int64_t entries) { later_.insert(at, entries); }

  /// The time that counts begins; the queue keeps what is in it.
  void begin(hw::Time epoch);
  /// The time that counts ends.
  void end(hw::Time end);

  /// Fills in all but node and queue. Right after end().
  OccupancyStatistics statistics() const;

 private:
  static constexpr std::size_t kEnough = 64;
  static constexpr std::int64_t kSmallLevels = 1024;

  void settle(hw::Time now);
  void apply_until(hw::Time limit);
  void apply(const ChangeQueue::Change& change) {
    advance(change.at);
    level_ += change.entries;
  }
  // Time spent at the usual levels is only added up here; what follows from it is worked out once,
  // at the end.
  void advance(hw::Time to) {
    if (to <= since_) return;
    const auto time = static_cast<std::uint64_t>(to - since_);
    since_ = to;
    if (level_ < kSmallLevels) {
      time_at_small_[static_cast<std::size_t>(std::max<std::int64_t>(level_, 0))] += time;
    } else {
      count(static_cast<std::uint64_t>(level_), time);
    }
  }
  void count(std::uint64_t level, std::uint64_t time);

  ChangeQueue pending_;
  ChangeQueue later_;  // apart, so that neither makes the other's changes come out of order
  std::size_t enough_ = kEnough;  // changes that are worth settling
  std::vector<std::uint64_t> time_at_small_ = std::vector<std::uint64_t>(kSmallLevels);
  std::int64_t level_ = 0;
  hw::Time since_ = hw::kNever;  // all before it is accounted for; never: not begun
  BucketedWeights time_at_level_;
  Wide integral_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace hcasim::sim
