// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What is to be done again of a capture: between whom, in which order, after what.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/capture_analysis.hpp"
#include "sim/import/trace_from_capture.hpp"

namespace hcasim::sim {

/// A message of the plan.
struct PlannedMessage {
  static constexpr std::size_t kNone = ~std::size_t{0};

  const CapturedMessage* record = nullptr;
  std::size_t connection = 0;
  std::size_t side = 0;               ///< of the connection that sends
  hw::Time time = 0;                  ///< of its posting, since the first one
  std::size_t after = kNone;          ///< place in the plan of what was complete before
  bool after_receive = false;         ///< true: the receive of that message; false: its send
  std::size_t receive_place = kNone;  ///< how many receives of its QP are used before it

  bool uses_receive() const { return receive_place != kNone; }
  bool refused() const { return record->outcome == MessageOutcome::kRefused; }
};

/// A pair of QPs, of RC, UC or UD.
struct PlannedConnection {
  hw::Transport transport = hw::Transport::kRc;
  std::uint32_t qkey = 0;  ///< UD
  std::array<Endpoint, 2> ends;
  std::uint32_t mtu = 0;                         ///< bytes
  std::array<std::uint32_t, 2> first_psn{};      ///< by side
  std::array<std::uint64_t, 2> longest{};        ///< bytes of a message into a receive, by sender
  std::array<std::vector<std::size_t>, 2> sent;  ///< places in the plan, by sender, in PSN order
  /// Those of them that use a receive.
  std::array<std::vector<std::size_t>, 2> received;
  std::optional<std::uint8_t> rnr_timer_code;  ///< from RNR NAKs
};

/// All of it.
struct ReplayPlan {
  std::vector<hw::Gid> nodes;  ///< sorted
  std::vector<PlannedConnection> connections;
  std::vector<PlannedMessage> messages;  ///< in order of time
  hw::Time start = 0;                    ///< of the first message, in the capture
  std::uint64_t unfinished = 0;          ///< messages left out for want of an end
  std::uint64_t other_transports = 0;    ///< messages of other services, complete or not
};

/// Sorts complete and refused messages of RC, UC and UD. A connection ends with a refused message;
/// what comes later between the same ends belongs to a new one.
/// @param analysis outlives the plan
ReplayPlan make_plan(const CaptureAnalysis& analysis, const ImportOptions& options);

}  // namespace hcasim::sim
