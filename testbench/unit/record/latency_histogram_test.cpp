// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sim/record/latency_histogram.hpp"

namespace hcasim::sim {
namespace {

hw::Time nearest_rank(const std::vector<hw::Time>& sorted, std::uint64_t thousandths) {
  const std::uint64_t rank = (sorted.size() * thousandths + 999) / 1000;
  return sorted[rank == 0 ? 0 : rank - 1];
}

// Within 0.1 % of what sorting gives.
void expect_close(hw::Time got, hw::Time exact) {
  EXPECT_LE(std::abs(got - exact) * 1000, exact) << got << " for " << exact;
}

void compare(std::vector<hw::Time> values) {
  LatencyHistogram histogram;
  Wide sum = 0;
  for (const hw::Time value : values) {
    histogram.record(value);
    sum += static_cast<std::uint64_t>(value);
  }
  std::sort(values.begin(), values.end());
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(summary.count, values.size());
  EXPECT_EQ(summary.min, values.front());
  EXPECT_EQ(summary.max, values.back());
  EXPECT_EQ(summary.mean, static_cast<hw::Time>((sum + values.size() / 2) / values.size()));
  expect_close(summary.p50, nearest_rank(values, 500));
  expect_close(summary.p99, nearest_rank(values, 990));
  expect_close(summary.p999, nearest_rank(values, 999));
}

TEST(LatencyHistogram, NothingRecorded) {
  EXPECT_EQ(LatencyHistogram().summary().count, 0u);
}

TEST(LatencyHistogram, OneValueIsAllOfIt) {
  for (const hw::Time value : {hw::Time{0}, hw::Time{1}, hw::Time{2047}, hw::Time{2049},
                               hw::Time{123'456'789}, hw::kNever}) {
    LatencyHistogram histogram;
    histogram.record(value);
    const LatencySummary summary = histogram.summary();
    EXPECT_EQ(summary.min, value);
    EXPECT_EQ(summary.mean, value);
    EXPECT_EQ(summary.p50, value);
    EXPECT_EQ(summary.p999, value);
    EXPECT_EQ(summary.max, value);
  }
}

TEST(LatencyHistogram, SmallValuesAreExact) {
  LatencyHistogram histogram;
  for (hw::Time value = 0; value < 2000; ++value) histogram.record(value);
  EXPECT_EQ(histogram.summary().p50, 999);
  EXPECT_EQ(histogram.summary().p99, 1979);
  EXPECT_EQ(histogram.summary().p999, 1997);
}

TEST(LatencyHistogram, PercentilesAreWithinOneInAThousandOfSorting) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<hw::Time> values(1 + random() % 3000);
    const double widest = static_cast<double>(4 + random() % 40);
    for (hw::Time& value : values) {
      const double bits = std::uniform_real_distribution<double>(0, widest)(random);
      value = static_cast<hw::Time>(std::exp2(bits));
    }
    compare(std::move(values));
  }
}

TEST(LatencyHistogram, MergingIsRecordingBoth) {
  std::mt19937_64 random(2);
  LatencyHistogram parts[2];
  LatencyHistogram whole;
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<hw::Time>(random() >> (20 + random() % 40));
    parts[i % 2].record(value);
    whole.record(value);
  }
  parts[0].merge(parts[1]);
  const LatencySummary merged = parts[0].summary();
  const LatencySummary expected = whole.summary();
  EXPECT_EQ(merged.count, expected.count);
  EXPECT_EQ(merged.min, expected.min);
  EXPECT_EQ(merged.mean, expected.mean);
  EXPECT_EQ(merged.p99, expected.p99);
  EXPECT_EQ(merged.max, expected.max);
}

}  // namespace
}  // namespace hcasim::sim
