// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/repeat_rules.hpp"

#include <string>

#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::monitor {

void RepeatRules::caused(hw::Time at) {
  ++causes_;
  caused_at_ = at;
}

void RepeatRules::response_lost(std::uint32_t psn, hw::Time at) {
  if (lost_ == psn) return;
  lost_ = psn;
  caused(at);
}

void RepeatRules::waits_since(hw::Time at) {
  if (timed_out(at)) overdue_at_ = at;
  waiting_since_ = at;
}

// A second NAK during the wait is for a request sent before the first one came.
void RepeatRules::not_ready(std::uint8_t syndrome, hw::Time at) {
  caused(at);
  if (at < ready_at_) return;
  not_ready_at_ = at;
  ready_at_ = at + hw::rnr_timer(hw::syndrome_value(syndrome));
}

// An answer that comes after the timeout does not stop what is on its way.
bool RepeatRules::timed_out(hw::Time at) const {
  if (qp_.ack_timeout == 0) return false;
  const bool overdue = overdue_at_ != hw::kNever && at - overdue_at_ < reaction_;
  return overdue || at - waiting_since_ + reaction_ >= qp_.ack_timeout;
}

void RepeatRules::went_back(const Observation& seen) {
  judge_.expect(causes_ != 0 || timed_out(seen.at), Rule::kRepeatCause, seen,
                [] { return "no repetition without a cause"; });
  // What was decided before the NAK arrived is still on its way.
  judge_.expect(seen.at >= ready_at_ || seen.at < not_ready_at_ + reaction_, Rule::kRnrWait, seen,
                [&] { return "not before " + std::to_string(ready_at_ / 1000) + " ns"; });
  // What was asked for again for another reason may be lost once more.
  const bool waited = seen.at >= ready_at_ && seen.at - ready_at_ < reaction_;
  if (waited || timed_out(seen.at)) lost_.reset();
  waiting_since_ = seen.at;
  if (causes_ == 0) return;
  causes_ = seen.at - caused_at_ > reaction_ ? 0 : causes_ - 1;
}

void RepeatRules::check_same(const Observation& seen, const SentMessage& message) const {
  const fabric::Packet& packet = seen.packet;
  bool same = packet.info().operation == message.operation;
  if (same && message.operation == hw::Operation::kReadRequest) {
    same = same_read(packet, message);
  } else if (same && message.needs_response()) {
    same = packet.atomic == message.atomic && packet.payload_size() == 0;
  } else if (same) {
    same = same_data(packet, message);
  }
  judge_.expect(same, Rule::kRepeatSame, seen, [&] {
    return "the packet of the message of PSN " + std::to_string(message.first_psn) + ", " +
           std::to_string(message.bytes) + " bytes, length " + std::to_string(message.reth.length);
  });
}

// The request for the rest from this PSN on.
bool RepeatRules::same_read(const fabric::Packet& packet, const SentMessage& message) const {
  const std::uint64_t offset =
      std::uint64_t{(packet.psn - message.first_psn) & hw::kPsnMask} * qp_.mtu;
  return packet.payload_size() == 0 && packet.reth.rkey == message.reth.rkey &&
         packet.reth.addr == message.reth.addr + offset &&
         packet.reth.length + offset == message.reth.length;
}

bool RepeatRules::same_data(const fabric::Packet& packet, const SentMessage& message) const {
  const hw::OpcodeInfo& info = packet.info();
  const std::uint32_t index = (packet.psn - message.first_psn) & hw::kPsnMask;
  const bool last = message.complete && index + 1 == message.psns;
  const std::uint64_t bytes = last ? message.bytes - std::uint64_t{index} * qp_.mtu : qp_.mtu;
  if (info.starts != (index == 0) || info.ends != last || packet.payload_size() != bytes) {
    return false;
  }
  if ((info.headers & hw::kHasReth) != 0 && packet.reth != message.reth) return false;
  if (!last) return true;
  return packet.opcode == message.last_opcode &&
         ((info.headers & hw::kHasImmDt) == 0 || packet.imm == message.imm) &&
         ((info.headers & hw::kHasIeth) == 0 || packet.ieth == message.ieth);
}

}  // namespace hcasim::monitor
