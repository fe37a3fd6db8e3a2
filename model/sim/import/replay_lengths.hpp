// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hcasim/hw/cqe.hpp"
#include "sim/import/replay_plan.hpp"

/// How long messages and buffers of a replay are, in bytes.
namespace hcasim::sim {

inline constexpr std::uint64_t kPage = 4096;

/// Whole pages.
inline std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

/// Of a message: at most what a trace can say.
inline std::uint64_t length_of(const CapturedMessage& record) {
  return std::min(record.bytes, kMaxLength);
}

/// Of a receive that a message of this length fits into.
inline std::uint64_t receive_for(hw::Transport transport, std::uint64_t bytes) {
  return transport == hw::Transport::kUd ? bytes + hw::kGrhAreaBytes : bytes;
}

/// Of the region that all local buffers are in.
inline std::uint64_t buffer_bytes_for(const ReplayPlan& plan, const ImportOptions& options) {
  std::uint64_t longest = std::max<std::uint64_t>(options.receive_length, kPage);
  for (const PlannedMessage& message : plan.messages) {
    const CapturedMessage& record = *message.record;
    longest = std::max(longest, receive_for(record.transport, length_of(record)));
  }
  return std::min(round_up(longest), kMaxLength);
}

}  // namespace hcasim::sim
