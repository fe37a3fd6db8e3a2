// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
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
    if (pending_.full()) [[unlikely]]
      settle(at);
    pending_.insert(at, entries);
  }
  /// A change of which is known in advance when it will take place.
  void change_later(hw::Time at, std::int64_t entries) {
    if (later_.full()) [[unlikely]]
      later_.make_room();
    later_.insert(at, entries);
  }

  /// The time that counts begins; the queue keeps what is in it.
  void begin(hw::Time epoch);
  /// The time that counts ends.
  void end(hw::Time end);

  /// Fills in all but node and queue. Right after end().
  OccupancyStatistics statistics() const;

 private:
  static constexpr std::size_t kSmallLevels = 1024;

  void settle(hw::Time now);
  void apply_until(hw::Time limit);
  // Time spent at the usual levels is only added up here; what follows from it is worked out once,
  // at the end.
  void spend(std::int64_t level, hw::Time time) {
    if (static_cast<std::uint64_t>(level) < kSmallLevels) {
      time_at_small_[static_cast<std::size_t>(level)] += static_cast<std::uint64_t>(time);
    } else {
      spend_at_unusual(level, static_cast<std::uint64_t>(time));
    }
  }
  void spend_at_unusual(std::int64_t level, std::uint64_t time);
  void count(std::uint64_t level, std::uint64_t time);

  ChangeQueue pending_;
  ChangeQueue later_;  // apart, so that neither makes the other's changes come out of order
  std::array<std::uint64_t, kSmallLevels> time_at_small_{};
  std::int64_t level_ = 0;
  hw::Time since_ = hw::kNever;  // all before it is accounted for; never: not begun
  BucketedWeights time_at_level_;
  Wide integral_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace hcasim::sim
