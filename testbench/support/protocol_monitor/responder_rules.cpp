// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/responder_rules.hpp"

#include <algorithm>
#include <string>

#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::monitor {

namespace {

constexpr std::size_t kKeptDuplicates = 64;

bool needs_response(const hw::OpcodeInfo& info) {
  return info.operation == hw::Operation::kReadRequest ||
         info.operation == hw::Operation::kCompareSwap ||
         info.operation == hw::Operation::kFetchAdd;
}

std::string psn_text(std::uint32_t psn) {
  return "PSN " + std::to_string(psn);
}

}  // namespace

ResponderRules::ResponderRules(const MonitoredQp& qp, const Judge& judge)
    : qp_(qp), judge_(judge), requests_(qp), responses_(qp, judge), answered_(qp.rq_psn) {}

void ResponderRules::arrived(const Observation& seen) {
  const bool asks = needs_response(seen.packet.info());
  switch (requests_.arrive(seen.packet)) {
    case Arrival::kNew:
      naked_.reset();
      if (uncertain()) uncertain_before_ = requests_.expected();
      if (asks) responses_.asked(seen.packet, uncertain());
      return;
    case Arrival::kDuplicate:
      if (asks) {
        responses_.asked(seen.packet, true);
      } else {
        duplicates_.push_back(seen.packet.psn);
        if (duplicates_.size() > kKeptDuplicates) duplicates_.pop_front();
      }
      return;
    case Arrival::kAhead:
      return note_gap();
    case Arrival::kFaulty:
      return;
  }
}

// What came in behind it is ahead of it now.
void ResponderRules::discarded(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  if (take_copy(psn) || !requests_.arrived(psn) || hw::psn_before(psn, answered_)) return;
  const std::uint32_t behind = hw::psn_add(psn, psns_of(seen.packet, qp_.mtu));
  const bool others = hw::psn_before(behind, requests_.expected());
  requests_.reject(psn);
  responses_.rejected(psn);
  if (others) note_gap();
}

void ResponderRules::note_gap() {
  const std::uint32_t missed = requests_.expected();
  if (naked_ == missed || (!gaps_.empty() && gaps_.back() == missed)) return;
  gaps_.push_back(missed);
}

void ResponderRules::sent(const Observation& seen) {
  if (!judge_.expect(!ended_ || hw::psn_before(seen.packet.psn, *ended_), Rule::kAnswerAfterNak,
                     seen, [&] { return "nothing from " + psn_text(*ended_) + " on"; })) {
    return;
  }
  if ((seen.packet.info().headers & hw::kHasAeth) != 0) check_aeth(seen);
  if (seen.packet.info().operation == hw::Operation::kAcknowledge) {
    acknowledge(seen);
  } else {
    data(seen);
  }
}

void ResponderRules::check_aeth(const Observation& seen) {
  const hw::Aeth& aeth = seen.packet.aeth;
  judge_.expect(hw::psn_distance(msn_, aeth.msn) >= 0, Rule::kMsnOrder, seen,
                [&] { return "MSN " + std::to_string(msn_) + " at least"; });
  if (hw::psn_before(msn_, aeth.msn)) msn_ = aeth.msn;
  if (hw::syndrome_kind(aeth.syndrome) != hw::SyndromeKind::kAck) return;
  judge_.expect(!qp_.uses_srq || hw::syndrome_value(aeth.syndrome) == hw::kNoCredits,
                Rule::kCreditCode, seen, [] { return "credit code 31"; });
}

// `least`: messages that are complete as far as this answer tells.
void ResponderRules::check_count(const Observation& seen, std::uint32_t least) {
  check_msn(seen, least, requests_.completed());
}

void ResponderRules::check_msn(const Observation& seen, std::uint32_t least, std::uint32_t most) {
  const std::uint32_t msn = seen.packet.aeth.msn;
  judge_.expect(hw::psn_distance(least, msn) >= 0 && hw::psn_distance(msn, most) >= 0,
                Rule::kMsnCount, seen,
                [&] { return "MSN " + std::to_string(least) + " to " + std::to_string(most); });
}

// All before `end` is answered with this packet, and no READ or atomic among it is left out.
void ResponderRules::check_order(const Observation& seen, std::uint32_t end) {
  const auto unanswered = responses_.oldest_unanswered();
  judge_.expect(!unanswered || hw::psn_distance(end, *unanswered) >= 0, Rule::kAckPassesResponse,
                seen, [&] { return "the response of " + psn_text(*unanswered) + " first"; });
  if (hw::psn_before(answered_, end)) answered_ = end;
  requests_.acknowledge_before(end);
}

void ResponderRules::acknowledge(const Observation& seen) {
  const std::uint8_t syndrome = seen.packet.aeth.syndrome;
  switch (hw::syndrome_kind(syndrome)) {
    case hw::SyndromeKind::kAck:
      return positive(seen);
    case hw::SyndromeKind::kRnrNak:
      return not_ready(seen);
    case hw::SyndromeKind::kNak:
      if (syndrome == hw::nak_syndrome(hw::NakCode::kPsnSequence)) return missing(seen);
      judge_.expect(syndrome <= hw::nak_syndrome(hw::NakCode::kRemoteOperational), Rule::kSyndrome,
                    seen, [] { return "a NAK code of RC"; });
      return fatal(seen);
    case hw::SyndromeKind::kReserved:
      judge_.expect(false, Rule::kSyndrome, seen, [] { return "ACK, RNR NAK or NAK"; });
  }
}

