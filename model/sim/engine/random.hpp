// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace hcasim::sim {

/// A seeded sequence of numbers: a Weyl sequence through a mixing function (Steele, Lea and Flood,
/// OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e37'79b9'7f4a'7c15;
    return mix(state_);
  }
  /// A number below `limit`, which is not 0.
  std::uint64_t below(std::uint32_t limit) { return ((next() >> 32) * limit) >> 32; }

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Something that happens now and then. Each chance has a sequence of its own, so that it strikes
/// at the same places whatever other chances there are.
class Chance {
 public:
  /// @param probability 0..1
  /// @param seed that of the run and the node
  /// @param kind tells chances of one seed apart
  Chance(double probability, std::uint64_t seed, std::uint64_t kind)
      : below_(static_cast<std::uint64_t>(probability * kSteps)),
        random_(Random::mix(seed ^ Random::mix(kind))) {}

  bool happens() { return below_ != 0 && (random_.next() >> 11) < below_; }

 private:
  static constexpr double kSteps = 9007199254740992.0;  // 2^53

  std::uint64_t below_;
  Random random_;
};

}  // namespace hcasim::sim
