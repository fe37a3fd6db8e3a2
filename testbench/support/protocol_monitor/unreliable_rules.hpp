// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/protocol_monitor/message_form.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// The rules of what a queue pair of UC or UD sends: nothing is left out and nothing sent again.
class UnreliableRules {
 public:
  UnreliableRules(const MonitoredQp& qp, const Judge& judge)
      : judge_(judge), form_(qp.mtu), next_(qp.sq_psn) {}

  void sent(const Observation& seen);

 private:
  Judge judge_;
  MessageForm form_;
  std::uint32_t next_;
};

}  // namespace hcasim::monitor
