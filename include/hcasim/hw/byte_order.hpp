// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

/// Integers in memory of a stated byte order, at any alignment. Compilers turn each of these loops
/// into one load or store with a byte swap where one is needed.
namespace hcasim::hw {

/// Reads an unsigned integer of `Bytes` bytes, most significant byte first.
/// @param from at least `Bytes` readable bytes
template <std::unsigned_integral T, std::size_t Bytes = sizeof(T)>
constexpr T load_be(const std::uint8_t* from) {
  static_assert(Bytes <= sizeof(T));
  T value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) {
    value = static_cast<T>(value | static_cast<T>(T{from[i]} << (8 * (Bytes - 1 - i))));
  }
  return value;
}

/// Writes the low `Bytes` bytes of `value`, most significant byte first.
/// @param to at least `Bytes` writable bytes
template <std::unsigned_integral T, std::size_t Bytes = sizeof(T)>
constexpr void store_be(std::uint8_t* to, T value) {
  static_assert(Bytes <= sizeof(T));
  for (std::size_t i = 0; i < Bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(value >> (8 * (Bytes - 1 - i)));
  }
}

/// Reads an unsigned integer of `Bytes` bytes, least significant byte first.
/// @param from at least `Bytes` readable bytes
template <std::unsigned_integral T, std::size_t Bytes = sizeof(T)>
constexpr T load_le(const std::uint8_t* from) {
  static_assert(Bytes <= sizeof(T));
  T value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) {
    value = static_cast<T>(value | static_cast<T>(T{from[i]} << (8 * i)));
  }
  return value;
}

/// Writes the low `Bytes` bytes of `value`, least significant byte first.
/// @param to at least `Bytes` writable bytes
template <std::unsigned_integral T, std::size_t Bytes = sizeof(T)>
constexpr void store_le(std::uint8_t* to, T value) {
  static_assert(Bytes <= sizeof(T));
  for (std::size_t i = 0; i < Bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// Reads a 24-bit big-endian field: QPN, PSN, MSN.
constexpr std::uint32_t load_be24(const std::uint8_t* from) {
  return load_be<std::uint32_t, 3>(from);
}

/// Writes the low 24 bits of `value`, big-endian.
constexpr void store_be24(std::uint8_t* to, std::uint32_t value) {
  store_be<std::uint32_t, 3>(to, value);
}

}  // namespace hcasim::hw
