// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A beat as the bits of a data port. A build of full width carries it as it is, a narrow one the
// first bytes of each half.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <hcasim/hw/receive_queue_ports.hpp>

#include "receive_queue_build.hpp"

namespace hcasim::rtl_plugin {

/// Bit b of the port is bit b % 32 of word b / 32.
using BeatWords = std::array<std::uint32_t, hw::rq::kBeatBytes / 4>;

inline constexpr std::size_t kHalfPortBytes = kWidths.data / 16;
inline constexpr std::size_t kHalfBeatBytes = hw::rq::kBeatBytes / 2;

inline BeatWords to_words(const hw::rq::Beat& beat) {
  BeatWords words{};
  auto* const bytes = reinterpret_cast<std::uint8_t*>(words.data());
  std::memcpy(bytes, beat.data(), kHalfPortBytes);
  std::memcpy(bytes + kHalfPortBytes, beat.data() + kHalfBeatBytes, kHalfPortBytes);
  return words;
}

inline void from_words(const BeatWords& words, hw::rq::Beat& beat) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  if constexpr (kHalfPortBytes != kHalfBeatBytes) beat.fill(0);
  std::memcpy(beat.data(), bytes, kHalfPortBytes);
  std::memcpy(beat.data() + kHalfBeatBytes, bytes + kHalfPortBytes, kHalfPortBytes);
}

/// The low `width` bits of a value.
inline constexpr std::uint64_t low_bits(std::uint64_t value, unsigned width) {
  return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

}  // namespace hcasim::rtl_plugin
