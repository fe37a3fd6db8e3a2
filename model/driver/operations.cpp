// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the adapter can be asked to send, and whether a request may be.
#include <cerrno>

#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

constexpr std::uint32_t kRc = 1u << IB_QPT_RC;
constexpr std::uint32_t kConnected = kRc | 1u << IB_QPT_UC;
constexpr std::uint32_t kAny = kConnected | 1u << IB_QPT_UD | 1u << IB_QPT_GSI | 1u << IB_QPT_SMI;
constexpr std::uint32_t kAtomic = RVT_OPERATION_ATOMIC | RVT_OPERATION_ATOMIC_SGE;

constexpr rvt_operation_table make_table() {
  rvt_operation_table table{};
  table[IB_WR_RDMA_WRITE] = {sizeof(ib_rdma_wr), kConnected, 0};
  table[IB_WR_RDMA_WRITE_WITH_IMM] = {sizeof(ib_rdma_wr), kConnected, 0};
  table[IB_WR_RDMA_READ] = {sizeof(ib_rdma_wr), kRc, RVT_OPERATION_ATOMIC};
  table[IB_WR_ATOMIC_CMP_AND_SWP] = {sizeof(ib_atomic_wr), kRc, kAtomic};
  table[IB_WR_ATOMIC_FETCH_AND_ADD] = {sizeof(ib_atomic_wr), kRc, kAtomic};
  table[IB_WR_SEND] = {sizeof(ib_send_wr), kAny, 0};
  table[IB_WR_SEND_WITH_IMM] = {sizeof(ib_send_wr), kAny, 0};
  table[IB_WR_SEND_WITH_INV] = {sizeof(ib_send_wr), kRc, 0};
  table[IB_WR_REG_MR] = {sizeof(ib_reg_wr), kConnected, RVT_OPERATION_LOCAL};
  table[IB_WR_LOCAL_INV] = {sizeof(ib_send_wr), kConnected, RVT_OPERATION_LOCAL};
  return table;
}

bool atomic_element_ok(const ib_send_wr* wr) {
  return wr->num_sge > 0 && wr->sg_list[0].length >= 8 && wr->sg_list[0].addr % 8 == 0;
}

bool flags_ok(const rvt_qp* qp, const rvt_operation_params& op, const ib_send_wr* wr) {
  if ((op.flags & RVT_OPERATION_PRIV) != 0 && ibpd_to_rvtpd(qp->ibqp.pd)->user) return false;
  if ((op.flags & RVT_OPERATION_ATOMIC_SGE) != 0 && !atomic_element_ok(wr)) return false;
  return (op.flags & RVT_OPERATION_ATOMIC) == 0 || qp->s_max_rd_atomic != 0;
}

}  // namespace

const rvt_operation_table rvt_hca_post_parms = make_table();

int rvt_qp_valid_operation(rvt_qp* qp, const rvt_operation_params* post_parms,
                           const ib_send_wr* wr) {
  if (wr->opcode >= RVT_OPERATION_MAX) return -EINVAL;
  const rvt_operation_params& op = post_parms[wr->opcode];
  if (op.length == 0 || (op.qpt_support & 1u << qp->ibqp.qp_type) == 0) return -EINVAL;
  if (op.flags != 0 && !flags_ok(qp, op, wr)) return -EINVAL;
  if (!rvt_is_datagram(qp)) return static_cast<int>(op.length);
  const ib_ah* ah = ud_wr(wr)->ah;
  if (ah == nullptr || ah->pd != qp->ibqp.pd) return -EINVAL;
  return sizeof(ib_ud_wr);
}

int rvt_qp_is_avail(rvt_qp* qp, rvt_dev_info* rdi, bool reserved_op) {
  const std::uint32_t reserved = rdi->dparms.reserved_operations;
  if (reserved_op) return qp->s_reserved_used >= reserved ? -ENOMEM : 0;
  if (qp->s_avail != 0) return 0;
  const auto free_slots = [&] {
    const std::uint32_t head = qp->s_head;
    const std::uint32_t last = qp->s_last;
    const std::uint32_t raw = head >= last ? qp->s_size - (head - last) : last - head;
    return static_cast<std::int64_t>(raw) - 1 - (reserved - qp->s_reserved_used);
  };
  std::int64_t free = free_slots();
  if (free <= 0) {
    // Slots whose completions nobody has polled yet are free all the same.
    rvt_cq_collect(ibcq_to_rvtcq(qp->ibqp.send_cq));
    free = free_slots();
  }
  if (free <= 0) return -ENOMEM;
  qp->s_avail = static_cast<std::uint32_t>(free);
  return 0;
}

}  // namespace hcasim::rvt
