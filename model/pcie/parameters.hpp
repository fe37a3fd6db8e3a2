// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hcasim::pcie {

/// Parameters of one PCIe link and its root complex. Where each default comes from, its unit and
/// its range stand in the configuration schema (model/sim/config).
struct Parameters {
  std::uint32_t generation = 4;
  std::uint32_t width = 16;
  std::uint32_t mps_bytes = 256;         ///< maximum payload size
  std::uint32_t mrrs_bytes = 512;        ///< maximum read request size
  std::uint32_t rcb_bytes = 64;          ///< read completion boundary
  std::uint32_t completion_bytes = 256;  ///< the root complex combines completions up to this
  std::uint32_t mwr_overhead_bytes = 24;
  std::uint32_t mrd_overhead_bytes = 24;
  std::uint32_t cpld_overhead_bytes = 20;
  std::uint32_t ack_limit_bytes = 0;  ///< 0: by generation, width and MPS from the specification
  std::uint32_t fc_limit_bytes = 0;   ///< 0: likewise
  std::uint32_t tags = 256;
  std::uint32_t posted_header_credits = 128;
  std::uint32_t posted_data_credits = 2048;  ///< of 16 bytes
  std::uint32_t nonposted_header_credits = 128;
  std::uint32_t propagation_ns = 20;    ///< PHY, data-link layer and board, one way
  std::uint32_t write_latency_ns = 60;  ///< root complex: TLP received to globally visible
  std::uint32_t read_latency_min_ns = 180;
  std::uint32_t read_latency_median_ns = 207;
  std::uint32_t read_latency_max_ns = 607;

  /// What befalls DMA reads; probabilities of each.
  struct Faults {
    double read_error = 0;               ///< answered as an unsupported request
    double slow_read = 0;                ///< takes longer
    std::uint32_t slow_read_ns = 20000;  ///< by so much
    std::uint32_t read_error_after = 0;  ///< reads since the run began that go well

    bool any() const { return read_error > 0 || slow_read > 0; }
  } faults;
};

}  // namespace hcasim::pcie
