// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "fabric/codec.hpp"
#include "sim/import/capture_analysis.hpp"

namespace hcasim::sim {

/// The two ends of a connection that was set up within the capture.
struct EndpointPair {
  Endpoint active;   ///< sent the request
  Endpoint passive;  ///< sent the reply
};

/// Reads the messages of the communication manager, which name both queue pairs of a connection
/// (InfiniBand specification 12.6). Without them only the traffic tells which belong together.
class ConnectionSetup {
 public:
  /// Looks at a packet sent to queue pair 1. @param captured bytes of its payload that were kept
  void take(const fabric::Packet& packet, std::size_t captured);

  /// The connections for which request and reply were seen, in the order of the replies.
  const std::vector<EndpointPair>& pairs() const { return pairs_; }

 private:
  /// Whose request, and the identifier it gave to the connection.
  using RequestKey = std::pair<hw::Gid, std::uint32_t>;

  std::map<RequestKey, Endpoint> requests_;
  std::vector<EndpointPair> pairs_;
};

}  // namespace hcasim::sim
