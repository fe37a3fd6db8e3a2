// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/replay_plan.hpp"

namespace hcasim::sim {

/// How a refused message is made to fail again.
enum class Failure : std::uint8_t {
  kNone,
  kNoRights,      ///< the region gives peers no rights: remote access
  kMisaligned,    ///< an atomic at an odd address: invalid request
  kShortReceive,  ///< one byte less than the message: invalid request
  kBadReceive,    ///< the receive's buffer is outside its region: remote operational
};

/// The way that gives the NAK of the capture, or, where a replay has none, another that ends the
/// connection at the same message.
Failure failure_of(const PlannedMessage& message);

/// The NAK of the capture and that of the replay, in words.
std::string describe_refusal(const PlannedMessage& message);

}  // namespace hcasim::sim
