// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fabric/decode_transport.hpp"
#include "fabric/icrc.hpp"

namespace hcasim::fabric {

namespace {

using detail::Bytes;
using detail::take;

/// A datagram as its IP header describes it.
struct Datagram {
  Bytes bytes;               ///< from the IP header on, as far as captured; Ethernet padding cut
  std::size_t ip_bytes = 0;  ///< length of the IP header
  std::size_t length = 0;    ///< of the whole packet, captured or not
};

DecodeStatus check_udp_port(const Datagram& datagram) {
  if (datagram.bytes.size() < datagram.ip_bytes + hw::Udp::kBytes) return DecodeStatus::kCutHeader;
  const auto port = hw::load_be<std::uint16_t>(&datagram.bytes[datagram.ip_bytes + 2]);
  return port == hw::kRoceV2UdpPort ? DecodeStatus::kRoceV2 : DecodeStatus::kOtherProtocol;
}

void set_ipv4(const hw::Ipv4& ip, Addressing& address) {
  address.src_gid = hw::gid_of_ipv4(ip.src);
  address.dst_gid = hw::gid_of_ipv4(ip.dst);
  address.traffic_class = ip.traffic_class;
  address.hop_limit = ip.ttl;
  address.ipv4_flags = ip.flags;
  address.ipv4_id = ip.identification;
}

DecodeStatus read_ipv4(Datagram& datagram, Addressing& address) {
  if (datagram.bytes.size() < hw::Ipv4::kBytes) return DecodeStatus::kCutHeader;
  const auto ip = hw::Ipv4::decode(datagram.bytes.first<hw::Ipv4::kBytes>());
  if (ip.protocol != hw::kIpProtocolUdp) return DecodeStatus::kOtherProtocol;
  // Only the first fragment shows a port; the others cannot be told from any other UDP.
  if (ip.fragment_offset != 0) return DecodeStatus::kOtherProtocol;
  datagram.ip_bytes = std::size_t{ip.header_words} * 4;
  datagram.length = ip.total_length;
  if (datagram.bytes[0] >> 4 != 4 || datagram.ip_bytes < hw::Ipv4::kBytes) {
    return DecodeStatus::kBadIpHeader;
  }
  if (const auto status = check_udp_port(datagram); status != DecodeStatus::kRoceV2) return status;
  if (hw::internet_checksum(datagram.bytes.first(datagram.ip_bytes)) != 0) {
    return DecodeStatus::kBadIpHeader;
  }
  if ((ip.flags & 1) != 0) return DecodeStatus::kFragment;
  set_ipv4(ip, address);
  return DecodeStatus::kRoceV2;
}

DecodeStatus read_ipv6(Datagram& datagram, Addressing& address) {
  if (datagram.bytes.size() < hw::Ipv6::kBytes) return DecodeStatus::kCutHeader;
  const auto ip = hw::Ipv6::decode(datagram.bytes.first<hw::Ipv6::kBytes>());
  if (ip.next_header != hw::kIpProtocolUdp) return DecodeStatus::kOtherProtocol;
  if (ip.version != 6) return DecodeStatus::kBadIpHeader;
  datagram.ip_bytes = hw::Ipv6::kBytes;
  datagram.length = hw::Ipv6::kBytes + ip.payload_length;
  address.src_gid = ip.src;
  address.dst_gid = ip.dst;
  address.traffic_class = ip.traffic_class;
  address.flow_label = ip.flow_label;
  address.hop_limit = ip.hop_limit;
  return check_udp_port(datagram);
}

IcrcStatus check_icrc(const Datagram& datagram) {
  if (datagram.bytes.size() < datagram.length) return IcrcStatus::kUnchecked;
  const std::size_t covered = datagram.length - hw::kIcrcBytes;
  const auto carried = hw::load_le<std::uint32_t>(&datagram.bytes[covered]);
  const auto computed = roce_v2_icrc(datagram.bytes.first(covered), datagram.ip_bytes);
  return carried == computed ? IcrcStatus::kOk : IcrcStatus::kBad;
}

DecodeResult read_udp(const Datagram& datagram, Packet& packet) {
  Bytes rest = datagram.bytes.subspan(datagram.ip_bytes);
  if (rest.size() < hw::Udp::kBytes) return {DecodeStatus::kCutHeader};
  const auto udp = take<hw::Udp>(rest);
  packet.address.udp_src_port = udp.src_port;
  packet.address.udp_checksum = udp.checksum;
  const bool fits = datagram.ip_bytes + udp.length == datagram.length;
  if (!fits || udp.length < hw::Udp::kBytes) return {DecodeStatus::kBadLength};
  DecodeResult result = detail::read_transport(rest, udp.length - hw::Udp::kBytes, packet);
  if (result.is_roce()) result.icrc = check_icrc(datagram);
  return result;
}

/// Skips VLAN tags. @return the EtherType behind them, 0 when the tags are cut off
std::uint16_t take_link(Bytes& bytes, Addressing& address) {
  const auto ethernet = take<hw::Ethernet>(bytes);
  address.src_mac = ethernet.src;
  address.dst_mac = ethernet.dst;
  std::uint16_t type = ethernet.ether_type;
  for (int tags = 0; tags < 2 && (type == hw::kEtherTypeVlan || type == hw::kEtherTypeQinQ);
       ++tags) {
    if (bytes.size() < hw::Vlan::kBytes) return 0;
    address.has_vlan = true;
    address.vlan_tag = hw::load_be<std::uint16_t>(&bytes[0]);
    type = take<hw::Vlan>(bytes).ether_type;
  }
  return type;
}

DecodeResult decode_into(std::uint16_t ether_type, Bytes bytes, Packet& packet) {
  if (ether_type == hw::kEtherTypeRoceV1) return {DecodeStatus::kRoceV1};
  if (ether_type != hw::kEtherTypeIpv4 && ether_type != hw::kEtherTypeIpv6) {
    return {DecodeStatus::kOtherProtocol};
  }
  Datagram datagram{bytes};
  const auto status = ether_type == hw::kEtherTypeIpv4 ? read_ipv4(datagram, packet.address)
                                                       : read_ipv6(datagram, packet.address);
  if (status != DecodeStatus::kRoceV2) return {status};
  datagram.bytes = bytes.first(std::min(bytes.size(), datagram.length));
  if (datagram.bytes.size() < datagram.ip_bytes) return {DecodeStatus::kBadLength};
  return read_udp(datagram, packet);
}

}  // namespace

std::string_view describe(DecodeStatus status) {
  switch (status) {
    case DecodeStatus::kRoceV2:
      return "RoCEv2";
    case DecodeStatus::kOtherProtocol:
      return "another protocol";
    case DecodeStatus::kRoceV1:
      return "RoCE version 1";
    case DecodeStatus::kCutHeader:
      return "captured bytes end within the headers";
    case DecodeStatus::kFragment:
      return "IP fragment";
    case DecodeStatus::kBadIpHeader:
      return "malformed IP header";
    case DecodeStatus::kBadLength:
      return "lengths in the headers contradict each other";
    case DecodeStatus::kPayloadTooLong:
      return "payload above 4096 bytes";
  }
  return "unknown";
}

DecodeResult decode_network(std::uint16_t ether_type, std::span<const std::uint8_t> bytes,
                            Packet& packet) {
  packet.clear();
  return decode_into(ether_type, bytes, packet);
}

DecodeResult decode_frame(std::span<const std::uint8_t> frame, Packet& packet) {
  packet.clear();
  if (frame.size() < hw::Ethernet::kBytes) return {DecodeStatus::kCutHeader};
  const std::uint16_t type = take_link(frame, packet.address);
  return decode_into(type, frame, packet);
}

}  // namespace hcasim::fabric
