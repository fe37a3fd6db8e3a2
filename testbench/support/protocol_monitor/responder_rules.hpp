// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "support/protocol_monitor/arrived_requests.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/response_rules.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// The rules of the answers of a queue pair of RC: it sees the requests that arrive and what the
/// queue pair answers.
class ResponderRules {
 public:
  ResponderRules(const MonitoredQp& qp, const Judge& judge);

  /// A request arrived.
  void arrived(const Observation& seen);
  /// A request that had arrived was dropped.
  void discarded(const Observation& seen);
  /// The queue pair put an answer on the wire.
  void sent(const Observation& seen);

 private:
  void acknowledge(const Observation& seen);
  void positive(const Observation& seen);
  void not_ready(const Observation& seen);
  void missing(const Observation& seen);
  void fatal(const Observation& seen);
  void data(const Observation& seen);
  void check_aeth(const Observation& seen);
  void check_count(const Observation& seen, std::uint32_t least);
  void check_msn(const Observation& seen, std::uint32_t least, std::uint32_t most);
  void check_order(const Observation& seen, std::uint32_t end);
  void note_gap();
  bool take_duplicate(std::uint32_t psn);
  bool take_copy(std::uint32_t psn);
  bool uncertain() const;
  bool may_be_discarded(std::uint32_t psn) const;

  const MonitoredQp& qp_;
  Judge judge_;
  ArrivedRequests requests_;
  ResponseRules responses_;
  std::uint32_t answered_;                // PSN after the highest that was answered
  std::uint32_t msn_ = 0;                 // of the last answer
  std::deque<std::uint32_t> duplicates_;  // PSNs of those that may not have been answered yet
  std::optional<std::uint32_t>
      uncertain_before_;                // what arrived may have been discarded up to here
  std::deque<std::uint32_t> gaps_;      // PSNs that are missed and not reported yet
  std::optional<std::uint32_t> naked_;  // PSN of a NAK that is to come again
  std::optional<std::uint32_t> ended_;  // PSN of the NAK that ends the connection
};

}  // namespace hcasim::monitor
