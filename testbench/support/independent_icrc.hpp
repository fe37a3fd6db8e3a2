// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// A second opinion on the ICRC of RoCEv2: one bit at a time, from the specification's description
/// (annex A17.3), sharing no code with the model.
namespace hcasim::support {

/// Where the parts of a frame begin, found by looking at the bytes alone.
struct FrameParts {
  std::size_t ip = 0;    ///< offset of the IP header
  std::size_t udp = 0;   ///< offset of the UDP header
  std::size_t icrc = 0;  ///< offset of the ICRC
};

/// Finds the parts of an Ethernet frame that carries UDP over IPv4 or IPv6; nothing when it does
/// not or is cut short.
inline std::optional<FrameParts> frame_parts(std::span<const std::uint8_t> frame) {
  FrameParts parts;
  parts.ip = 14;
  while (frame.size() > parts.ip + 4 && frame[parts.ip - 2] == 0x81 && frame[parts.ip - 1] == 0) {
    parts.ip += 4;
  }
  if (frame.size() < parts.ip + 20) return std::nullopt;
  const bool ipv4 = frame[parts.ip] >> 4 == 4;
  const std::size_t protocol = ipv4 ? frame[parts.ip + 9] : frame[parts.ip + 6];
  if (protocol != 17) return std::nullopt;
  parts.udp = parts.ip + (ipv4 ? std::size_t{4} * (frame[parts.ip] & 15) : 40);
  if (frame.size() < parts.udp + 20) return std::nullopt;
  const std::size_t udp_bytes = std::size_t{256} * frame[parts.udp + 4] + frame[parts.udp + 5];
  if (udp_bytes < 24 || frame.size() < parts.udp + udp_bytes) return std::nullopt;
  parts.icrc = parts.udp + udp_bytes - 4;
  return parts;
}

/// The register of the Ethernet CRC, fed with the least significant bit of each byte first.
class BitwiseCrc {
 public:
  void feed(std::uint8_t byte) {
    for (int bit = 0; bit < 8; ++bit) {
      const std::uint32_t top = register_ >> 31;
      const std::uint32_t in = (byte >> bit) & 1u;
      register_ <<= 1;
      if ((top ^ in) != 0) register_ ^= 0x04c11db7;
    }
  }
  /// The four bytes as sent: x^31 first, each byte's least significant bit first, inverted.
  std::vector<std::uint8_t> sent() const {
    std::vector<std::uint8_t> bytes(4, 0);
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint32_t bit = ~(register_ >> (31 - i)) & 1u;
      bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | bit << (i % 8));
    }
    return bytes;
  }

 private:
  std::uint32_t register_ = 0xffffffff;
};

/// The byte at `at` as the ICRC sees it: fields that may change on the way are all ones.
inline std::uint8_t invariant_byte(std::span<const std::uint8_t> frame, const FrameParts& parts,
                                   std::size_t at) {
  const bool ipv4 = frame[parts.ip] >> 4 == 4;
  const std::size_t in_ip = at - parts.ip;
  if (at < parts.udp) {
    if (ipv4 && (in_ip == 1 || in_ip == 8 || in_ip == 10 || in_ip == 11)) return 0xff;
    if (!ipv4 && in_ip == 0) return frame[at] | 0x0f;
    if (!ipv4 && (in_ip == 1 || in_ip == 2 || in_ip == 3 || in_ip == 7)) return 0xff;
    return frame[at];
  }
  const std::size_t in_udp = at - parts.udp;
  return in_udp == 6 || in_udp == 7 || in_udp == 8 + 4 ? 0xff : frame[at];
}

/// True when the four bytes of the ICRC are those that the rest of the frame asks for.
inline bool independent_icrc_ok(std::span<const std::uint8_t> frame) {
  const auto parts = frame_parts(frame);
  if (!parts) return false;
  BitwiseCrc crc;
  for (int i = 0; i < 8; ++i) crc.feed(0xff);
  for (std::size_t at = parts->ip; at < parts->icrc; ++at) {
    crc.feed(invariant_byte(frame, *parts, at));
  }
  const std::vector<std::uint8_t> sent = crc.sent();
  for (std::size_t i = 0; i < 4; ++i) {
    if (frame[parts->icrc + i] != sent[i]) return false;
  }
  return true;
}

}  // namespace hcasim::support
