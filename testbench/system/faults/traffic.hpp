// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/rvt/verbs.hpp"
#include "sim/engine/random.hpp"
#include "support/connected_pair.hpp"

namespace hcasim::faults {

/// Of the registered memory of a message, on either side.
inline constexpr std::uint64_t kAreaBytes = 8192;

/// What is drawn for a seed, beside the faults.
struct Plan {
  std::uint64_t seed = 1;
  std::uint32_t messages = 12;  ///< of each direction
  support::PairOptions pair;
  std::uint32_t receive_pause_ns = 20'000;  ///< at most, between posts of receives
  bool may_fail = false;                    ///< the faults may be more than the retries make up for
  bool host_fails = false;  ///< memory cannot be read now and then, which no retry makes up for
  bool link_duplicates = false;
  bool link_reorders = false;
};

/// Lets a task of the node sleep once the CPU has done what it was given.
inline void sleep(sim::NodeSystem& machine, hw::Time time) {
  const hw::Time busy = machine.host().cpu().end_activity();
  machine.host().tasks().sleep_until(machine.engine().now() + busy + time);
  machine.host().cpu().begin_activity();
}

/// Traffic of one transport service between two nodes, both ways, whose every message can be told
/// from all others. A kind of traffic knows what its service promises when packets are lost, and
/// checks that in the end.
class Traffic {
 public:
  virtual ~Traffic() = default;

  /// Makes queue pairs and fills memory; the link is sound meanwhile.
  virtual void prepare() = 0;
  /// What a task of the node does while faults happen: posts everything, with pauses.
  virtual void run(std::size_t node) = 0;
  /// A completion of a queue pair of the node. False when it is not one of this traffic.
  virtual bool take(std::size_t node, const rvt::ib_wc& wc) = 0;
  /// Everything is over and the link is sound again: is what happened what was promised?
  virtual void check() = 0;
  /// Messages that ended with this status.
  virtual std::uint32_t ended_with(rvt::ib_wc_status status) const = 0;
};

}  // namespace hcasim::faults
