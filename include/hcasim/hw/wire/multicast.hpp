// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/wire/ethernet.hpp"
#include "hcasim/hw/wire/infiniband.hpp"

/// How packets to many are addressed.
namespace hcasim::hw {

/// Destination QP of every multicast packet (InfiniBand specification 9.2).
inline constexpr std::uint32_t kMulticastQpn = 0xff'ffff;

/// True for an address of many, broadcast included.
constexpr bool is_multicast(const MacAddress& address) {
  return (address[0] & 1) != 0;
}

/// True for the GID of a group: ff00::/8, or an IPv4 group as an IPv6 address.
constexpr bool is_multicast(const Gid& gid) {
  return gid[0] == 0xff || (is_ipv4_gid(gid) && gid[12] >> 4 == 0xe);
}

/// The Ethernet address of a group: 01:00:5e and 23 bits of an IPv4 group (RFC 1112), 33:33 and 32
/// bits of any other (RFC 2464).
constexpr MacAddress multicast_mac(const Gid& group) {
  if (is_ipv4_gid(group)) {
    return {0x01, 0x00, 0x5e, static_cast<std::uint8_t>(group[13] & 0x7f), group[14], group[15]};
  }
  return {0x33, 0x33, group[12], group[13], group[14], group[15]};
}

}  // namespace hcasim::hw
