// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/sent_messages.hpp"

#include <algorithm>

namespace hcasim::monitor {

void SentMessages::add(const fabric::Packet& packet, std::uint32_t psns) {
  const hw::OpcodeInfo& info = packet.info();
  if (info.starts || messages_.empty()) {
    SentMessage& message = messages_.emplace_back();
    ssn_ = (ssn_ + 1) & hw::kPsnMask;
    message.operation = info.operation;
    message.first_psn = packet.psn;
    message.ssn = ssn_;
    message.reth = packet.reth;
    message.atomic = packet.atomic;
  }
  SentMessage& message = messages_.back();
  if (info.operation == hw::Operation::kSend ? info.starts : consumes_receive(packet)) ++consumed_;
  message.consumed = consumed_;
  message.last_opcode = packet.opcode;
  message.complete = info.ends;
  message.psns += psns;
  message.bytes += packet.payload_size();
  message.imm = packet.imm;
  message.ieth = packet.ieth;
}

// The first message that does not end before the PSN.
std::size_t SentMessages::position(std::uint32_t psn) const {
  const auto found = std::partition_point(
      messages_.begin(), messages_.end(),
      [psn](const SentMessage& message) { return hw::psn_distance(message.end_psn(), psn) >= 0; });
  return static_cast<std::size_t>(found - messages_.begin());
}

const SentMessage* SentMessages::find(std::uint32_t psn) const {
  const std::size_t at = position(psn);
  if (at == messages_.size()) return nullptr;
  return hw::psn_distance(messages_[at].first_psn, psn) >= 0 ? &messages_[at] : nullptr;
}

bool SentMessages::consumed_by(std::uint32_t msn, std::uint32_t& consumed) const {
  if (messages_.empty()) return false;
  const SentMessage& first = messages_.front();
  const std::int32_t index = hw::psn_distance(first.ssn, msn);
  if (index < -1 || index >= static_cast<std::int32_t>(messages_.size())) return false;
  if (index >= 0) {
    consumed = messages_[static_cast<std::size_t>(index)].consumed;
    return true;
  }
  const bool one = first.operation == hw::Operation::kSend ||
                   (hw::opcode_info(first.last_opcode).headers & hw::kHasImmDt) != 0;
  consumed = first.consumed - (one ? 1 : 0);
  return true;
}

// One stays, so that the count of receives before the next is known.
void SentMessages::forget_before(std::uint32_t psn) {
  while (messages_.size() > 1 && messages_.front().complete &&
         hw::psn_distance(messages_.front().end_psn(), psn) >= 0) {
    messages_.pop_front();
  }
}

}  // namespace hcasim::monitor
