// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "hcasim/rvt/verbs.hpp"
#include "sim/system/node_system.hpp"

namespace hcasim::support {

/// Key of all datagrams.
inline constexpr std::uint32_t kQkey = 0x1111'1111;

/// How a pair of queue pairs is to be made.
struct PairOptions {
  rvt::ib_qp_type type = rvt::IB_QPT_RC;  ///< or UC; or UD, whose sends name their peer themselves
  rvt::ib_mtu mtu = rvt::IB_MTU_1024;
  std::uint32_t max_wr = 64;
  std::uint32_t max_sge = 8;
  std::uint32_t max_inline = 64;
  std::uint32_t sq_psn = 0;
  std::uint8_t timeout = 14;
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
};

/// The path from one node to another.
inline rvt::rdma_ah_attr path_between(const sim::NodeAddress& from, const sim::NodeAddress& to) {
  rvt::rdma_ah_attr path;
  path.grh.sgid = from.gid;
  path.grh.dgid = to.gid;
  path.roce.smac = from.mac;
  path.roce.dmac = to.mac;
  return path;
}

/// RESET to INIT, with all remote rights. Tasks only.
inline void to_init(rvt::ib_qp* qp) {
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags =
      rvt::IB_ACCESS_REMOTE_WRITE | rvt::IB_ACCESS_REMOTE_READ | rvt::IB_ACCESS_REMOTE_ATOMIC;
  attr.qkey = kQkey;
  const int own = qp->qp_type == rvt::IB_QPT_UD ? rvt::IB_QP_QKEY : rvt::IB_QP_ACCESS_FLAGS;
  ASSERT_EQ(rvt::ib_modify_qp(qp, &attr,
                              rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT | own),
            0);
}

/// INIT to RTR to RTS, with both ends' first PSN that of the options. Tasks only.
inline void to_rts(rvt::ib_qp* qp, std::uint32_t peer_qpn, const rvt::rdma_ah_attr& path,
                   const PairOptions& options) {
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_RTR;
  attr.path_mtu = options.mtu;
  attr.dest_qp_num = peer_qpn;
  attr.rq_psn = options.sq_psn;
  attr.max_dest_rd_atomic = 16;
  attr.min_rnr_timer = options.min_rnr_timer;
  attr.ah_attr = path;
  const bool reliable = options.type == rvt::IB_QPT_RC;
  int mask = rvt::IB_QP_STATE;
  if (options.type != rvt::IB_QPT_UD) {
    mask |= rvt::IB_QP_AV | rvt::IB_QP_PATH_MTU | rvt::IB_QP_DEST_QPN | rvt::IB_QP_RQ_PSN;
  }
  if (reliable) mask |= rvt::IB_QP_MAX_DEST_RD_ATOMIC | rvt::IB_QP_MIN_RNR_TIMER;
  ASSERT_EQ(rvt::ib_modify_qp(qp, &attr, mask), 0);
  attr.qp_state = rvt::IB_QPS_RTS;
  attr.sq_psn = options.sq_psn;
  attr.timeout = options.timeout;
  attr.retry_cnt = options.retry_cnt;
  attr.rnr_retry = options.rnr_retry;
  attr.max_rd_atomic = 16;
  mask = rvt::IB_QP_STATE | rvt::IB_QP_SQ_PSN;
  if (reliable) {
    mask |= rvt::IB_QP_TIMEOUT | rvt::IB_QP_RETRY_CNT | rvt::IB_QP_RNR_RETRY |
            rvt::IB_QP_MAX_QP_RD_ATOMIC;
  }
  ASSERT_EQ(rvt::ib_modify_qp(qp, &attr, mask), 0);
}

}  // namespace hcasim::support
