// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fabric/packet.hpp"
#include "hcasim/hw/time.hpp"

/// The packets of a capture, sorted by who sent them to which queue pair.
namespace hcasim::sim {

/// Packets of one flow have one sender and one receiver, and their PSNs count up. src_qp is known,
/// and part of the key, in UD only.
struct FlowKey {
  hw::Gid src{};
  hw::Gid dst{};
  std::uint32_t dest_qp = 0;
  hw::Transport transport = hw::Transport::kRc;
  std::uint32_t src_qp = 0;

  // clang-tidy 14 sees a null pointer in a defaulted comparison.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

/// What the analysis needs of every packet.
struct SeenPacket {
  hw::Time time = 0;
  std::uint64_t frame = 0;
  std::uint32_t psn = 0;
  std::uint32_t details = kNoDetails;  ///< index into Flow::details
  std::uint16_t payload = 0;           ///< bytes
  hw::BthOpcode opcode{};
  std::uint8_t syndrome = 0;  ///< of the AETH
  std::uint32_t msn = 0;      ///< of the AETH: messages that the responder has completed
  bool solicited = false;

  static constexpr std::uint32_t kNoDetails = std::numeric_limits<std::uint32_t>::max();

  const hw::OpcodeInfo& info() const { return hw::opcode_info(opcode); }
  bool is_response() const { return info().response; }
};

/// What few packets have beside.
struct PacketDetails {
  hw::Reth reth;
  hw::AtomicEth atomic;
  std::uint32_t imm = 0;
  std::uint32_t invalidate_rkey = 0;
  std::uint32_t qkey = 0;
};

/// One direction of one connection.
struct Flow {
  FlowKey key;
  std::vector<SeenPacket> packets;  ///< in the order of the capture
  std::vector<PacketDetails> details;

  const PacketDetails& details_of(const SeenPacket& packet) const {
    return details.at(packet.details);
  }
  void add(hw::Time time, std::uint64_t frame, const fabric::Packet& packet);

  /// Largest payload of a FIRST or MIDDLE packet: the path MTU. 0 without one.
  std::uint32_t path_mtu() const;
};

/// The flow that a packet belongs to.
FlowKey flow_key(const fabric::Packet& packet);

}  // namespace hcasim::sim
