// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hcasim/hw/byte_order.hpp"

/// Headers and trailers of native InfiniBand links, and the addresses shared with RoCE.
namespace hcasim::hw {

/// Global identifier: an IPv6 address, or an IPv4 address mapped into IPv6.
using Gid = std::array<std::uint8_t, 16>;

/// Invariant CRC behind the payload of every InfiniBand and RoCE packet.
inline constexpr std::size_t kIcrcBytes = 4;

/// Variant CRC at the very end of a packet on a native InfiniBand link.
inline constexpr std::size_t kVcrcBytes = 2;

/// What follows the local route header: the values of its LNH field.
enum class LinkNextHeader : std::uint8_t {
  kRaw = 0,
  kIpv6 = 1,
  kBth = 2,  ///< within a subnet
  kGrh = 3,  ///< global route header, then BTH
};

/// Local route header (InfiniBand specification 7.7).
struct Lrh {
  static constexpr std::size_t kBytes = 8;  ///< size on the wire

  std::uint8_t virtual_lane = 0;   ///< 0..15
  std::uint8_t link_version = 0;   ///< 0..15
  std::uint8_t service_level = 0;  ///< 0..15
  LinkNextHeader next_header = LinkNextHeader::kBth;
  std::uint16_t dest_lid = 0;
  std::uint16_t length = 0;  ///< words of 4 bytes from here to the ICRC, it included; 11 bits
  std::uint16_t src_lid = 0;

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    out[0] = static_cast<std::uint8_t>(virtual_lane << 4 | (link_version & 0xf));
    out[1] = static_cast<std::uint8_t>(service_level << 4 |
                                       (static_cast<std::uint8_t>(next_header) & 3));
    store_be(&out[2], dest_lid);
    store_be(&out[4], static_cast<std::uint16_t>(length & 0x7ff));
    store_be(&out[6], src_lid);
  }
  /// Reads a header; reserved bits are ignored.
  static constexpr Lrh decode(std::span<const std::uint8_t, kBytes> in) {
    Lrh lrh;
    lrh.virtual_lane = in[0] >> 4;
    lrh.link_version = in[0] & 0xf;
    lrh.service_level = in[1] >> 4;
    lrh.next_header = static_cast<LinkNextHeader>(in[1] & 3);
    lrh.dest_lid = load_be<std::uint16_t>(&in[2]);
    lrh.length = load_be<std::uint16_t>(&in[4]) & 0x7ff;
    lrh.src_lid = load_be<std::uint16_t>(&in[6]);
    return lrh;
  }
  friend constexpr bool operator==(const Lrh&, const Lrh&) = default;
};

/// Global route header (InfiniBand specification 8.3). Its layout is that of IPv6.
struct Grh {
  static constexpr std::size_t kBytes = 40;           ///< size on the wire
  static constexpr std::uint8_t kNextHeaderBth = 27;  ///< value of next_header before a BTH

  std::uint8_t version = 6;          ///< 0..15
  std::uint8_t traffic_class = 0;    ///< DSCP in the top six bits, ECN in the low two
  std::uint32_t flow_label = 0;      ///< 20 bits
  std::uint16_t payload_length = 0;  ///< bytes behind this header, ICRC included
  std::uint8_t next_header = kNextHeaderBth;
  std::uint8_t hop_limit = 64;
  Gid src{};
  Gid dst{};

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    store_be(&out[0], static_cast<std::uint32_t>(version) << 28 |
                          static_cast<std::uint32_t>(traffic_class) << 20 |
                          (flow_label & 0xf'ffff));
    store_be(&out[4], payload_length);
    out[6] = next_header;
    out[7] = hop_limit;
    std::copy(src.begin(), src.end(), out.begin() + 8);
    std::copy(dst.begin(), dst.end(), out.begin() + 24);
  }
  /// Reads a header; every bit pattern is one.
  static constexpr Grh decode(std::span<const std::uint8_t, kBytes> in) {
    Grh grh;
    const auto word = load_be<std::uint32_t>(&in[0]);
    grh.version = static_cast<std::uint8_t>(word >> 28);
    grh.traffic_class = static_cast<std::uint8_t>(word >> 20);
    grh.flow_label = word & 0xf'ffff;
    grh.payload_length = load_be<std::uint16_t>(&in[4]);
    grh.next_header = in[6];
    grh.hop_limit = in[7];
    std::copy_n(in.begin() + 8, grh.src.size(), grh.src.begin());
    std::copy_n(in.begin() + 24, grh.dst.size(), grh.dst.begin());
    return grh;
  }
  friend constexpr bool operator==(const Grh&, const Grh&) = default;
};

/// The Gid that stands for an IPv4 address: ::ffff:a.b.c.d.
constexpr Gid gid_of_ipv4(std::span<const std::uint8_t, 4> address) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  std::copy(address.begin(), address.end(), gid.begin() + 12);
  return gid;
}

/// True when the Gid stands for an IPv4 address, which is then its last four bytes.
constexpr bool is_ipv4_gid(const Gid& gid) {
  for (std::size_t i = 0; i < 10; ++i) {
    if (gid[i] != 0) return false;
  }
  return gid[10] == 0xff && gid[11] == 0xff;
}

}  // namespace hcasim::hw
