// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/requester_rules.hpp"

#include <string>

#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::monitor {

RequesterRules::RequesterRules(const MonitoredQp& qp, const MonitorOptions& options,
                               const Judge& judge)
    : qp_(qp),
      reaction_(options.reaction),
      judge_(judge),
      form_(qp.mtu),
      credit_(judge),
      repeats_(qp, options, judge),
      next_(qp.sq_psn),
      newest_(qp.sq_psn),
      at_most_(messages_, qp.sq_psn),
      at_least_(messages_, qp.sq_psn),
      acknowledged_(qp.sq_psn, options.reaction) {}

void RequesterRules::sent(const Observation& seen) {
  judge_.expect(ended_at_ == hw::kNever || seen.at <= ended_at_ + reaction_, Rule::kRequestAfterNak,
                seen, [] { return "silence"; });
  place(seen);
  if (seen.packet.psn == newest_) {
    fresh(seen);
  } else if (const SentMessage* message = messages_.find(seen.packet.psn)) {
    repeats_.check_same(seen, *message);
  }
  check_reads(seen);
  next_ = hw::psn_add(seen.packet.psn, psns_of(seen.packet, qp_.mtu));
  if (hw::psn_before(newest_, next_)) newest_ = next_;
}

// Where the packet stands in the stream: next, or back, or ahead over what is acknowledged.
void RequesterRules::place(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  const std::int32_t step = hw::psn_distance(next_, psn);
  if (step == 0) return;
  if (step < 0) return go_back(seen);
  const bool known = hw::psn_distance(psn, newest_) >= 0;
  const bool over_acknowledged = hw::psn_distance(psn, at_most_.next()) >= 0;
  judge_.expect(known && over_acknowledged, Rule::kPsnOrder, seen,
                [&] { return "PSN " + std::to_string(next_); });
  if (!known) newest_ = psn;
}

// Going back to what is answered, it has not minded the answers, and what made it go back is not
// known.
void RequesterRules::go_back(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  const std::uint32_t oldest = acknowledged_.earlier(seen.at);
  if (seen.at >= repeats_.ready_at()) not_ready_.reset();
  judge_.expect(hw::psn_distance(oldest, psn) >= 0, Rule::kRepeatAcknowledged, seen,
                [&] { return "PSN " + std::to_string(oldest) + " or a later one"; });
  if (hw::psn_before(psn, at_least_.next())) {
    at_least_.back_to(psn);
    acknowledged_.set(psn);
  }
  if (hw::psn_before(psn, at_most_.next())) return repeats_.waits_since(seen.at);
  repeats_.went_back(seen);
}

void RequesterRules::fresh(const Observation& seen) {
  const fabric::Packet& packet = seen.packet;
  if (const auto rule = form_.broken_by(packet)) {
    judge_.expect(false, *rule, seen, [] { return "the next packet of a message"; });
  }
  form_.take(packet);
  const std::uint32_t psns = psns_of(packet, qp_.mtu);
  if (at_most_.next() == newest_) repeats_.waits_since(seen.at);
  messages_.add(packet, psns);
  credit_.sent(seen, messages_.newest());
  const std::uint32_t last = hw::psn_add(packet.psn, psns - 1);
  judge_.expect(((last - at_most_.next()) & hw::kPsnMask) < 1u << 23, Rule::kPsnWindow, seen,
                [&] { return "the oldest is PSN " + std::to_string(at_most_.next()); });
}

// How many READs and atomics are outstanding with this one.
void RequesterRules::check_reads(const Observation& seen) {
  const SentMessage* message = messages_.find(seen.packet.psn);
  if (message == nullptr || !message->needs_response()) return;
  std::uint32_t outstanding = 0;
  messages_.for_each_from(at_most_.next(), [&](const SentMessage& other) {
    if (other.needs_response()) ++outstanding;
    return &other != message;
  });
  judge_.expect(outstanding <= qp_.max_rd_atomic, Rule::kReadLimit, seen,
                [&] { return "no more than " + std::to_string(qp_.max_rd_atomic); });
}

void RequesterRules::arrived(const Observation& seen) {
  const fabric::Packet& packet = seen.packet;
  const bool of_something_sent = hw::psn_before(packet.psn, newest_);
  const bool too_old = hw::psn_distance(at_least_.next(), packet.psn) < -1;
  if (!of_something_sent || too_old) return;
  if ((packet.info().headers & hw::kHasAeth) != 0) credit_.arrived(packet, messages_);
  const bool refusal = packet.info().operation == hw::Operation::kAcknowledge &&
                       hw::syndrome_kind(packet.aeth.syndrome) != hw::SyndromeKind::kAck;
  if (refusal && !hw::psn_before(packet.psn, at_most_.next())) refused(seen);
  const std::uint32_t before = at_most_.next();
  heard(at_most_, seen);
  if (at_most_.next() != before) repeats_.waits_since(seen.at);
  if (has_to_mind(seen)) heard(at_least_, seen);
  acknowledged_.advance(at_least_.next(), seen.at);
  messages_.forget_before(acknowledged_.earlier(seen.at));
}

// It has heard as little as before that answer came. What came since then may have been dropped
// with it.
void RequesterRules::discarded(const Observation& seen) {
  const std::uint32_t oldest = acknowledged_.earlier(seen.at);
  at_least_.back_to(oldest);
  acknowledged_.set(oldest);
}

// Not an answer to what it is to send again. After an RNR NAK it has gone back, though that does
// not show before the wait is over.
bool RequesterRules::has_to_mind(const Observation& seen) const {
  const std::uint32_t psn = seen.packet.psn;
  const bool waits = not_ready_ && seen.at <= repeats_.ready_at() + reaction_;
  if (waits && !hw::psn_before(psn, *not_ready_)) return false;
  return hw::psn_before(psn, next_);
}

void RequesterRules::heard(HeardAnswers& answers, const Observation& seen) {
  const fabric::Packet& packet = seen.packet;
  std::optional<std::uint32_t> lost;
  if (packet.info().operation == hw::Operation::kAcknowledge) {
    const bool done = hw::syndrome_kind(packet.aeth.syndrome) == hw::SyndromeKind::kAck;
    lost = answers.acknowledged_before(hw::psn_add(packet.psn, done ? 1 : 0));
  } else {
    const SentMessage* message = messages_.find(packet.psn);
    if (message != nullptr && message->needs_response()) {
      lost = answers.response(packet.psn, *message);
    }
  }
  if (lost && &answers == &at_most_) repeats_.response_lost(*lost, seen.at);
}

void RequesterRules::refused(const Observation& seen) {
  const std::uint8_t syndrome = seen.packet.aeth.syndrome;
  const hw::SyndromeKind kind = hw::syndrome_kind(syndrome);
  if (kind == hw::SyndromeKind::kRnrNak) {
    not_ready_ = seen.packet.psn;
    return repeats_.not_ready(syndrome, seen.at);
  }
  if (kind != hw::SyndromeKind::kNak) return;
  if (syndrome == hw::nak_syndrome(hw::NakCode::kPsnSequence)) return repeats_.caused(seen.at);
  ended_at_ = seen.at;
}

}  // namespace hcasim::monitor
