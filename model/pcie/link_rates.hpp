// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "fabric/link_clock.hpp"
#include "pcie/parameters.hpp"

namespace hcasim::pcie {

/// Speed of a PCIe link in one direction, from its generation, width and the share of the
/// data-link layer. All from the PCI Express Base Specification.
class LinkRates {
 public:
  explicit LinkRates(const Parameters& parameters);

  /// TLP bytes for which one ACK DLLP of 8 bytes is due, and one flow-control update of 8 bytes.
  std::uint32_t ack_limit() const { return ack_limit_; }
  std::uint32_t fc_limit() const { return fc_limit_; }
  /// After line encoding: what the physical layer hands to the data-link layer.
  double raw_gbps() const;
  /// What is left for TLPs, with their framing, after DLLPs and the skip ordered sets.
  double tlp_gbps() const { return tlp_rate_.gbps(); }
  /// Time per byte of a TLP.
  const fabric::ByteRate& tlp_rate() const { return tlp_rate_; }

  /// The limit of the specification's tables for ACK and flow-control latency. `generation` 1 to 7,
  /// `width` 1, 2, 4, 8 or 16, `mps_bytes` a power of two from 128 to 4096.
  static std::uint32_t dllp_limit(std::uint32_t generation, std::uint32_t width,
                                  std::uint32_t mps_bytes);

 private:
  std::uint32_t generation_;
  std::uint32_t width_;
  std::uint32_t ack_limit_;
  std::uint32_t fc_limit_;
  fabric::ByteRate tlp_rate_;
};

}  // namespace hcasim::pcie
