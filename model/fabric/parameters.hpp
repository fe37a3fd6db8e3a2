// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hcasim::fabric {

/// A full-duplex Ethernet link between two ports. Sources: configuration schema.
struct Parameters {
  double rate_gbps = 100.0;
  std::uint32_t mac_phy_ns = 150;     ///< MAC, PCS and FEC of one end; each end adds it once
  std::uint32_t propagation_ns = 10;  ///< cable

  /// What befalls the packets that this end sends; probabilities of each packet.
  struct Faults {
    double loss = 0;
    double duplication = 0;
    double reordering = 0;
    double corruption = 0;
    std::uint32_t duplication_delay_ns = 100;  ///< of the copy behind the packet
    std::uint32_t reordering_delay_ns = 2000;  ///< for which a packet is held back
    std::uint32_t down_at_ns = 0;              ///< since the run began
    std::uint32_t down_for_ns = 0;             ///< 0: never down

    bool any() const {
      return loss > 0 || duplication > 0 || reordering > 0 || corruption > 0 || down_for_ns != 0;
    }
  } faults;
};

}  // namespace hcasim::fabric
