// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "fabric/icrc.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "hcasim/hw/wire/bth.hpp"
#include "hcasim/hw/wire/ip.hpp"

namespace hcasim::fabric {

namespace {

constexpr std::size_t kMaxIpBytes = 60;    // IPv4 with all options
constexpr std::size_t kDummyLrhBytes = 8;  // RoCE has no LRH: the CRC runs over ones in its place

std::uint32_t crc(std::uint32_t start, const std::uint8_t* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(crc32(start, bytes, static_cast<unsigned>(count)));
}

void mask_ipv4(std::uint8_t* ip) {
  ip[1] = 0xff;            // type of service
  ip[8] = 0xff;            // time to live
  ip[10] = ip[11] = 0xff;  // checksum
}

void mask_ipv6(std::uint8_t* ip) {
  ip[0] |= 0x0f;  // traffic class and flow label
  ip[1] = ip[2] = ip[3] = 0xff;
  ip[7] = 0xff;  // hop limit
}

}  // namespace

std::uint32_t roce_v2_icrc(std::span<const std::uint8_t> packet, std::size_t ip_bytes) {
  std::array<std::uint8_t, kDummyLrhBytes + kMaxIpBytes + hw::Udp::kBytes + hw::Bth::kBytes> head;
  const std::size_t copied = ip_bytes + hw::Udp::kBytes + hw::Bth::kBytes;
  std::fill_n(head.begin(), kDummyLrhBytes, std::uint8_t{0xff});
  std::copy_n(packet.begin(), copied, head.begin() + kDummyLrhBytes);
  std::uint8_t* const ip = head.data() + kDummyLrhBytes;
  (ip[0] >> 4) == 4 ? mask_ipv4(ip) : mask_ipv6(ip);
  std::uint8_t* const udp = ip + ip_bytes;
  udp[6] = udp[7] = 0xff;           // checksum
  udp[hw::Udp::kBytes + 4] = 0xff;  // congestion bits of the BTH
  const std::uint32_t masked = crc(0, head.data(), kDummyLrhBytes + copied);
  return crc(masked, packet.data() + copied, packet.size() - copied);
}

std::uint32_t infiniband_icrc(std::span<const std::uint8_t> packet, bool has_grh) {
  std::array<std::uint8_t, hw::Lrh::kBytes + hw::Grh::kBytes + hw::Bth::kBytes> head;
  const std::size_t routing = hw::Lrh::kBytes + (has_grh ? hw::Grh::kBytes : 0);
  const std::size_t copied = routing + hw::Bth::kBytes;
  std::copy_n(packet.begin(), copied, head.begin());
  head[0] |= 0xf0;  // virtual lane
  if (has_grh) mask_ipv6(&head[hw::Lrh::kBytes]);
  head[routing + 4] = 0xff;  // congestion bits of the BTH
  return crc(crc(0, head.data(), copied), packet.data() + copied, packet.size() - copied);
}

}  // namespace hcasim::fabric
