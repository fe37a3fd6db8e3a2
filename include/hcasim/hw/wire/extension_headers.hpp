// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hcasim/hw/byte_order.hpp"

/// The headers that may follow the BTH (InfiniBand specification 9.3 to 9.5). In each struct
/// kBytes is the size on the wire, encode() writes it and decode() reads it; every bit pattern is a
/// header, reserved bits are written as 0 and ignored.
namespace hcasim::hw {

/// Datagram extended transport header.
struct Deth {
  static constexpr std::size_t kBytes = 8;  ///< size on the wire

  std::uint32_t qkey = 0;    ///< compared with the receiver's
  std::uint32_t src_qp = 0;  ///< 24 bits

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    store_be(&out[0], qkey);
    out[4] = 0;
    store_be24(&out[5], src_qp);
  }
  /// Reads a header.
  static constexpr Deth decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint32_t>(&in[0]), load_be24(&in[5])};
  }
  friend constexpr bool operator==(const Deth&, const Deth&) = default;
};

/// RDMA extended transport header.
struct Reth {
  static constexpr std::size_t kBytes = 16;  ///< size on the wire

  std::uint64_t addr = 0;    ///< virtual address at the responder
  std::uint32_t rkey = 0;    ///< remote key
  std::uint32_t length = 0;  ///< bytes of the whole message, 0..2^31

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    store_be(&out[0], addr);
    store_be(&out[8], rkey);
    store_be(&out[12], length);
  }
  /// Reads a header.
  static constexpr Reth decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint64_t>(&in[0]), load_be<std::uint32_t>(&in[8]),
            load_be<std::uint32_t>(&in[12])};
  }
  friend constexpr bool operator==(const Reth&, const Reth&) = default;
};

/// ACK extended transport header; syndrome.hpp explains the syndrome.
struct Aeth {
  static constexpr std::size_t kBytes = 4;  ///< size on the wire

  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;  ///< messages completed by the responder, 24 bits

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    out[0] = syndrome;
    store_be24(&out[1], msn);
  }
  /// Reads a header.
  static constexpr Aeth decode(std::span<const std::uint8_t, kBytes> in) {
    return {in[0], load_be24(&in[1])};
  }
  friend constexpr bool operator==(const Aeth&, const Aeth&) = default;
};

/// Atomic extended transport header.
struct AtomicEth {
  static constexpr std::size_t kBytes = 28;  ///< size on the wire

  std::uint64_t addr = 0;      ///< virtual address at the responder, a multiple of 8
  std::uint32_t rkey = 0;      ///< remote key
  std::uint64_t swap_add = 0;  ///< value to swap in, or to add
  std::uint64_t compare = 0;   ///< value to compare with; unused by FetchAdd

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    store_be(&out[0], addr);
    store_be(&out[8], rkey);
    store_be(&out[12], swap_add);
    store_be(&out[20], compare);
  }
  /// Reads a header.
  static constexpr AtomicEth decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint64_t>(&in[0]), load_be<std::uint32_t>(&in[8]),
            load_be<std::uint64_t>(&in[12]), load_be<std::uint64_t>(&in[20])};
  }
  friend constexpr bool operator==(const AtomicEth&, const AtomicEth&) = default;
};

/// Atomic ACK extended transport header.
struct AtomicAckEth {
  static constexpr std::size_t kBytes = 8;  ///< size on the wire

  std::uint64_t original = 0;  ///< what the memory held before

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const { store_be(&out[0], original); }
  /// Reads a header.
  static constexpr AtomicAckEth decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint64_t>(&in[0])};
  }
  friend constexpr bool operator==(const AtomicAckEth&, const AtomicAckEth&) = default;
};

/// Immediate data.
struct ImmDt {
  static constexpr std::size_t kBytes = 4;  ///< size on the wire

  std::uint32_t value = 0;  ///< as a number in host order

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const { store_be(&out[0], value); }
  /// Reads a header.
  static constexpr ImmDt decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint32_t>(&in[0])};
  }
  friend constexpr bool operator==(const ImmDt&, const ImmDt&) = default;
};

/// Invalidate extended transport header.
struct Ieth {
  static constexpr std::size_t kBytes = 4;  ///< size on the wire

  std::uint32_t rkey = 0;  ///< the key to invalidate

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const { store_be(&out[0], rkey); }
  /// Reads a header.
  static constexpr Ieth decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint32_t>(&in[0])};
  }
  friend constexpr bool operator==(const Ieth&, const Ieth&) = default;
};

/// XRC extended transport header.
struct XrcEth {
  static constexpr std::size_t kBytes = 4;  ///< size on the wire

  std::uint32_t srq = 0;  ///< number of the shared receive queue, 24 bits

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    out[0] = 0;
    store_be24(&out[1], srq);
  }
  /// Reads a header.
  static constexpr XrcEth decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be24(&in[1])};
  }
  friend constexpr bool operator==(const XrcEth&, const XrcEth&) = default;
};

}  // namespace hcasim::hw
