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
};

}  // namespace hcasim::fabric
