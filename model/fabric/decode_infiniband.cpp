// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fabric/decode_transport.hpp"
#include "fabric/icrc.hpp"

namespace hcasim::fabric {

namespace {

using detail::Bytes;
using detail::take;

constexpr std::size_t kWordBytes = 4;

hw::Gid gid_of_lid(std::uint16_t lid) {
  hw::Gid gid{0xfe, 0x80};
  gid[14] = static_cast<std::uint8_t>(lid >> 8);
  gid[15] = static_cast<std::uint8_t>(lid);
  return gid;
}

DecodeStatus take_grh(Bytes& bytes, Addressing& address) {
  if (bytes.size() < hw::Grh::kBytes) return DecodeStatus::kCutHeader;
  const auto grh = take<hw::Grh>(bytes);
  if (grh.next_header != hw::Grh::kNextHeaderBth) return DecodeStatus::kOtherProtocol;
  address.src_gid = grh.src;
  address.dst_gid = grh.dst;
  address.traffic_class = grh.traffic_class;
  address.flow_label = grh.flow_label;
  address.hop_limit = grh.hop_limit;
  return DecodeStatus::kRoceV2;
}

IcrcStatus check_icrc(Bytes packet, std::size_t length, bool has_grh) {
  if (packet.size() < length) return IcrcStatus::kUnchecked;
  const std::size_t covered = length - hw::kIcrcBytes;
  const auto carried = hw::load_le<std::uint32_t>(&packet[covered]);
  return carried == infiniband_icrc(packet.first(covered), has_grh) ? IcrcStatus::kOk
                                                                    : IcrcStatus::kBad;
}

}  // namespace

DecodeResult decode_infiniband(std::span<const std::uint8_t> bytes, Packet& packet) {
  packet.clear();
  if (bytes.size() < hw::Lrh::kBytes) return {DecodeStatus::kCutHeader};
  Bytes rest = bytes;
  const auto lrh = take<hw::Lrh>(rest);
  const bool has_grh = lrh.next_header == hw::LinkNextHeader::kGrh;
  if (!has_grh && lrh.next_header != hw::LinkNextHeader::kBth) {
    return {DecodeStatus::kOtherProtocol};
  }
  packet.address.src_gid = gid_of_lid(lrh.src_lid);
  packet.address.dst_gid = gid_of_lid(lrh.dest_lid);
  if (has_grh) {
    const DecodeStatus status = take_grh(rest, packet.address);
    if (status != DecodeStatus::kRoceV2) return {status};
  }
  const std::size_t length = lrh.length * kWordBytes;
  const std::size_t routing = bytes.size() - rest.size();
  if (length < routing) return {DecodeStatus::kBadLength};
  DecodeResult result = detail::read_transport(rest, length - routing, packet);
  if (result.is_roce()) result.icrc = check_icrc(bytes, length, has_grh);
  return result;
}

}  // namespace hcasim::fabric
