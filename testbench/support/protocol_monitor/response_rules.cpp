// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/response_rules.hpp"

#include <algorithm>
#include <string>

#include "support/protocol_monitor/message_form.hpp"

namespace hcasim::monitor {

namespace {
// Most a responder has to keep, with room: requests and values in flight.
constexpr std::size_t kKept = 512;
}  // namespace

void ResponseRules::asked(const fabric::Packet& request, bool duplicate) {
  asked_.push_back({request.info().operation, request.psn, psns_of(request, qp_.mtu),
                    request.reth.length, duplicate});
  // A responder need not answer a duplicate.
  if (asked_.size() > kKept && asked_.front().duplicate && !stream_.open) asked_.pop_front();
}

void ResponseRules::rejected(std::uint32_t psn) {
  const auto goes = [psn](const Asked& asked) {
    return hw::psn_distance(psn, asked.first_psn) >= 0;
  };
  if (!asked_.empty() && goes(asked_.front())) stream_.open = false;
  std::erase_if(asked_, goes);
}

void ResponseRules::perhaps_rejected(std::uint32_t psn) {
  for (Asked& asked : asked_) asked.duplicate |= hw::psn_distance(psn, asked.first_psn) >= 0;
}

std::optional<std::uint32_t> ResponseRules::oldest_unanswered() const {
  for (const Asked& asked : asked_) {
    if (!asked.duplicate) return asked.first_psn;
  }
  return std::nullopt;
}

// Finds the request that a response begins to answer, and makes it the front.
bool ResponseRules::take(const Observation& seen, bool read) {
  const auto fits = [&](const Asked& asked) {
    return asked.first_psn == seen.packet.psn &&
           (asked.operation == hw::Operation::kReadRequest) == read;
  };
  if (stream_.open && std::none_of(asked_.begin() + 1, asked_.end(), fits)) {
    const bool again = fits(asked_.front());
    judge_.expect(!again, Rule::kReadOpcode, seen, [] { return "the rest of the response"; });
    if (again) return true;
  }
  const auto found = std::find_if(asked_.begin() + (stream_.open ? 1 : 0), asked_.end(), fits);
  const Rule rule = read ? Rule::kReadUnasked : Rule::kAtomicUnasked;
  if (!judge_.expect(found != asked_.end(), rule, seen, [] { return "a request of this PSN"; })) {
    return false;
  }
  check_skipped(seen, *found, found - asked_.begin());
  asked_.erase(asked_.begin(), found);
  return true;
}

// Duplicates need no answer. A duplicate of the rest of a READ that is being answered takes its
// place.
void ResponseRules::check_skipped(const Observation& seen, Asked& taken, std::ptrdiff_t count) {
  const auto unanswered = [](const Asked& asked) { return !asked.duplicate; };
  const auto end = asked_.begin() + count;
  auto skipped = std::find_if(asked_.begin(), end, unanswered);
  if (skipped == asked_.begin() && skipped != end && stream_.open && taken.duplicate &&
      hw::psn_within(taken.first_psn, skipped->first_psn,
                     hw::psn_add(skipped->first_psn, skipped->psns - 1))) {
    taken.duplicate = false;
    skipped = std::find_if(skipped + 1, end, unanswered);
  }
  judge_.expect(skipped == end, Rule::kAckPassesResponse, seen, [&] {
    return "the response of PSN " + std::to_string(skipped->first_psn) + " first";
  });
}

void ResponseRules::begin(const Observation& seen) {
  const bool known = take(seen, true);
  stream_ = {known, seen.packet.psn, 0, known ? asked_.front().length : 0};
}

void ResponseRules::sent_read(const Observation& seen) {
  const fabric::Packet& packet = seen.packet;
  const hw::OpcodeInfo& info = packet.info();
  if (info.starts) {
    begin(seen);
  } else {
    judge_.expect(stream_.open, Rule::kReadOpcode, seen, [] { return "FIRST or ONLY"; });
  }
  if (!stream_.open) return;
  judge_.expect(packet.psn == stream_.next_psn, Rule::kReadPsn, seen,
                [&] { return "PSN " + std::to_string(stream_.next_psn); });
  const std::uint64_t left = stream_.length - stream_.sent;
  const bool last = left <= qp_.mtu;
  const std::uint64_t bytes = std::min<std::uint64_t>(left, qp_.mtu);
  judge_.expect(info.ends == last, Rule::kReadOpcode, seen,
                [last] { return last ? "LAST or ONLY" : "FIRST or MIDDLE"; });
  judge_.expect(packet.payload_size() == bytes, Rule::kReadLength, seen,
                [bytes] { return std::to_string(bytes) + " bytes"; });
  stream_.next_psn = hw::psn_add(stream_.next_psn, 1);
  stream_.sent += bytes;
  if (!last && !info.ends) return;
  stream_.open = false;
  asked_.pop_front();
}

void ResponseRules::sent_atomic(const Observation& seen) {
  if (!take(seen, false)) return;
  check_value(seen, asked_.front().duplicate);
  asked_.pop_front();
}

void ResponseRules::check_value(const Observation& seen, bool duplicate) {
  const fabric::Packet& packet = seen.packet;
  const auto known = std::find_if(values_.rbegin(), values_.rend(),
                                  [&](const Value& value) { return value.psn == packet.psn; });
  if (duplicate && known != values_.rend()) {
    judge_.expect(packet.atomic_ack.original == known->original, Rule::kAtomicValue, seen,
                  [&] { return "value " + std::to_string(known->original); });
    return;
  }
  values_.push_back({packet.psn, packet.atomic_ack.original});
  if (values_.size() > kKept) values_.pop_front();
}

}  // namespace hcasim::monitor
