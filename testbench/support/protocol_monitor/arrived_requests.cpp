// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/arrived_requests.hpp"

#include <algorithm>

namespace hcasim::monitor {

bool ArrivedMessage::needs_receive_at(std::uint32_t psn) const {
  if (operation == hw::Operation::kSend) return psn == first_psn;
  return complete && (headers & hw::kHasImmDt) != 0 && hw::psn_add(psn, 1) == end_psn();
}

bool ArrivedMessage::names_key() const {
  if (operation != hw::Operation::kSend) return true;
  return (headers & hw::kHasIeth) != 0;
}

Arrival ArrivedRequests::arrive(const fabric::Packet& packet) {
  const std::int32_t gap = hw::psn_distance(expected_, packet.psn);
  if (gap < 0) return Arrival::kDuplicate;
  if (faulty_) return Arrival::kFaulty;
  if (gap > 0) return Arrival::kAhead;
  if (form_.broken_by(packet)) {
    faulty_ = true;
    fault_ = {packet.info().operation, packet.info().headers, packet.psn, 1, completed_, 0, true};
    return Arrival::kFaulty;
  }
  accept(packet);
  return Arrival::kNew;
}

void ArrivedRequests::accept(const fabric::Packet& packet) {
  const hw::OpcodeInfo& info = packet.info();
  form_.take(packet);
  if (info.starts) {
    messages_.push_back({info.operation, 0, packet.psn, 0, completed_, packet.reth.length, false});
  }
  ArrivedMessage& message = messages_.back();
  const std::uint32_t psns = psns_of(packet, mtu_);
  message.headers = info.headers;
  message.psns += psns;
  message.complete = info.ends;
  expected_ = hw::psn_add(expected_, psns);
  if (info.ends) completed_ = (completed_ + 1) & hw::kPsnMask;
}

const ArrivedMessage* ArrivedRequests::find(std::uint32_t psn) const {
  if (faulty(psn)) return &fault_;
  const auto found = std::partition_point(messages_.begin(), messages_.end(),
                                          [psn](const ArrivedMessage& message) {
                                            return hw::psn_distance(message.end_psn(), psn) >= 0;
                                          });
  if (found == messages_.end() || hw::psn_before(psn, found->first_psn)) return nullptr;
  return &*found;
}

void ArrivedRequests::acknowledge_before(std::uint32_t psn) {
  while (!messages_.empty() && messages_.front().complete &&
         hw::psn_distance(messages_.front().end_psn(), psn) >= 0) {
    acknowledged_ = (messages_.front().completed + 1) & hw::kPsnMask;
    messages_.pop_front();
  }
}

void ArrivedRequests::reject(std::uint32_t psn) {
  faulty_ = false;
  expected_ = psn;
  form_.close();
  while (!messages_.empty() && hw::psn_distance(psn, messages_.back().first_psn) >= 0) {
    completed_ = messages_.back().completed;
    messages_.pop_back();
  }
  if (messages_.empty() || hw::psn_distance(messages_.back().end_psn(), psn) >= 0) return;
  ArrivedMessage& message = messages_.back();
  completed_ = message.completed;
  message.complete = false;
  message.psns = static_cast<std::uint32_t>(hw::psn_distance(message.first_psn, psn));
  form_.resume(message.operation, std::uint64_t{message.psns} * mtu_, message.dma_length);
}

}  // namespace hcasim::monitor
