// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/import/capture_analysis.hpp"
#include "sim/import/flow.hpp"

/// From packets to the record of a message.
namespace hcasim::sim {

/// Packets that fit nothing, by reason.
using Reasons = std::map<std::string, std::uint64_t>;

/// The two ends of the requests of one flow, and what else their messages have in common.
struct Ends {
  Endpoint requester;
  bool requester_qpn_known = false;
  Endpoint responder;
  std::uint32_t path_mtu = 0;  ///< bytes; 0: unknown
};

/// The ends of `requests`.
/// @param answers the other direction; null when it is not in the capture
/// @param sender the queue pair that sends the requests, where it is known without answers
Ends ends_of(const Flow& requests, const Flow* answers, std::optional<std::uint32_t> sender);

/// The record of the message that `packet` opens: all that this packet tells.
CapturedMessage open_message(const Flow& flow, const SeenPacket& packet, const Ends& ends);

/// Adds what the last packet of a message tells: immediate data, key to invalidate, solicited.
void close_message(const Flow& flow, const SeenPacket& packet, CapturedMessage& record);

/// Puts an ended message into records, counts and sums.
void count_message(CapturedMessage record, CaptureAnalysis& analysis);

inline constexpr const char* kNoOpening = "continues a message whose first packet is not captured";
inline constexpr const char* kNoRequest = "answers a request that is not captured";
inline constexpr const char* kWrongAnswer = "answers a request of another kind";

}  // namespace hcasim::sim
