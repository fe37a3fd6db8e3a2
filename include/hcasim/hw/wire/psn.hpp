// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Packet sequence numbers: 24 bits, compared as serial numbers (InfiniBand specification 9.7.1).
namespace hcasim::hw {

/// All bits of a PSN. QPNs and MSNs have the same width.
inline constexpr std::uint32_t kPsnMask = 0xff'ffff;

/// The PSN `steps` after `psn`; negative steps go back. Wraps at 2^24.
constexpr std::uint32_t psn_add(std::uint32_t psn, std::int64_t steps) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(psn) +
                                    static_cast<std::uint64_t>(steps)) &
         kPsnMask;
}

/// How far `to` lies after `from`: -2^23 .. 2^23 - 1. Bits above the low 24 are ignored.
constexpr std::int32_t psn_distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>((to - from) << 8) >> 8;
}

/// True when `first` comes before `second` in the half-space of 2^23 PSNs.
constexpr bool psn_before(std::uint32_t first, std::uint32_t second) {
  return psn_distance(first, second) > 0;
}

/// True when `psn` lies in the range of `first` to `last`, both included.
constexpr bool psn_within(std::uint32_t psn, std::uint32_t first, std::uint32_t last) {
  return ((psn - first) & kPsnMask) <= ((last - first) & kPsnMask);
}

}  // namespace hcasim::hw
