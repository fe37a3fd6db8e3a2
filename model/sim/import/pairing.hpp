// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/import/flow.hpp"

namespace hcasim::sim {

/// Two flows that are the two directions of one connection.
struct Connection {
  const Flow* forward = nullptr;
  const Flow* backward = nullptr;  ///< null when the other direction is not in the capture
};

/// Finds which flows belong together. A packet of RC and UC names its receiver's queue pair only;
/// that an answer's PSN is that of a request seen before tells whose answer it is.
/// @param flows of RC and UC
/// @return each flow in exactly one connection
std::vector<Connection> pair_flows(const std::vector<const Flow*>& flows);

}  // namespace hcasim::sim
