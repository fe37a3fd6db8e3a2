// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// The time `delay` after `time`; hw::kNever where that is past the end of simulated time.
inline hw::Time later(hw::Time time, hw::Time delay) {
  hw::Time sum = 0;
  return __builtin_add_overflow(time, delay, &sum) ? hw::kNever : sum;
}

}  // namespace hcasim::sim
