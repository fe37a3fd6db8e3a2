// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What rvt_modify_qp checks, in the order of the reference.
#include <cerrno>

#include "driver/qp_internal.hpp"
#include "hcasim/rvt/rdmavt_ah.hpp"

namespace hcasim::rvt {
namespace {

constexpr std::uint16_t kMulticastLidBase = 0xc000;
constexpr std::uint8_t kMaxRnrTimer = 31;
constexpr std::uint8_t kMaxRetries = 7;

bool special(const rvt_qp* qp) {
  return qp->ibqp.qp_type == IB_QPT_SMI || qp->ibqp.qp_type == IB_QPT_GSI;
}

bool path_ok(rvt_qp* qp, const rdma_ah_attr& ah) {
  return ah.dlid < kMulticastLidBase && rvt_check_ah(qp->ibqp.device, &ah) == 0;
}

bool port_ok(const rvt_qp* qp, std::uint32_t port) {
  return !special(qp) && port >= 1 && port <= qp->rdi->ports.size();
}

bool paths_ok(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask) {
  const std::uint32_t npkeys = qp->rdi->dparms.npkeys;
  if ((mask & IB_QP_AV) != 0 && !path_ok(qp, attr.ah_attr)) return false;
  if ((mask & IB_QP_ALT_PATH) != 0 &&
      (!path_ok(qp, attr.alt_ah_attr) || attr.alt_pkey_index >= npkeys)) {
    return false;
  }
  return (mask & IB_QP_PKEY_INDEX) == 0 || attr.pkey_index < npkeys;
}

bool numbers_ok(const rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask) {
  if ((mask & IB_QP_MIN_RNR_TIMER) != 0 && attr.min_rnr_timer > kMaxRnrTimer) return false;
  if ((mask & IB_QP_PORT) != 0 && !port_ok(qp, attr.port_num)) return false;
  if ((mask & IB_QP_DEST_QPN) != 0 && attr.dest_qp_num > RVT_QPN_MASK) return false;
  if ((mask & IB_QP_RETRY_CNT) != 0 && attr.retry_cnt > kMaxRetries) return false;
  if ((mask & IB_QP_RNR_RETRY) != 0 && attr.rnr_retry > kMaxRetries) return false;
  return (mask & IB_QP_PATH_MTU) == 0 || rvt_path_mtu(qp->rdi, attr.path_mtu) != 0;
}

bool migration_ok(const rvt_qp* qp, ib_mig_state wanted, ib_qp_state next) {
  if (wanted == IB_MIG_REARM) return qp->s_mig_state != IB_MIG_ARMED && next == IB_QPS_RTS;
  return wanted == IB_MIG_MIGRATED && qp->s_mig_state != IB_MIG_REARM &&
         (next == IB_QPS_RTS || next == IB_QPS_SQD);
}

}  // namespace

int rvt_check_modify(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask, ib_qp_state next) {
  if (!paths_ok(qp, attr, mask) || !numbers_ok(qp, attr, mask)) return -EINVAL;
  if ((mask & IB_QP_PATH_MIG_STATE) != 0 && !migration_ok(qp, attr.path_mig_state, next)) {
    return -EINVAL;
  }
  const bool too_deep = (mask & IB_QP_MAX_DEST_RD_ATOMIC) != 0 &&
                        attr.max_dest_rd_atomic > qp->rdi->dparms.max_rdma_atomic;
  return too_deep ? -EINVAL : 0;
}

}  // namespace hcasim::rvt
