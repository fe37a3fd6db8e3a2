// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/sent_messages.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// When a requester may send again, and what.
class RepeatRules {
 public:
  RepeatRules(const MonitoredQp& qp, const MonitorOptions& options, const Judge& judge)
      : qp_(qp), reaction_(options.reaction), judge_(judge) {}

  /// A sequence NAK arrived.
  void caused(hw::Time at);
  /// It turned out that the response of this PSN was lost. What comes after it until it arrives
  /// tells nothing new.
  void response_lost(std::uint32_t psn, hw::Time at);
  /// An RNR NAK arrived.
  void not_ready(std::uint8_t syndrome, hw::Time at);
  /// When the wait that an RNR NAK asked for is over.
  hw::Time ready_at() const { return ready_at_; }
  /// The timer starts anew: there was an answer, or the first of a row of packets.
  void waits_since(hw::Time at);

  /// The requester goes back to a packet.
  void went_back(const Observation& seen);
  /// A packet of a PSN that was sent before.
  void check_same(const Observation& seen, const SentMessage& message) const;

 private:
  bool timed_out(hw::Time at) const;
  bool same_data(const fabric::Packet& packet, const SentMessage& message) const;
  bool same_read(const fabric::Packet& packet, const SentMessage& message) const;

  const MonitoredQp& qp_;
  hw::Time reaction_;
  Judge judge_;
  std::uint32_t causes_ = 0;
  hw::Time caused_at_ = 0;
  std::optional<std::uint32_t> lost_;  // PSN of a response
  hw::Time waiting_since_ = 0;
  hw::Time overdue_at_ = hw::kNever;  // when an answer came after the timeout
  hw::Time not_ready_at_ = 0;
  hw::Time ready_at_ = 0;
};

}  // namespace hcasim::monitor
