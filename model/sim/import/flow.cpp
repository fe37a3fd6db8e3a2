// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/flow.hpp"

#include <algorithm>

namespace hcasim::sim {

namespace {
constexpr std::uint16_t kDetailHeaders =
    hw::kHasReth | hw::kHasAtomicEth | hw::kHasImmDt | hw::kHasIeth | hw::kHasDeth;
}

void Flow::add(hw::Time time, std::uint64_t frame, const fabric::Packet& packet) {
  SeenPacket seen;
  seen.time = time;
  seen.frame = frame;
  seen.psn = packet.psn;
  seen.payload = static_cast<std::uint16_t>(packet.payload_size());
  seen.opcode = packet.opcode;
  seen.syndrome = packet.aeth.syndrome;
  seen.msn = packet.aeth.msn;
  seen.solicited = packet.solicited;
  if (packet.info().headers & kDetailHeaders) {
    seen.details = static_cast<std::uint32_t>(details.size());
    details.push_back(
        {packet.reth, packet.atomic, packet.imm.value, packet.ieth.rkey, packet.qkey});
  }
  packets.push_back(seen);
}

std::uint32_t Flow::path_mtu() const {
  std::uint32_t mtu = 0;
  for (const SeenPacket& packet : packets) {
    if (!packet.info().ends) mtu = std::max<std::uint32_t>(mtu, packet.payload);
  }
  return mtu;
}

FlowKey flow_key(const fabric::Packet& packet) {
  FlowKey key;
  key.src = packet.address.src_gid;
  key.dst = packet.address.dst_gid;
  key.dest_qp = packet.dest_qp;
  key.transport = hw::transport_of(packet.opcode);
  if (key.transport == hw::Transport::kUd) key.src_qp = packet.src_qp;
  return key;
}

}  // namespace hcasim::sim
