// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "fabric/packet.hpp"

#include <algorithm>

namespace hcasim::fabric {

std::size_t Packet::frame_bytes() const {
  const std::size_t link = hw::Ethernet::kBytes + (address.has_vlan ? hw::Vlan::kBytes : 0);
  const std::size_t network = address.is_ipv4() ? hw::Ipv4::kBytes : hw::Ipv6::kBytes;
  const std::size_t transport = hw::Udp::kBytes + hw::Bth::kBytes + info().bytes;
  const std::size_t bytes =
      link + network + transport + payload_size_ + pad_count() + hw::kIcrcBytes;
  return std::max(bytes, hw::kEthernetMinFrameBytes - hw::kEthernetFcsBytes);
}

}  // namespace hcasim::fabric
