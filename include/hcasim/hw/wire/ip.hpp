// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hcasim/hw/byte_order.hpp"
#include "hcasim/hw/wire/infiniband.hpp"

/// IPv4 (RFC 791), IPv6 (RFC 8200) and UDP (RFC 768).
namespace hcasim::hw {

inline constexpr std::uint8_t kIpProtocolUdp = 17;     ///< UDP
inline constexpr std::uint16_t kRoceV2UdpPort = 4791;  ///< destination port of RoCEv2

/// The checksum of RFC 1071 over `bytes`; 0 when a correct checksum is part of them.
constexpr std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : std::uint32_t{bytes[i]};
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// IPv4 header without options.
struct Ipv4 {
  static constexpr std::size_t kBytes = 20;  ///< size on the wire, without options

  std::uint8_t header_words = 5;   ///< IHL; above 5 options follow
  std::uint8_t traffic_class = 0;  ///< DSCP in the top six bits, ECN in the low two
  std::uint16_t total_length = 0;  ///< bytes from this header on
  std::uint16_t identification = 0;
  std::uint8_t flags = 2;             ///< three bits; 2: don't fragment, 1: more fragments
  std::uint16_t fragment_offset = 0;  ///< units of 8 bytes, 13 bits
  std::uint8_t ttl = 64;
  std::uint8_t protocol = kIpProtocolUdp;
  std::uint16_t checksum = 0;  ///< as read; encode() computes its own
  std::array<std::uint8_t, 4> src{};
  std::array<std::uint8_t, 4> dst{};

  /// Writes the header with its checksum.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    out[0] = static_cast<std::uint8_t>(0x40 | (header_words & 0xf));
    out[1] = traffic_class;
    store_be(&out[2], total_length);
    store_be(&out[4], identification);
    store_be(&out[6], static_cast<std::uint16_t>((flags & 7) << 13 | (fragment_offset & 0x1fff)));
    out[8] = ttl;
    out[9] = protocol;
    store_be(&out[10], std::uint16_t{0});
    std::copy(src.begin(), src.end(), out.begin() + 12);
    std::copy(dst.begin(), dst.end(), out.begin() + 16);
    store_be(&out[10], internet_checksum(out));
  }
  /// Reads a header; neither the version nor the checksum is looked at.
  static constexpr Ipv4 decode(std::span<const std::uint8_t, kBytes> in) {
    Ipv4 ip;
    ip.header_words = in[0] & 0xf;
    ip.traffic_class = in[1];
    ip.total_length = load_be<std::uint16_t>(&in[2]);
    ip.identification = load_be<std::uint16_t>(&in[4]);
    const auto fragment = load_be<std::uint16_t>(&in[6]);
    ip.flags = static_cast<std::uint8_t>(fragment >> 13);
    ip.fragment_offset = fragment & 0x1fff;
    ip.ttl = in[8];
    ip.protocol = in[9];
    ip.checksum = load_be<std::uint16_t>(&in[10]);
    std::copy_n(in.begin() + 12, 4, ip.src.begin());
    std::copy_n(in.begin() + 16, 4, ip.dst.begin());
    return ip;
  }
  friend constexpr bool operator==(const Ipv4&, const Ipv4&) = default;
};

/// IPv6 header: the layout of the GRH, with the next header of IP.
using Ipv6 = Grh;

/// UDP header.
struct Udp {
  static constexpr std::size_t kBytes = 8;  ///< size on the wire

  std::uint16_t src_port = 0xc000;  ///< RoCEv2 spreads flows over 0xc000..0xffff
  std::uint16_t dst_port = kRoceV2UdpPort;
  std::uint16_t length = 0;    ///< bytes from this header on
  std::uint16_t checksum = 0;  ///< 0: none; the ICRC protects RoCEv2

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    store_be(&out[0], src_port);
    store_be(&out[2], dst_port);
    store_be(&out[4], length);
    store_be(&out[6], checksum);
  }
  /// Reads a header; every bit pattern is one.
  static constexpr Udp decode(std::span<const std::uint8_t, kBytes> in) {
    return {load_be<std::uint16_t>(&in[0]), load_be<std::uint16_t>(&in[2]),
            load_be<std::uint16_t>(&in[4]), load_be<std::uint16_t>(&in[6])};
  }
  friend constexpr bool operator==(const Udp&, const Udp&) = default;
};

}  // namespace hcasim::hw
