// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hcasim::fabric {

/// The invariant CRC of a RoCEv2 packet: what its four last bytes hold, least significant first.
/// Fields that switches and routers change count as ones.
/// @param packet from the IP header up to the ICRC, the ICRC excluded
/// @param ip_bytes length of the IP header, options included; UDP and BTH follow
std::uint32_t roce_v2_icrc(std::span<const std::uint8_t> packet, std::size_t ip_bytes);

/// The same of a packet on a native InfiniBand link.
/// @param packet from the LRH up to the ICRC, the ICRC excluded
/// @param has_grh whether a GRH lies between LRH and BTH
std::uint32_t infiniband_icrc(std::span<const std::uint8_t> packet, bool has_grh);

}  // namespace hcasim::fabric
