// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hca/receive_queue/receive_queue_unit.hpp"

namespace hcasim::sim::cosim {

/// The first place where a side is not as it should be.
struct Difference {
  hca::Cycle cycle = 0;  ///< in which it shows
  std::string side;      ///< whose value `actual` is
  std::string port;      ///< a port, or `counter`, `snapshot` or `rule`
  std::string field;
  std::string expected;  ///< what the first side shows
  std::string actual;
  std::optional<std::uint32_t> queue;  ///< whose transactions explain it

  /// The same fault, as far as one can tell, whatever led to it.
  bool same_kind(const Difference& other) const {
    return side == other.side && port == other.port && field == other.field;
  }
};

/// @return port, field and values of the first difference; none if the ports agree
std::optional<Difference> compare_ports(const hw::rq::Outputs& expected,
                                        const hw::rq::Outputs& actual);

std::optional<Difference> compare_counters(const hca::ReceiveQueueCounters& expected,
                                           const hca::ReceiveQueueCounters& actual);

std::optional<Difference> compare_snapshots(const hw::rq::Snapshot& expected,
                                            const hw::rq::Snapshot& actual);

/// One line: where, what was expected, what was found.
std::string to_text(const Difference& difference);

}  // namespace hcasim::sim::cosim
