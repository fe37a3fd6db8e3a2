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

}  // namespace

bool link_type_known(fabric::LinkType type) {
  return type == fabric::LinkType::kEthernet || type == fabric::LinkType::kLinuxCooked ||
         type == fabric::LinkType::kLinuxCooked2;
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
    default:
      return {fabric::DecodeStatus::kOtherProtocol};
  }
}

}  // namespace hcasim::sim
