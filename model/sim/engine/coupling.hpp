// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "hcasim/hw/time.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::sim {

/// How far each engine may run without missing what another one may still send it. Nodes meet only
/// on links, and a link has a latency: whatever node j does next, at its next event, cannot reach
/// node i before that event's time plus the least latency of a path from j to i.
class Coupling {
 public:
  /// Adds an engine; returns its index.
  std::size_t add(Engine& engine);
  /// A link from one engine to another takes at least `latency`.
  void connect(std::size_t from, std::size_t to, Time latency);

  /// The least time of a path from one engine to another, hw::kNever when there is none.
  Time latency(std::size_t from, std::size_t to) const { return latency_[from][to]; }
  std::size_t size() const { return engines_.size(); }
  Engine& engine(std::size_t index) const { return *engines_[index]; }
  /// Events of engine `index` before this time may run: nothing can arrive earlier.
  Time horizon(std::size_t index) const;
  /// The engine whose next event is the earliest; the lowest index of those that tie.
  std::size_t earliest() const;

 private:
  std::vector<Engine*> engines_;
  std::vector<std::vector<Time>> latency_;  // least over all paths, [from][to]
};

}  // namespace hcasim::sim
