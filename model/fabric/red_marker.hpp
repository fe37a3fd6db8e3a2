// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <cstdint>

#include "fabric/parameters.hpp"
#include "sim/engine/random.hpp"

namespace hcasim::fabric {

/// Decides which packets a queue marks, by its length at their arrival: none up to K_min, from
/// there to K_max a share that rises to P_max, all beyond. The share is drawn from a seeded
/// sequence, in whole numbers.
class RedMarker {
 public:
  RedMarker(const SwitchParameters& p, std::uint64_t seed)
      : k_min_(p.k_min_bytes),
        k_max_(p.k_max_bytes),
        p_max_(static_cast<std::uint64_t>(std::llround(p.p_max * 0x1p32))),
        random_(sim::Random::mix(seed ^ sim::Random::mix(kMarks))) {}

  bool marks(std::uint64_t queue_bytes) {
    if (queue_bytes <= k_min_) return false;
    if (queue_bytes >= k_max_) return true;
    return (random_.next() >> 32) < p_max_ * (queue_bytes - k_min_) / (k_max_ - k_min_);
  }

 private:
  static constexpr std::uint64_t kMarks = 200;  // tells the sequence from others of the seed

  std::uint64_t k_min_;
  std::uint64_t k_max_;
  std::uint64_t p_max_;  // in 1 / 2^32
  sim::Random random_;
};

}  // namespace hcasim::fabric
