// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hcasim/hw/contexts.hpp"
#include "support/protocol_monitor/ack_timeout.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"

namespace hcasim::monitor {

/// What software told an adapter of a queue pair.
inline MonitoredQp monitored(const hw::QpContext& context) {
  MonitoredQp qp;
  qp.qpn = context.qpn;
  qp.remote_qpn = context.remote_qpn;
  if (context.type == hw::QpType::kUc) qp.service = hw::Transport::kUc;
  if (context.type == hw::QpType::kUd) qp.service = hw::Transport::kUd;
  qp.mtu = 128u << context.path_mtu;
  qp.sq_psn = context.sq_psn;
  qp.rq_psn = context.rq_psn;
  qp.max_rd_atomic = context.max_rd_atomic;
  qp.uses_srq = context.uses_srq != 0;
  qp.qkey = context.qkey;
  qp.ack_timeout = ack_timeout(context.timeout);
  return qp;
}

}  // namespace hcasim::monitor
