// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "fabric/codec.hpp"
#include "fabric/icrc.hpp"

namespace hcasim::fabric {

namespace {

/// Writes headers one behind the other.
class Writer {
 public:
  explicit Writer(std::uint8_t* at) : at_(at) {}

  template <typename Header>
  void put(const Header& header) {
    header.encode(std::span<std::uint8_t, Header::kBytes>(at_, Header::kBytes));
    at_ += Header::kBytes;
  }
  void put_bytes(std::span<const std::uint8_t> bytes) {
    std::ranges::copy(bytes, at_);
    at_ += bytes.size();
  }
  void put_zeros(std::size_t count) {
    std::memset(at_, 0, count);
    at_ += count;
  }
  std::uint8_t* at() const { return at_; }

 private:
  std::uint8_t* at_;
};

void put_link(const Addressing& address, Writer& writer) {
  const std::uint16_t type = address.is_ipv4() ? hw::kEtherTypeIpv4 : hw::kEtherTypeIpv6;
  writer.put(
      hw::Ethernet{address.dst_mac, address.src_mac, address.has_vlan ? hw::kEtherTypeVlan : type});
  if (!address.has_vlan) return;
  const std::uint16_t tag = address.vlan_tag;
  writer.put(hw::Vlan{static_cast<std::uint8_t>(tag >> 13), (tag & 0x1000) != 0,
                      static_cast<std::uint16_t>(tag & 0xfff), type});
}

void put_ipv4(const Addressing& address, std::size_t datagram_bytes, Writer& writer) {
  hw::Ipv4 ip;
  ip.traffic_class = address.traffic_class;
  ip.total_length = static_cast<std::uint16_t>(hw::Ipv4::kBytes + datagram_bytes);
  ip.identification = address.ipv4_id;
  ip.flags = address.ipv4_flags;
  ip.ttl = address.hop_limit;
  std::copy_n(address.src_gid.begin() + 12, 4, ip.src.begin());
  std::copy_n(address.dst_gid.begin() + 12, 4, ip.dst.begin());
  writer.put(ip);
}

void put_ipv6(const Addressing& address, std::size_t datagram_bytes, Writer& writer) {
  hw::Ipv6 ip;
  ip.traffic_class = address.traffic_class;
  ip.flow_label = address.flow_label;
  ip.payload_length = static_cast<std::uint16_t>(datagram_bytes);
  ip.next_header = hw::kIpProtocolUdp;
  ip.hop_limit = address.hop_limit;
  ip.src = address.src_gid;
  ip.dst = address.dst_gid;
  writer.put(ip);
}

hw::Bth bth_of(const Packet& packet) {
  hw::Bth bth;
  bth.opcode = packet.opcode;
  bth.solicited = packet.solicited;
  bth.migrated = packet.migrated;
  bth.pad_count = static_cast<std::uint8_t>(packet.pad_count());
  bth.version = packet.version;
  bth.pkey = packet.pkey;
  bth.fecn = packet.fecn;
  bth.becn = packet.becn;
  bth.reserved_6 = packet.reserved_6;
  bth.dest_qp = packet.dest_qp;
  bth.ack_request = packet.ack_req;
  bth.reserved_7 = packet.reserved_7;
  bth.psn = packet.psn;
  return bth;
}

void put_extensions(const Packet& packet, Writer& writer) {
  const std::uint16_t headers = packet.info().headers;
  if (headers & hw::kHasXrcEth) writer.put(hw::XrcEth{packet.xrc_srq});
  if (headers & hw::kHasDeth) writer.put(hw::Deth{packet.qkey, packet.src_qp});
  if (headers & hw::kHasReth) writer.put(packet.reth);
  if (headers & hw::kHasAtomicEth) writer.put(packet.atomic);
  if (headers & hw::kHasAeth) writer.put(packet.aeth);
  if (headers & hw::kHasAtomicAckEth) writer.put(packet.atomic_ack);
  if (headers & hw::kHasImmDt) writer.put(packet.imm);
  if (headers & hw::kHasIeth) writer.put(packet.ieth);
}

/// Bytes from the UDP header to the ICRC.
std::size_t datagram_bytes_of(const Packet& packet) {
  return hw::Udp::kBytes + hw::Bth::kBytes + packet.info().bytes + packet.payload_size() +
         packet.pad_count() + hw::kIcrcBytes;
}

}  // namespace

void encode_grh_area(const Packet& packet, std::span<std::uint8_t, hw::Grh::kBytes> out) {
  Writer writer(out.data());
  if (!packet.address.is_ipv4()) return put_ipv6(packet.address, datagram_bytes_of(packet), writer);
  writer.put_zeros(hw::Grh::kBytes - hw::Ipv4::kBytes);
  put_ipv4(packet.address, datagram_bytes_of(packet), writer);
}

std::size_t encode_frame(const Packet& packet, std::span<std::uint8_t> out) {
  const Addressing& address = packet.address;
  const std::size_t datagram_bytes = datagram_bytes_of(packet);
  Writer writer(out.data());
  put_link(address, writer);
  const std::uint8_t* const ip = writer.at();
  address.is_ipv4() ? put_ipv4(address, datagram_bytes, writer)
                    : put_ipv6(address, datagram_bytes, writer);
  const auto ip_bytes = static_cast<std::size_t>(writer.at() - ip);
  writer.put(hw::Udp{address.udp_src_port, hw::kRoceV2UdpPort,
                     static_cast<std::uint16_t>(datagram_bytes), address.udp_checksum});
  writer.put(bth_of(packet));
  put_extensions(packet, writer);
  writer.put_bytes(packet.payload());
  writer.put_zeros(packet.pad_count());
  hw::store_le(writer.at(), roce_v2_icrc({ip, writer.at()}, ip_bytes));
  const auto used = static_cast<std::size_t>(writer.at() - out.data()) + hw::kIcrcBytes;
  const std::size_t total = packet.frame_bytes();
  std::memset(out.data() + used, 0, total - used);
  return total;
}

}  // namespace hcasim::fabric
