// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hcasim::hw {

// Every structure that host and adapter share in memory is little-endian and laid out as the C++
// struct of its name, with its size asserted beside it. That makes memcpy the one encoder and the
// one decoder; a big-endian host would need another.
static_assert(std::endian::native == std::endian::little, "shared layouts are little-endian");

/// Bytes at a multiple of which rings, records, tables and mailboxes begin in host memory: a cache
/// line, which is also the least that they are read by. The adapter refuses rings that do not.
inline constexpr std::uint32_t kDmaAlignment = 64;

/// Reads a shared structure from raw memory.
template <typename T>
T load(const void* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Writes a shared structure to raw memory.
template <typename T>
void store(void* to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace hcasim::hw
