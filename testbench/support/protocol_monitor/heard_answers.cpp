// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/heard_answers.hpp"

namespace hcasim::monitor {

std::optional<std::uint32_t> HeardAnswers::acknowledged_before(std::uint32_t psn) {
  std::optional<std::uint32_t> lost;
  if (!hw::psn_before(next_, psn)) return lost;
  messages_.for_each_from(next_, [&](const SentMessage& message) {
    if (!hw::psn_before(message.first_psn, psn)) return false;
    if (!message.needs_response()) return true;
    const bool passed = hw::psn_distance(message.end_psn(), psn) >= 0;
    psn = hw::psn_before(next_, message.first_psn) ? message.first_psn : next_;
    if (passed) lost = psn;
    return false;
  });
  next_ = psn;
  return lost;
}

std::optional<std::uint32_t> HeardAnswers::response(std::uint32_t psn, const SentMessage& message) {
  if (const auto lost = acknowledged_before(message.first_psn)) return lost;
  if (psn == next_) {
    next_ = hw::psn_add(psn, 1);
    return std::nullopt;
  }
  return hw::psn_before(next_, psn) ? std::optional(next_) : std::nullopt;
}

}  // namespace hcasim::monitor
