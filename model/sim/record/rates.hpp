// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"
#include "sim/record/bucketed_weights.hpp"

namespace hcasim::sim {

/// How many a second, rounded to a whole number; 0 when no time has passed.
inline std::uint64_t per_second(std::uint64_t amount, hw::Time time) {
  if (time <= 0) return 0;
  const auto divisor = static_cast<std::uint64_t>(time);
  const Wide scaled = static_cast<Wide>(amount) * static_cast<std::uint64_t>(hw::kSecond);
  return static_cast<std::uint64_t>((scaled + divisor / 2) / divisor);
}

}  // namespace hcasim::sim
