// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "support/protocol_monitor/credit_rules.hpp"
#include "support/protocol_monitor/heard_answers.hpp"
#include "support/protocol_monitor/lagging_psn.hpp"
#include "support/protocol_monitor/message_form.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/repeat_rules.hpp"
#include "support/protocol_monitor/sent_messages.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// The rules of the requests of a queue pair of RC: it sees those that the queue pair sends and the
/// answers that arrive. A requester that has gone back need not mind answers to what it is to send
/// again, and from outside it cannot be seen which of them it minds: it may have heard as little as
/// `at_least_` and as much as `at_most_`. Without faults these are the same.
class RequesterRules {
 public:
  RequesterRules(const MonitoredQp& qp, const MonitorOptions& options, const Judge& judge);

  /// The queue pair put a request on the wire.
  void sent(const Observation& seen);
  /// An answer arrived.
  void arrived(const Observation& seen);
  /// An answer that had arrived was dropped.
  void discarded(const Observation& seen);

 private:
  void place(const Observation& seen);
  void go_back(const Observation& seen);
  void fresh(const Observation& seen);
  void check_reads(const Observation& seen);
  bool has_to_mind(const Observation& seen) const;
  void heard(HeardAnswers& answers, const Observation& seen);
  void refused(const Observation& seen);

  const MonitoredQp& qp_;
  hw::Time reaction_;
  Judge judge_;
  MessageForm form_;
  SentMessages messages_;
  CreditRules credit_;
  RepeatRules repeats_;
  std::uint32_t next_;    // PSN after the packet sent last
  std::uint32_t newest_;  // PSN after all that were ever sent
  HeardAnswers at_most_;
  HeardAnswers at_least_;
  std::optional<std::uint32_t> not_ready_;  // PSN of an RNR NAK
  LaggingPsn acknowledged_;                 // at_least_.next(), a while ago
  hw::Time ended_at_ = hw::kNever;          // when the NAK arrived that ends the connection
};

}  // namespace hcasim::monitor
