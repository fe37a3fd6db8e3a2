// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hcasim/rvt/rdmavt_qp.hpp"
#include "support/protocol_monitor/ack_timeout.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"

namespace hcasim::monitor {

/// What a driver's queue pair tells in RTS, before anything is posted.
/// @param rq_psn first PSN that it expects
inline MonitoredQp monitored(rvt::ib_qp* verbs_qp, std::uint32_t rq_psn) {
  const rvt::rvt_qp& qp = *rvt::ibqp_to_rvtqp(verbs_qp);
  MonitoredQp known;
  known.qpn = verbs_qp->qp_num;
  known.remote_qpn = qp.remote_qpn;
  known.service = static_cast<hw::Transport>(qp.allowed_ops);
  known.mtu = 1u << qp.log_pmtu;
  known.sq_psn = qp.s_next_psn;
  known.rq_psn = rq_psn;
  known.max_rd_atomic = qp.s_max_rd_atomic;
  known.uses_srq = verbs_qp->srq != nullptr;
  known.qkey = qp.qkey;
  known.ack_timeout = ack_timeout(qp.timeout);
  return known;
}

}  // namespace hcasim::monitor
