// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "hcasim/hw/wire/psn.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// The rules of answers that carry data: READ responses and atomic ACKs, in the order of the
/// requests, and those of duplicates.
class ResponseRules {
 public:
  ResponseRules(const MonitoredQp& qp, const Judge& judge) : qp_(qp), judge_(judge) {}

  /// A READ or an atomic arrived.
  void asked(const fabric::Packet& request, bool duplicate);
  /// The responder did not take the request of this PSN, nor what came after it.
  void rejected(std::uint32_t psn);
  /// It may not have taken them.
  void perhaps_rejected(std::uint32_t psn);
  /// First PSN of the oldest request, not a duplicate, whose response is not complete.
  std::optional<std::uint32_t> oldest_unanswered() const;

  /// The responder sent a READ response.
  void sent_read(const Observation& seen);
  /// The responder sent an atomic ACK.
  void sent_atomic(const Observation& seen);

 private:
  struct Asked {
    hw::Operation operation;
    std::uint32_t first_psn;
    std::uint32_t psns;
    std::uint32_t length;
    bool duplicate;  // or for another reason not to be answered by all means
  };
  struct Value {
    std::uint32_t psn;
    std::uint64_t original;
  };
  /// The READ response being sent.
  struct Stream {
    bool open = false;
    std::uint32_t next_psn = 0;
    std::uint64_t sent = 0;
    std::uint64_t length = 0;
  };

  bool take(const Observation& seen, bool read);
  void check_skipped(const Observation& seen, Asked& taken, std::ptrdiff_t count);
  void begin(const Observation& seen);
  void check_value(const Observation& seen, bool duplicate);

  const MonitoredQp& qp_;
  Judge judge_;
  std::deque<Asked> asked_;
  std::deque<Value> values_;
  Stream stream_;
};

}  // namespace hcasim::monitor
