// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/protocol_monitor/sent_messages.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// End-to-end flow control at the requester: how many requests it may send that need a receive.
/// A requester begins without credit. An answer with MSN m and c credits lets go, of all messages
/// beyond the first m, c that need a receive, and one more that asks for an acknowledgement.
class CreditRules {
 public:
  explicit CreditRules(const Judge& judge) : judge_(judge) {}

  /// A packet that was not sent before, with the message that it belongs to.
  void sent(const Observation& seen, SentMessage& message);
  /// An answer with an AETH.
  void arrived(const fabric::Packet& answer, const SentMessages& messages);

 private:
  Judge judge_;
  std::uint32_t allowed_ = 0;  // receives that may be used in all
  bool unlimited_ = false;
};

}  // namespace hcasim::monitor
