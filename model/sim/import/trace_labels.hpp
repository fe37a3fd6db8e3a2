// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hcasim/sim/trace.hpp"
#include "sim/import/label_pool.hpp"

namespace hcasim::sim {

/// The labels of sends and receives in a trace that is being written. How often a message is still
/// referred to decides when its label is free again.
class TraceLabels {
 public:
  TraceLabels(NameTable& names, std::size_t nodes, std::size_t messages)
      : names_(names), pools_(nodes), uses_(messages), label_of_(messages) {}

  /// A later line will refer to the send or the receive of the message at `place`.
  void add_use(std::size_t place, bool receive) { ++uses_[place][receive]; }

  /// Gives the line of that send or receive, on this node, its label, if one is needed.
  void give(Operation& line, std::size_t node, std::size_t place, bool receive) {
    if (uses_[place][receive] == 0) return;
    const std::size_t number = pools_[node].take();
    label_of_[place][receive] = number;
    line.label = name(number);
  }

  /// Lets a line wait for it. The label is free again after the last of its uses.
  void refer_to(Operation& line, std::size_t node, std::size_t place, bool receive) {
    const std::size_t number = label_of_[place][receive];
    line.timing = Timing::kAfter;
    line.after = name(number);
    if (--uses_[place][receive] == 0) pools_[node].give_back(number);
  }

 private:
  NameId name(std::size_t number) { return names_.intern("l" + std::to_string(number)); }

  NameTable& names_;
  std::vector<LabelPool> pools_;                      // by node
  std::vector<std::array<std::size_t, 2>> uses_;      // by place: references to send, to receive
  std::vector<std::array<std::size_t, 2>> label_of_;  // by place: of the send, of the receive
};

}  // namespace hcasim::sim
