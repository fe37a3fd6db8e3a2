// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "hcasim/sim/trace.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/system/system.hpp"

namespace hcasim::sim {

/// Carries out the operations of a trace before its first post: connections and control verbs, one
/// after the other, in the order of the file. What nodes must know of each other (QPNs, keys,
/// addresses) they learn here without simulated traffic.
class SetUp {
 public:
  /// `file` stands for the trace in errors.
  SetUp(System& system, ObjectDirectory& directory, std::string file);

  /// Returns the number of operations that were carried out.
  /// @throws InputError, RunError
  std::uint64_t run(TraceReader& reader);
  /// Connects two nodes as the operation says.
  void connect(const Operation& operation);

 private:
  void control(const Operation& operation);
  void check(const ControlResult& result, const Operation& operation, std::uint32_t node);

  System& system_;
  ObjectDirectory& directory_;
  std::string file_;
};

}  // namespace hcasim::sim
