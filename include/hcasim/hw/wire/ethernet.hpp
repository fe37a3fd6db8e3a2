// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hcasim/hw/byte_order.hpp"

/// Ethernet framing (IEEE 802.3) and VLAN tags (IEEE 802.1Q).
namespace hcasim::hw {

/// Ethernet address.
using MacAddress = std::array<std::uint8_t, 6>;

inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;    ///< IPv4
inline constexpr std::uint16_t kEtherTypeVlan = 0x8100;    ///< 802.1Q customer tag
inline constexpr std::uint16_t kEtherTypeIpv6 = 0x86dd;    ///< IPv6
inline constexpr std::uint16_t kEtherTypeQinQ = 0x88a8;    ///< 802.1ad service tag
inline constexpr std::uint16_t kEtherTypeRoceV1 = 0x8915;  ///< RoCE version 1: GRH, BTH

inline constexpr std::size_t kEthernetPreambleBytes = 8;   ///< preamble and start delimiter
inline constexpr std::size_t kEthernetFcsBytes = 4;        ///< frame check sequence
inline constexpr std::size_t kEthernetGapBytes = 12;       ///< least gap before the next frame
inline constexpr std::size_t kEthernetMinFrameBytes = 64;  ///< least frame, FCS included

/// Ethernet header.
struct Ethernet {
  static constexpr std::size_t kBytes = 14;  ///< size on the wire

  MacAddress dst{};
  MacAddress src{};
  std::uint16_t ether_type = kEtherTypeIpv4;

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    std::copy(dst.begin(), dst.end(), out.begin());
    std::copy(src.begin(), src.end(), out.begin() + 6);
    store_be(&out[12], ether_type);
  }
  /// Reads a header; every bit pattern is one.
  static constexpr Ethernet decode(std::span<const std::uint8_t, kBytes> in) {
    Ethernet header;
    std::copy_n(in.begin(), 6, header.dst.begin());
    std::copy_n(in.begin() + 6, 6, header.src.begin());
    header.ether_type = load_be<std::uint16_t>(&in[12]);
    return header;
  }
  friend constexpr bool operator==(const Ethernet&, const Ethernet&) = default;
};

/// What follows a tag's EtherType: the tag and the EtherType of what comes next.
struct Vlan {
  static constexpr std::size_t kBytes = 4;  ///< size on the wire

  std::uint8_t priority = 0;  ///< 0..7
  bool drop_eligible = false;
  std::uint16_t id = 0;  ///< 12 bits
  std::uint16_t ether_type = kEtherTypeIpv4;

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    store_be(&out[0], static_cast<std::uint16_t>((priority & 7) << 13 |
                                                 (drop_eligible ? 0x1000 : 0) | (id & 0xfff)));
    store_be(&out[2], ether_type);
  }
  /// Reads a header; every bit pattern is one.
  static constexpr Vlan decode(std::span<const std::uint8_t, kBytes> in) {
    const auto tag = load_be<std::uint16_t>(&in[0]);
    Vlan vlan;
    vlan.priority = static_cast<std::uint8_t>(tag >> 13);
    vlan.drop_eligible = (tag & 0x1000) != 0;
    vlan.id = tag & 0xfff;
    vlan.ether_type = load_be<std::uint16_t>(&in[2]);
    return vlan;
  }
  friend constexpr bool operator==(const Vlan&, const Vlan&) = default;
};

}  // namespace hcasim::hw
