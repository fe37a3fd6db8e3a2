// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/connection_setup.hpp"

#include <span>

#include "hcasim/hw/byte_order.hpp"

namespace hcasim::sim {

namespace {

// Offsets within a management datagram; the communication manager's data begin at 24.
constexpr std::size_t kDatagramBytes = 256;
constexpr std::size_t kClassAt = 1;
constexpr std::size_t kAttributeAt = 16;
constexpr std::size_t kLocalIdAt = 24;
constexpr std::size_t kRemoteIdAt = 28;  // in a reply
constexpr std::size_t kRequestQpnAt = 56;
constexpr std::size_t kReplyQpnAt = 36;

constexpr std::uint8_t kCommunicationManagement = 0x07;
constexpr std::uint16_t kConnectRequest = 0x0010;
constexpr std::uint16_t kConnectReply = 0x0013;

}  // namespace

void ConnectionSetup::take(const fabric::Packet& packet, std::size_t captured) {
  const std::span<const std::uint8_t> data = packet.payload();
  if (data.size() < kDatagramBytes || captured < kRequestQpnAt + 3) return;
  if (data[kClassAt] != kCommunicationManagement) return;
  const auto attribute = hw::load_be<std::uint16_t>(&data[kAttributeAt]);
  const hw::Gid& sender = packet.address.src_gid;
  if (attribute == kConnectRequest) {
    const auto id = hw::load_be<std::uint32_t>(&data[kLocalIdAt]);
    requests_[{sender, id}] = {sender, hw::load_be24(&data[kRequestQpnAt])};
  } else if (attribute == kConnectReply) {
    const auto id = hw::load_be<std::uint32_t>(&data[kRemoteIdAt]);
    const auto request = requests_.find({packet.address.dst_gid, id});
    if (request == requests_.end()) return;
    pairs_.push_back({request->second, {sender, hw::load_be24(&data[kReplyQpnAt])}});
    requests_.erase(request);  // a repeated reply makes no second pair
  }
}

}  // namespace hcasim::sim
