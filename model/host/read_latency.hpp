// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>

#include "hcasim/hw/time.hpp"
#include "pcie/parameters.hpp"
#include "sim/engine/random.hpp"

namespace hcasim::host {

using hw::Time;

/// Latency of a DMA read in the root complex, drawn from a seeded sequence. With m the least
/// latency and d the distance from it to the median, one half of all draws is uniform in [m, m +
/// d), a quarter in [m + d, m + 2d), an eighth in the next d and so on; what would exceed the most
/// is cut to it. So the median is exact, the tail falls by half every d, as the published
/// measurements do about, and nothing is rounded by floating point.
class ReadLatency {
 public:
  ReadLatency(const pcie::Parameters& p, std::uint64_t seed)
      : least_(p.read_latency_min_ns * hw::kNanosecond),
        step_(p.read_latency_median_ns * hw::kNanosecond - least_),
        most_(p.read_latency_max_ns * hw::kNanosecond),
        random_(seed) {}

  Time draw() {
    if (step_ == 0) return least_;
    const std::uint64_t random = random_.next();
    // The run of zeros on top chooses the step, the 32 bits at the bottom the place within it.
    const int steps = std::countl_zero(random | kLow);
    const auto within =
        static_cast<Time>(((random & kLow) * static_cast<std::uint64_t>(step_)) >> 32);
    const Time latency = least_ + steps * step_ + within;
    return latency < most_ ? latency : most_;
  }

 private:
  static constexpr std::uint64_t kLow = 0xffff'ffff;

  Time least_;
  Time step_;
  Time most_;
  sim::Random random_;
};

}  // namespace hcasim::host
