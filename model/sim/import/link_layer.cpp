// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/link_layer.hpp"

#include "hcasim/hw/byte_order.hpp"

namespace hcasim::sim {

namespace {

/// A link header of fixed size that holds an EtherType.
struct CookedHeader {
  std::size_t bytes;
  std::size_t ether_type_at;
};

constexpr CookedHeader kLinuxCooked{16, 14};
constexpr CookedHeader kLinuxCooked2{20, 0};

fabric::DecodeResult decode_cooked(CookedHeader header, std::span<const std::uint8_t> frame,
                                   fabric::Packet& packet) {
  if (frame.size() < header.bytes) return {fabric::DecodeStatus::kCutHeader};
  const auto type = hw::load_be<std::uint16_t>(&frame[header.ether_type_at]);
  return fabric::decode_network(type, frame.subspan(header.bytes), packet);
}

/// Extensible Record Format: a header with a type, extension headers as long as the top bit of the
/// byte before them says so, then the packet.
namespace erf {
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kTypeAt = 8;
constexpr std::size_t kRecordBytesAt = 10;
constexpr std::size_t kExtensionBytes = 8;
constexpr std::uint8_t kMore = 0x80;
constexpr std::uint8_t kEthernet = 2;
constexpr std::uint8_t kInfiniband = 21;
constexpr std::size_t kEthernetPadding = 2;
}  // namespace erf

fabric::DecodeResult decode_erf(std::span<const std::uint8_t> record, fabric::Packet& packet) {
  if (record.size() < erf::kHeaderBytes) return {fabric::DecodeStatus::kCutHeader};
  const std::uint8_t type = record[erf::kTypeAt] & 0x7f;
  const auto record_bytes = hw::load_be<std::uint16_t>(&record[erf::kRecordBytesAt]);
  bool more = (record[erf::kTypeAt] & erf::kMore) != 0;
  if (record_bytes >= erf::kHeaderBytes && record_bytes < record.size()) {
    record = record.first(record_bytes);
  }
  record = record.subspan(erf::kHeaderBytes);
  for (; more; record = record.subspan(erf::kExtensionBytes)) {
    if (record.size() < erf::kExtensionBytes) return {fabric::DecodeStatus::kCutHeader};
    more = (record[0] & erf::kMore) != 0;
  }
  if (type == erf::kInfiniband) return fabric::decode_infiniband(record, packet);
  if (type != erf::kEthernet) return {fabric::DecodeStatus::kOtherProtocol};
  if (record.size() < erf::kEthernetPadding) return {fabric::DecodeStatus::kCutHeader};
  return fabric::decode_frame(record.subspan(erf::kEthernetPadding), packet);
}

}  // namespace

bool link_type_known(fabric::LinkType type) {
  return type == fabric::LinkType::kEthernet || type == fabric::LinkType::kLinuxCooked ||
         type == fabric::LinkType::kLinuxCooked2 || type == fabric::LinkType::kErf;
}

fabric::DecodeResult decode_captured(fabric::LinkType type, std::span<const std::uint8_t> frame,
                                     fabric::Packet& packet) {
  switch (type) {
    case fabric::LinkType::kEthernet:
      return fabric::decode_frame(frame, packet);
    case fabric::LinkType::kLinuxCooked:
      return decode_cooked(kLinuxCooked, frame, packet);
    case fabric::LinkType::kLinuxCooked2:
      return decode_cooked(kLinuxCooked2, frame, packet);
    case fabric::LinkType::kErf:
      return decode_erf(frame, packet);
    default:
      return {fabric::DecodeStatus::kOtherProtocol};
  }
}

}  // namespace hcasim::sim
