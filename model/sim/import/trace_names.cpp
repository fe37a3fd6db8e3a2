// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/trace_names.hpp"

#include <algorithm>
#include <string>

namespace hcasim::sim {

TraceNames::TraceNames(NameTable& names, const ReplayPlan& plan, const RegionMap& regions)
    : plan_(plan) {
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    nodes_.push_back(names.intern("host" + std::to_string(i + 1)));
  }
  for (std::size_t i = 0; i < plan.connections.size(); ++i) {
    const auto& ends = plan.connections[i].ends;
    const std::string name = "qp" + std::to_string(i + 1);
    const bool one_node = ends[0].address == ends[1].address;
    qps_.push_back({names.intern(name), names.intern(one_node ? name + "b" : name)});
  }
  for (std::size_t i = 0; i < regions.regions().size(); ++i) {
    const std::size_t before = regions.regions()[i].takes_over;
    regions_.push_back(before != Region::kNone ? regions_[before]
                                               : names.intern("r" + std::to_string(i + 1)));
  }
}

std::size_t TraceNames::index_of(const hw::Gid& address) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(plan_.nodes, address) -
                                  plan_.nodes.begin());
}

}  // namespace hcasim::sim