void ResponderRules::positive(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  const std::uint32_t end = hw::psn_add(psn, 1);
  if (!judge_.expect(requests_.arrived(psn), Rule::kAckArrived, seen,
                     [&] { return "a PSN before " + std::to_string(requests_.expected()); })) {
    return;
  }
  if (hw::psn_before(end, answered_)) {
    judge_.expect(take_duplicate(psn), Rule::kAckOrder, seen,
                  [&] { return psn_text(hw::psn_add(answered_, -1)) + " at least"; });
    return;
  }
  check_order(seen, end);
  check_count(seen, requests_.acknowledged());
}

// An ACK for a duplicate has its PSN or that of something later.
bool ResponderRules::take_duplicate(std::uint32_t psn) {
  const auto found = std::find_if(
      duplicates_.begin(), duplicates_.end(),
      [psn](std::uint32_t duplicate) { return hw::psn_distance(duplicate, psn) >= 0; });
  if (found == duplicates_.end()) return false;
  duplicates_.erase(found);
  return true;
}

void ResponderRules::not_ready(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  if (!judge_.expect(requests_.arrived(psn), Rule::kNakArrived, seen,
                     [&] { return "a PSN before " + std::to_string(requests_.expected()); })) {
    return;
  }
  const ArrivedMessage* message = requests_.find(psn);
  judge_.expect(message != nullptr && message->needs_receive_at(psn), Rule::kRnrNak, seen,
                [] { return "a request that needs a receive here"; });
  if (message == nullptr) return;
  check_order(seen, psn);
  naked_ = psn;
  check_msn(seen, message->completed, message->completed);
  if (take_copy(psn)) {
    uncertain_before_ = requests_.expected();
    return responses_.perhaps_rejected(psn);
  }
  gaps_.clear();
  requests_.reject(psn);
  responses_.rejected(psn);
}

// When the request arrived twice before its first copy was refused, the second may have been
// refused, accepted or discarded.
bool ResponderRules::take_copy(std::uint32_t psn) {
  const auto copy = std::find(duplicates_.begin(), duplicates_.end(), psn);
  if (copy == duplicates_.end()) return false;
  duplicates_.erase(copy);
  return true;
}

// So may have been all that arrived since, until there is an answer.
bool ResponderRules::uncertain() const {
  return uncertain_before_ && hw::psn_before(answered_, *uncertain_before_);
}

bool ResponderRules::may_be_discarded(std::uint32_t psn) const {
  return uncertain() && requests_.arrived(psn) && hw::psn_distance(answered_, psn) >= 0;
}

void ResponderRules::missing(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  const auto gap = std::find(gaps_.begin(), gaps_.end(), psn);
  const bool discarded = gap == gaps_.end() && may_be_discarded(psn);
  if (gap == gaps_.end() && naked_ == psn) {
    judge_.expect(false, Rule::kSequenceNakOnce, seen, [] { return "silence"; });
    return;
  }
  if (!judge_.expect(gap != gaps_.end() || discarded, Rule::kSequenceNak, seen, [&] {
        return gaps_.empty() ? "no packet is missed" : psn_text(gaps_.front());
      })) {
    return;
  }
  if (gap != gaps_.end()) gaps_.erase(gaps_.begin(), gap + 1);
  check_order(seen, psn);
  if (discarded) {
    requests_.reject(psn);
    responses_.rejected(psn);
  }
  if (psn == requests_.expected()) naked_ = psn;
  check_count(seen, requests_.acknowledged());
}

void ResponderRules::fatal(const Observation& seen) {
  const std::uint32_t psn = seen.packet.psn;
  judge_.expect(requests_.arrived(psn) || requests_.faulty(psn), Rule::kNakArrived, seen,
                [&] { return "a PSN before " + std::to_string(requests_.expected()); });
  const ArrivedMessage* message = requests_.find(psn);
  const bool access = seen.packet.aeth.syndrome == hw::nak_syndrome(hw::NakCode::kRemoteAccess);
  judge_.expect(!access || message == nullptr || message->names_key(), Rule::kAccessNak, seen,
                [] { return "a NAK that a SEND can have"; });
  const bool within_read = message != nullptr && psn != message->first_psn &&
                           message->operation == hw::Operation::kReadRequest;
  if (message != nullptr && !within_read) {
    check_order(seen, psn);
    requests_.reject(psn);
    check_count(seen, requests_.completed());
  }
  ended_ = psn;
}

void ResponderRules::data(const Observation& seen) {
  const fabric::Packet& packet = seen.packet;
  const hw::OpcodeInfo& info = packet.info();
  if ((info.headers & hw::kHasAeth) != 0) {
    judge_.expect(hw::syndrome_kind(packet.aeth.syndrome) == hw::SyndromeKind::kAck,
                  Rule::kSyndrome, seen, [] { return "the syndrome of an ACK"; });
  }
  // A duplicate may be of something that was forgotten.
  const ArrivedMessage* message = requests_.find(packet.psn);
  const std::uint32_t end = hw::psn_add(packet.psn, 1);
  if (message != nullptr) requests_.acknowledge_before(message->first_psn);
  if (message != nullptr && info.ends) requests_.acknowledge_before(end);
  if ((info.headers & hw::kHasAeth) != 0) check_count(seen, requests_.acknowledged());
  if (info.operation == hw::Operation::kReadResponse) {
    responses_.sent_read(seen);
  } else {
    responses_.sent_atomic(seen);
  }
  if (message != nullptr && hw::psn_before(answered_, end)) answered_ = end;
}

}  // namespace hcasim::monitor
