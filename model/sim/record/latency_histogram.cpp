// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/latency_histogram.hpp"

namespace hcasim::sim {

void LatencyHistogram::merge(const LatencyHistogram& other) {
  buckets_.merge(other.buckets_);
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

hw::Time LatencyHistogram::percentile(std::uint64_t thousandths) const {
  // The middle of the first or last bucket may lie outside of what was seen.
  return std::clamp(static_cast<hw::Time>(buckets_.quantile(thousandths)), min_, max_);
}

LatencySummary LatencyHistogram::summary() const {
  LatencySummary summary;
  summary.count = count();
  if (summary.count == 0) return summary;
  summary.min = min_;
  summary.max = max_;
  summary.mean = static_cast<hw::Time>((sum_ + summary.count / 2) / summary.count);
  summary.p50 = percentile(500);
  summary.p99 = percentile(990);
  summary.p999 = percentile(999);
  return summary;
}

}  // namespace hcasim::sim
