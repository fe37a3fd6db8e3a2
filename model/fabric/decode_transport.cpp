// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "fabric/decode_transport.hpp"

#include <algorithm>

namespace hcasim::fabric::detail {

namespace {

void set_bth(const hw::Bth& bth, PacketHeaders& packet) {
  packet.opcode = bth.opcode;
  packet.solicited = bth.solicited;
  packet.migrated = bth.migrated;
  packet.version = bth.version;
  packet.pkey = bth.pkey;
  packet.fecn = bth.fecn;
  packet.becn = bth.becn;
  packet.reserved_6 = bth.reserved_6;
  packet.dest_qp = bth.dest_qp;
  packet.ack_req = bth.ack_request;
  packet.reserved_7 = bth.reserved_7;
  packet.psn = bth.psn;
}

void take_extensions(Bytes& bytes, PacketHeaders& packet) {
  const std::uint16_t headers = packet.info().headers;
  if (headers & hw::kHasXrcEth) packet.xrc_srq = take<hw::XrcEth>(bytes).srq;
  if (headers & hw::kHasDeth) {
    const auto deth = take<hw::Deth>(bytes);
    packet.qkey = deth.qkey;
    packet.src_qp = deth.src_qp;
  }
  if (headers & hw::kHasReth) packet.reth = take<hw::Reth>(bytes);
  if (headers & hw::kHasAtomicEth) packet.atomic = take<hw::AtomicEth>(bytes);
  if (headers & hw::kHasAeth) packet.aeth = take<hw::Aeth>(bytes);
  if (headers & hw::kHasAtomicAckEth) packet.atomic_ack = take<hw::AtomicAckEth>(bytes);
  if (headers & hw::kHasImmDt) packet.imm = take<hw::ImmDt>(bytes);
  if (headers & hw::kHasIeth) packet.ieth = take<hw::Ieth>(bytes);
}

std::size_t copy_payload(Bytes captured, std::size_t size, Packet& packet) {
  const std::size_t present = std::min(captured.size(), size);
  const auto payload = packet.resize_payload(size);
  std::ranges::copy(captured.first(present), payload.begin());
  std::ranges::fill(payload.subspan(present), std::uint8_t{0});
  return present;
}

}  // namespace

DecodeResult read_transport(Bytes bytes, std::size_t length, Packet& packet) {
  if (bytes.size() < hw::Bth::kBytes) return {DecodeStatus::kCutHeader};
  const auto bth = take<hw::Bth>(bytes);
  set_bth(bth, packet);
  const std::size_t around = hw::Bth::kBytes + packet.info().bytes + bth.pad_count + hw::kIcrcBytes;
  if (length < around) return {DecodeStatus::kBadLength};
  const std::size_t size = length - around;
  if (size > kMaxPayloadBytes) return {DecodeStatus::kPayloadTooLong};
  if (bytes.size() < packet.info().bytes) return {DecodeStatus::kCutHeader};
  take_extensions(bytes, packet);
  return {DecodeStatus::kRoceV2, IcrcStatus::kUnchecked, copy_payload(bytes, size, packet)};
}

}  // namespace hcasim::fabric::detail
