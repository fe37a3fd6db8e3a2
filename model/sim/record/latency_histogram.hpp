// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/run_statistics.hpp"
#include "sim/record/bucketed_weights.hpp"

namespace hcasim::sim {

/// Collects latencies: least, largest and mean are exact, percentiles are within 0.1 %.
class LatencyHistogram {
 public:
  /// @param latency not negative
  void record(hw::Time latency) {
    buckets_.add(static_cast<std::uint64_t>(latency), 1);
    min_ = std::min(min_, latency);
    max_ = std::max(max_, latency);
    sum_ += static_cast<std::uint64_t>(latency);
  }

  void merge(const LatencyHistogram& other);
  std::uint64_t count() const { return buckets_.total(); }
  LatencySummary summary() const;

 private:
  hw::Time percentile(std::uint64_t thousandths) const;

  BucketedWeights buckets_;
  hw::Time min_ = hw::kNever;
  hw::Time max_ = 0;
  Wide sum_ = 0;
};

}  // namespace hcasim::sim
