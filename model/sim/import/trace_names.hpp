// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hcasim/sim/trace.hpp"
#include "sim/import/replay_plan.hpp"
#include "sim/import/replay_regions.hpp"

namespace hcasim::sim {

/// The names of nodes, queue pairs and regions in a trace that is made from a plan. A region that
/// takes over another has its name.
class TraceNames {
 public:
  /// The plan is to stay where it is.
  TraceNames(NameTable& names, const ReplayPlan& plan, const RegionMap& regions);

  /// The number of the node with this address.
  std::size_t index_of(const hw::Gid& address) const;
  NameId node_at(std::size_t index) const { return nodes_[index]; }
  NameId node(const hw::Gid& address) const { return nodes_[index_of(address)]; }
  NameId qp(std::size_t connection, std::size_t side) const { return qps_[connection][side]; }
  NameId region(std::size_t index) const { return regions_[index]; }

 private:
  const ReplayPlan& plan_;
  std::vector<NameId> nodes_;
  std::vector<std::array<NameId, 2>> qps_;  // by connection and side
  std::vector<NameId> regions_;
};

}  // namespace hcasim::sim
