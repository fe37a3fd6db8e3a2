// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "support/protocol_monitor/sent_messages.hpp"

namespace hcasim::monitor {

/// How far a requester's messages are answered by the answers that it minds.
class HeardAnswers {
 public:
  HeardAnswers(const SentMessages& messages, std::uint32_t psn) : messages_(messages), next_(psn) {}

  /// Oldest PSN without answer.
  std::uint32_t next() const { return next_; }

  // Each returns the PSN of a response that is lost, as the answer shows.
  /// All before the PSN has arrived. A READ or an atomic is done by its own response only.
  std::optional<std::uint32_t> acknowledged_before(std::uint32_t psn);
  /// A response to this READ or atomic.
  std::optional<std::uint32_t> response(std::uint32_t psn, const SentMessage& message);

  /// The answers from this PSN on were not minded.
  void back_to(std::uint32_t psn) {
    if (hw::psn_before(psn, next_)) next_ = psn;
  }

 private:
  const SentMessages& messages_;
  std::uint32_t next_;
};

}  // namespace hcasim::monitor
