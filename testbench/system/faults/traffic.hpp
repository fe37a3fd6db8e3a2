// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>

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

/// The pauses of a task, drawn.
class Pauses {
 public:
  Pauses(sim::NodeSystem& machine, std::uint64_t seed) : machine_(machine), random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_.below(limit); }
  void pause(std::uint32_t most_ns) {
    sleep(machine_, static_cast<hw::Time>(below(most_ns)) * hw::kNanosecond);
  }

 private:
  sim::NodeSystem& machine_;
  sim::Random random_;
};

/// Traffic of one transport service between two nodes, both ways, whose every message can be told
/// from all others. A kind of traffic knows what its service promises when packets are lost, and
/// checks that in the end.
class Traffic {
 public:
  /// `first_area` is the number of its first area in both regions.
  Traffic(support::ConnectedPair& pair, const Plan& plan, std::uint32_t first_area)
      : pair_(pair), plan_(plan), random_(plan.seed * 1000 + first_area), first_area_(first_area) {}
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

 protected:
  /// Offset of an area of the messages from `node`; those of both directions alternate.
  std::uint64_t area(std::uint32_t number, std::size_t node) const {
    return (first_area_ + 2 * number + node) * kAreaBytes;
  }
  /// Of the task of the node in run().
  Pauses pauses(std::size_t node) const {
    return {pair_.system().node(node), plan_.seed + 77 * node + first_area_};
  }
  /// What is checked, for the failures of a test.
  std::string name_of(std::size_t node) const {
    return "traffic of area " + std::to_string(first_area_) + ", from node " +
           std::to_string(node) + ", QP " + std::to_string(qps_[node]->qp_num);
  }

  support::ConnectedPair& pair_;
  Plan plan_;
  sim::Random random_;
  std::uint32_t first_area_;
  std::array<rvt::ib_qp*, 2> qps_{};
};

}  // namespace hcasim::faults
