// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/rc_answers.hpp"

#include <algorithm>

namespace hcasim::sim {

void count_nak(const SeenPacket& packet, NakCounts& naks) {
  if (packet.info().operation != hw::Operation::kAcknowledge) return;
  if (hw::syndrome_kind(packet.syndrome) == hw::SyndromeKind::kRnrNak) ++naks.rnr;
  switch (static_cast<hw::NakCode>(packet.syndrome)) {
    case hw::NakCode::kPsnSequence:
      ++naks.psn_sequence;
      break;
    case hw::NakCode::kInvalidRequest:
      ++naks.invalid_request;
      break;
    case hw::NakCode::kRemoteAccess:
      ++naks.remote_access;
      break;
    case hw::NakCode::kRemoteOperational:
      ++naks.remote_operational;
      break;
    default:
      break;
  }
}

void RcAnswers::apply(const Answer& answer) {
  if (!answers_something(answer)) {
    ++analysis_.unexplained[kNoRequest];
    return;
  }
  switch (answer.packet->info().operation) {
    case hw::Operation::kReadResponse:
      return apply_read_response(answer);
    case hw::Operation::kAtomicAcknowledge:
      return apply_atomic_response(answer);
    default:
      return apply_acknowledge(answer);
  }
}

/// A NAK names the PSN that the responder waits for, which may never have come.
bool RcAnswers::answers_something(const Answer& answer) const {
  if (pieces_.empty() || answer.psn < 0) return false;
  const bool nak = hw::syndrome_kind(answer.packet->syndrome) != hw::SyndromeKind::kAck;
  return answer.psn >= pieces_.front().first && answer.psn <= pieces_.back().last + (nak ? 1 : 0);
}

RcMessage* RcAnswers::message_with(LinePsn psn) {
  const auto after = std::ranges::upper_bound(messages_, psn, {}, &RcMessage::first);
  if (after == messages_.begin()) return nullptr;
  RcMessage& message = *std::prev(after);
  return message.contains(psn) ? &message : nullptr;
}

void RcAnswers::complete(RcMessage& message, hw::Time time) {
  if (message.settled()) return;
  message.record.outcome = MessageOutcome::kCompleted;
  message.record.completed = time;
}

/// An answer for one PSN acknowledges all before it; READ and atomics wait for their response.
void RcAnswers::acknowledge(LinePsn up_to, hw::Time time) {
  for (; accepted_ < messages_.size() && messages_[accepted_].first <= up_to; ++accepted_) {
    CapturedMessage& record = messages_[accepted_].record;
    const bool send = record.opcode == hw::WrOpcode::kSend ||
                      record.opcode == hw::WrOpcode::kSendWithImm ||
                      record.opcode == hw::WrOpcode::kSendWithInv;
    if (send) record.accepted = time;
  }
  for (; next_ < messages_.size() && messages_[next_].last <= up_to; ++next_) {
    RcMessage& message = messages_[next_];
    if (!message.end_seen || message.needs_response()) continue;
    complete(message, time);
    if (message.record.opcode == hw::WrOpcode::kRdmaWriteWithImm) message.record.accepted = time;
  }
}

void RcAnswers::apply_acknowledge(const Answer& answer) {
  switch (hw::syndrome_kind(answer.packet->syndrome)) {
    case hw::SyndromeKind::kAck:
      return acknowledge(answer.psn, answer.packet->time);
    case hw::SyndromeKind::kRnrNak:
      return apply_rnr_nak(answer);
    case hw::SyndromeKind::kNak:
      return apply_nak(answer);
    case hw::SyndromeKind::kReserved:
      ++analysis_.unexplained["carries a reserved syndrome"];
      return;
  }
}

void RcAnswers::apply_rnr_nak(const Answer& answer) {
  acknowledge(answer.psn - 1, answer.packet->time);
  RcMessage* const message = message_with(answer.psn);
  if (message == nullptr) return;
  message->record.rnr_naks.push_back(answer.packet->time);
  message->record.rnr_timer_code = hw::syndrome_value(answer.packet->syndrome);
}

void RcAnswers::apply_nak(const Answer& answer) {
  acknowledge(answer.psn - 1, answer.packet->time);
  const auto code = static_cast<hw::NakCode>(answer.packet->syndrome);
  RcMessage* const message = message_with(answer.psn);
  if (code == hw::NakCode::kPsnSequence || message == nullptr || message->settled()) return;
  message->record.outcome = MessageOutcome::kRefused;
  message->record.refused_with = code;
}

void RcAnswers::apply_read_response(const Answer& answer) {
  RcMessage* const message = message_with(answer.psn);
  if (message == nullptr || message->record.opcode != hw::WrOpcode::kRdmaRead) {
    ++analysis_.unexplained[kWrongAnswer];
    return;
  }
  acknowledge(message->first - 1, answer.packet->time);
  message->answered.insert(answer.psn);
  if (message->answered.covers(message->first, message->last)) {
    complete(*message, answer.packet->time);
  }
}

void RcAnswers::apply_atomic_response(const Answer& answer) {
  RcMessage* const message = message_with(answer.psn);
  const bool atomic = message != nullptr && message->needs_response() &&
                      message->record.opcode != hw::WrOpcode::kRdmaRead;
  if (!atomic) {
    ++analysis_.unexplained[kWrongAnswer];
    return;
  }
  acknowledge(answer.psn - 1, answer.packet->time);
  complete(*message, answer.packet->time);
}

}  // namespace hcasim::sim
