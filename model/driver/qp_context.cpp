// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A queue pair as the adapter's context of it, and attributes laid over either.
#include <algorithm>

#include "driver/qp_internal.hpp"

namespace hcasim::rvt {
namespace {

bool has(std::uint32_t mask, ib_qp_attr_mask bit) {
  return (mask & bit) != 0;
}

std::uint8_t mtu_code(std::uint32_t bytes) {
  std::uint8_t code = 0;
  while (code < IB_MTU_4096 && (128u << (code + 1)) <= bytes) ++code;
  return code;
}

std::uint32_t cq_number(ib_cq* cq) {
  return cq == nullptr ? 0 : ibcq_to_rvtcq(cq)->cqn;
}

// The kernel's port of a flow label: 14 bits of it, folded, in the dynamic range.
std::uint16_t udp_port_of(std::uint32_t flow_label) {
  constexpr std::uint32_t kLow = 0x03fff;
  constexpr std::uint32_t kHigh = 0xfc000;
  const std::uint32_t folded = (flow_label & kLow) ^ ((flow_label & kHigh) >> 14);
  return static_cast<std::uint16_t>(folded | 0xc000);
}

void fill_rings(hw::QpContext& context, const rvt_qp* qp) {
  context.sq_size = qp->s_size;
  context.sq_base = qp->s_ring;
  context.sq_stride = qp->s_stride;
  context.rq_size = qp->r_rq.size;
  context.rq_base = qp->r_rq.wq;
  context.rq_stride = qp->r_rq.stride;
  context.rq_head = qp->r_rq.head;
  context.tail_record = qp->r_rq.tail_record;
}

void fill_attributes(hw::QpContext& context, const rvt_qp* qp) {
  context.path_mtu = rvt_is_datagram(qp) ? rvt_port_mtu(qp->rdi) : mtu_code(qp->pmtu);
  context.timeout = qp->timeout;
  context.retry_cnt = qp->s_retry_cnt;
  context.rnr_retry = qp->s_rnr_retry_cnt;
  context.min_rnr_timer = qp->r_min_rnr_timer;
  context.remote_qpn = qp->remote_qpn;
  context.sq_psn = qp->s_next_psn & RVT_PSN_MASK;
  context.rq_psn = qp->r_psn;
  context.access_flags = qp->qp_access_flags;
  context.max_rd_atomic = qp->s_max_rd_atomic;
  context.max_dest_rd_atomic = qp->r_max_rd_atomic;
  context.pkey_index = qp->s_pkey_index;
  context.qkey = qp->qkey;
  context.av = rvt_address_vector(qp->remote_ah_attr);
  context.port = static_cast<std::uint8_t>(qp->port_num);
}

}  // namespace

std::uint8_t rvt_port_mtu(const rvt_dev_info* rdi) {
  return mtu_code(rdi->limits.max_mtu);
}

std::uint8_t rvt_path_mtu(const rvt_dev_info* rdi, ib_mtu requested) {
  if (ib_mtu_enum_to_int(requested) < 0) return 0;
  return std::min<std::uint8_t>(requested, rvt_port_mtu(rdi));
}

hw::AddressVector rvt_address_vector(const rdma_ah_attr& ah) {
  hw::AddressVector av{};
  av.sgid = ah.grh.sgid.raw;
  av.dgid = ah.grh.dgid.raw;
  av.smac = ah.roce.smac;
  av.dmac = ah.roce.dmac;
  av.udp_sport = ah.roce.udp_sport != 0 ? ah.roce.udp_sport : udp_port_of(ah.grh.flow_label);
  av.traffic_class = ah.grh.traffic_class;
  av.hop_limit = ah.grh.hop_limit;
  av.port = ah.port_num;
  return av;
}

hw::QpContext rvt_qp_context(const rvt_qp* qp) {
  hw::QpContext context{};
  context.qpn = qp->ibqp.qp_num;
  context.pd = qp->ibqp.pd == nullptr ? 0 : ibpd_to_rvtpd(qp->ibqp.pd)->number;
  context.type = static_cast<hw::QpType>(qp->ibqp.qp_type);
  context.state = static_cast<hw::QpState>(qp->state);
  context.uses_srq = qp->ibqp.srq != nullptr ? 1 : 0;
  context.srqn = qp->ibqp.srq != nullptr ? ibsrq_to_rvtsrq(qp->ibqp.srq)->srqn : 0;
  context.send_cqn = cq_number(qp->ibqp.send_cq);
  context.recv_cqn = cq_number(qp->ibqp.recv_cq);
  fill_rings(context, qp);
  fill_attributes(context, qp);
  return context;
}

void rvt_overlay_context(hw::QpContext& context, const ib_qp_attr& attr, std::uint32_t mask,
                         const rvt_dev_info* rdi) {
  if (has(mask, IB_QP_ACCESS_FLAGS)) context.access_flags = attr.qp_access_flags;
  if (has(mask, IB_QP_PKEY_INDEX)) context.pkey_index = attr.pkey_index;
  if (has(mask, IB_QP_QKEY)) context.qkey = attr.qkey;
  if (has(mask, IB_QP_AV)) context.av = rvt_address_vector(attr.ah_attr);
  if (has(mask, IB_QP_PORT)) context.port = static_cast<std::uint8_t>(attr.port_num);
  if (has(mask, IB_QP_PATH_MTU)) context.path_mtu = rvt_path_mtu(rdi, attr.path_mtu);
  if (has(mask, IB_QP_TIMEOUT)) context.timeout = std::min<std::uint8_t>(attr.timeout, 31);
  if (has(mask, IB_QP_RETRY_CNT)) context.retry_cnt = attr.retry_cnt;
  if (has(mask, IB_QP_RNR_RETRY)) context.rnr_retry = attr.rnr_retry;
  if (has(mask, IB_QP_RQ_PSN)) context.rq_psn = attr.rq_psn & RVT_PSN_MASK;
  if (has(mask, IB_QP_SQ_PSN)) context.sq_psn = attr.sq_psn & RVT_PSN_MASK;
  if (has(mask, IB_QP_MAX_QP_RD_ATOMIC)) context.max_rd_atomic = attr.max_rd_atomic;
  if (has(mask, IB_QP_MAX_DEST_RD_ATOMIC)) context.max_dest_rd_atomic = attr.max_dest_rd_atomic;
  if (has(mask, IB_QP_MIN_RNR_TIMER)) context.min_rnr_timer = attr.min_rnr_timer;
  if (has(mask, IB_QP_DEST_QPN)) context.remote_qpn = attr.dest_qp_num;
}

namespace {

void commit_path(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask) {
  if (has(mask, IB_QP_PORT)) qp->port_num = attr.port_num;
  if (has(mask, IB_QP_PKEY_INDEX)) qp->s_pkey_index = attr.pkey_index;
  if (has(mask, IB_QP_DEST_QPN)) qp->remote_qpn = attr.dest_qp_num;
  if (has(mask, IB_QP_AV)) qp->remote_ah_attr = attr.ah_attr;
  if (has(mask, IB_QP_ALT_PATH)) {
    qp->alt_ah_attr = attr.alt_ah_attr;
    qp->s_alt_pkey_index = attr.alt_pkey_index;
    qp->alt_timeout = attr.alt_timeout;
  }
  if (has(mask, IB_QP_PATH_MIG_STATE)) qp->s_mig_state = attr.path_mig_state;
  if (has(mask, IB_QP_PATH_MTU)) {
    const std::uint8_t code = rvt_path_mtu(qp->rdi, attr.path_mtu);
    qp->pmtu = 128u << code;
    qp->log_pmtu = static_cast<std::uint8_t>(7 + code);
  }
}

void commit_limits(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask) {
  if (has(mask, IB_QP_TIMEOUT)) qp->timeout = std::min<std::uint8_t>(attr.timeout, 31);
  if (has(mask, IB_QP_RETRY_CNT)) qp->s_retry_cnt = attr.retry_cnt;
  if (has(mask, IB_QP_RNR_RETRY)) qp->s_rnr_retry_cnt = qp->s_rnr_retry = attr.rnr_retry;
  if (has(mask, IB_QP_MIN_RNR_TIMER)) qp->r_min_rnr_timer = attr.min_rnr_timer;
  if (has(mask, IB_QP_MAX_QP_RD_ATOMIC)) qp->s_max_rd_atomic = attr.max_rd_atomic;
  if (has(mask, IB_QP_MAX_DEST_RD_ATOMIC)) qp->r_max_rd_atomic = attr.max_dest_rd_atomic;
}

}  // namespace

void rvt_commit_attributes(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask) {
  if (has(mask, IB_QP_ACCESS_FLAGS)) qp->qp_access_flags = attr.qp_access_flags;
  if (has(mask, IB_QP_QKEY)) qp->qkey = attr.qkey;
  if (has(mask, IB_QP_SQ_PSN)) qp->s_next_psn = attr.sq_psn & RVT_PSN_MASK;
  if (has(mask, IB_QP_RQ_PSN)) qp->r_psn = attr.rq_psn & RVT_PSN_MASK;
  commit_path(qp, attr, mask);
  commit_limits(qp, attr, mask);
}

}  // namespace hcasim::rvt
