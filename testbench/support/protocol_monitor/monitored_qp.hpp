// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wire/opcode.hpp"

namespace hcasim::monitor {

/// What the monitor has to know of a queue pair to judge what it sends.
struct MonitoredQp {
  std::uint32_t qpn = 0;
  std::uint32_t remote_qpn = 0;                ///< RC and UC
  hw::Transport service = hw::Transport::kRc;  ///< kRc, kUc or kUd
  std::uint32_t mtu = 1024;                    ///< bytes
  std::uint32_t sq_psn = 0;                    ///< first PSN that it sends
  std::uint32_t rq_psn = 0;                    ///< first PSN that it expects
  std::uint32_t max_rd_atomic = 1;             ///< READs and atomics in flight as requester
  bool uses_srq = false;
  std::uint16_t pkey = 0xffff;
  std::uint32_t qkey = 0;    ///< UD: of the destinations
  hw::Time ack_timeout = 0;  ///< least local ACK timeout, 0: no timer
};

/// How strict the monitor is.
struct MonitorOptions {
  /// How long an end may take from learning something at its port to minding it there: what it
  /// decided before is still on its way out. The default is 64 packets of 4096 bytes at 100 Gb/s
  /// and some time to begin with.
  hw::Time reaction = 25 * hw::kMicrosecond;
};

}  // namespace hcasim::monitor
