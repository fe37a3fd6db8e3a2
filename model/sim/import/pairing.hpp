// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/import/connection_setup.hpp"
#include "sim/import/flow.hpp"

namespace hcasim::sim {

/// Two flows that are the two directions of one connection.
struct Connection {
  const Flow* forward = nullptr;
  const Flow* backward = nullptr;  ///< null when the other direction is not in the capture
  /// The queue pair that sends `forward`, where the set-up of the connection told it.
  std::optional<std::uint32_t> forward_src_qp;
  /// The answers fit those of another connection as well; only the order of packets decided.
  bool uncertain = false;
};

/// Finds which flows belong together. A packet of RC and UC names its receiver's queue pair only;
/// the set-up of the connection tells the other, and so does an answer of the PSN and the kind of a
/// request seen before, and of its count of messages.
/// @param flows of RC and UC
/// @param setups connections whose set-up is in the capture
/// @return each flow in exactly one connection
std::vector<Connection> pair_flows(const std::vector<const Flow*>& flows,
                                   const std::vector<EndpointPair>& setups);

}  // namespace hcasim::sim
