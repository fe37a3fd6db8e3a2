// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fabric/packet.hpp"

/// RoCEv2 frames to packets and back; packets of native InfiniBand links to packets.
namespace hcasim::fabric {

/// Writes the packet as an Ethernet frame without FCS: lengths, pad count, IPv4 checksum and ICRC
/// follow from the packet, and the frame is filled up to the least size.
/// @param out room for packet.frame_bytes(), at most kMaxFrameBytes
/// @return packet.frame_bytes()
std::size_t encode_frame(const Packet& packet, std::span<std::uint8_t> out);

/// Whether bytes are a packet with a BTH, or why they are not.
enum class DecodeStatus : std::uint8_t {
  kRoceV2,          ///< the packet, of RoCEv2 or native InfiniBand, is decoded
  kOtherProtocol,   ///< not IP, not UDP, or another port: nothing to do with RoCEv2
  kRoceV1,          ///< RoCE version 1, which is not read
  kCutHeader,       ///< captured bytes end within the headers
  kFragment,        ///< an IP fragment of a packet for the RoCEv2 port
  kBadIpHeader,     ///< wrong version, header length or IPv4 checksum
  kBadLength,       ///< lengths of IP, UDP and headers contradict each other
  kPayloadTooLong,  ///< more than 4096 bytes
};

/// What became of the check of the ICRC.
enum class IcrcStatus : std::uint8_t {
  kOk,
  kBad,
  kUnchecked,  ///< the capture kept only a part of the packet
};

/// Writes what a datagram's receiver finds in place of the GRH: the IPv6 header; or 20 zero bytes
/// and the IPv4 header.
void encode_grh_area(const Packet& packet, std::span<std::uint8_t, hw::Grh::kBytes> out);

/// What decoding found beside the packet.
struct DecodeResult {
  DecodeStatus status = DecodeStatus::kRoceV2;
  IcrcStatus icrc = IcrcStatus::kUnchecked;  ///< with kRoceV2 only
  std::size_t payload_captured = 0;          ///< bytes of the payload that were there to read

  bool is_roce() const { return status == DecodeStatus::kRoceV2; }
};

/// One line that says why bytes are not a RoCEv2 packet.
std::string_view describe(DecodeStatus status);

/// Reads an Ethernet frame without FCS, with up to two VLAN tags (the inner one is kept).
/// An opcode that is not known leaves all behind the BTH to the payload.
/// @param frame the captured bytes, from the destination address on
/// @param packet takes headers and payload; payload bytes that were not captured are 0. It is
///        defined only when the status is kRoceV2
DecodeResult decode_frame(std::span<const std::uint8_t> frame, Packet& packet);

/// The same from the IP header on, for link layers other than Ethernet.
/// @param ether_type hw::kEtherTypeIpv4 or hw::kEtherTypeIpv6; all else is kOtherProtocol
DecodeResult decode_network(std::uint16_t ether_type, std::span<const std::uint8_t> bytes,
                            Packet& packet);

/// The same for a packet of a native InfiniBand link, from the LRH on. Without a GRH a LID stands
/// in the place of an address: fe80:: with the LID in its last two bytes.
DecodeResult decode_infiniband(std::span<const std::uint8_t> bytes, Packet& packet);

}  // namespace hcasim::fabric
