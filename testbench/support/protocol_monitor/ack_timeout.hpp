// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"

namespace hcasim::monitor {

/// A local ACK timeout by its exponent: 4.096 us * 2^exponent, 0 for none.
constexpr hw::Time ack_timeout(std::uint8_t exponent) {
  return exponent == 0 ? 0 : hw::Time{4'096} * hw::kNanosecond << exponent;
}

}  // namespace hcasim::monitor
