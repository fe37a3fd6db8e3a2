// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hcasim::host {

/// What the CPU of a node spends on the verbs and on its machine. Sources: configuration schema.
struct Parameters {
  std::uint32_t post_send_ns = 30;      ///< building one send WQE
  std::uint32_t post_recv_ns = 15;      ///< building one receive WQE
  std::uint32_t poll_hit_ns = 20;       ///< taking one CQE
  std::uint32_t poll_interval_ns = 20;  ///< period of empty polls while a queue is watched
  std::uint32_t mmio_write_ns = 10;     ///< one uncached 8-byte store, as seen by the CPU
  std::uint32_t interrupt_ns = 1500;    ///< MSI-X message to first instruction of the handler
  std::uint32_t mmio_read_ns = 400;     ///< one uncached load, round trip
};

}  // namespace hcasim::host
