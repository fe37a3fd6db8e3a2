// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/credit_rules.hpp"

#include <algorithm>
#include <string>

#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::monitor {

void CreditRules::sent(const Observation& seen, SentMessage& message) {
  const hw::OpcodeInfo& info = seen.packet.info();
  const bool uses_now =
      info.operation == hw::Operation::kSend ? info.starts : consumes_receive(seen.packet);
  if (uses_now && !unlimited_) {
    message.beyond_credit = message.consumed > allowed_;
    judge_.expect(message.consumed <= allowed_ + 1, Rule::kCredit, seen, [&] {
      return "no more than " + std::to_string(allowed_) + " receives used and one request beyond";
    });
  }
  if (message.beyond_credit && info.ends) {
    judge_.expect(seen.packet.ack_req, Rule::kCreditAckRequest, seen, [] { return "AckReq set"; });
  }
}

void CreditRules::arrived(const fabric::Packet& answer, const SentMessages& messages) {
  if (hw::syndrome_kind(answer.aeth.syndrome) != hw::SyndromeKind::kAck) return;
  const std::uint8_t code = hw::syndrome_value(answer.aeth.syndrome);
  if (code == hw::kNoCredits) {
    unlimited_ = true;
    return;
  }
  std::uint32_t consumed = 0;
  if (!messages.consumed_by(answer.aeth.msn, consumed)) return;
  allowed_ = std::max(allowed_, consumed + hw::credits_of(code));
}

}  // namespace hcasim::monitor
