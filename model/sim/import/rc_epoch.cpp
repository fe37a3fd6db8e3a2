// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/rc_epoch.hpp"

#include <algorithm>

#include "sim/import/rc_answers.hpp"
#include "sim/import/rc_messages.hpp"

namespace hcasim::sim {

namespace {
// Without a FIRST or MIDDLE in the whole connection no answer had a second packet.
constexpr std::uint32_t kMaxMtu = 4096;
}  // namespace

LinePsn RcEpoch::span_of(const SeenPacket& packet) const {
  if (packet.info().operation != hw::Operation::kReadRequest) return 1;
  const std::uint32_t mtu = ends_.path_mtu != 0 ? ends_.path_mtu : kMaxMtu;
  const std::uint32_t length = flow_->details_of(packet).reth.length;
  return length == 0 ? 1 : (LinePsn{length} + mtu - 1) / mtu;
}

bool RcEpoch::add_request(const SeenPacket& packet) {
  const LinePsn first = line_.place(packet.psn);
  const auto after = std::ranges::upper_bound(pieces_, first, {}, &RequestPiece::first);
  if (after != pieces_.begin() && std::prev(after)->last >= first) return false;
  LinePsn last = first + span_of(packet) - 1;
  if (after != pieces_.end()) last = std::min(last, after->first - 1);
  pieces_.insert(after, {first, last, &packet});
  line_.raise(last);
  return true;
}

void RcEpoch::add_answer(const SeenPacket& packet) {
  answers_.push_back({line_.started() ? line_.place(packet.psn) : -1, &packet});
}

void RcEpoch::settle(CaptureAnalysis& analysis) const {
  std::vector<RcMessage> messages = assemble_messages(*flow_, ends_, pieces_, analysis.unexplained);
  RcAnswers book(pieces_, messages, analysis);
  for (const Answer& answer : answers_) book.apply(answer);
  for (RcMessage& message : messages) count_message(std::move(message.record), analysis);
}

}  // namespace hcasim::sim
