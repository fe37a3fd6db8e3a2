// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Making and destroying queue pairs.
#include <algorithm>
#include <cerrno>

#include "driver/command.hpp"
#include "driver/loopback_internal.hpp"
#include "driver/qp_internal.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wqe.hpp"
#include "hcasim/rvt/err_ptr.hpp"

namespace hcasim::rvt {
namespace {

bool special(ib_qp_type type) {
  return type == IB_QPT_SMI || type == IB_QPT_GSI;
}

int check_sizes(const rvt_dev_info* rdi, const ib_qp_init_attr& attr) {
  const ib_device_attr& limits = rdi->ibdev.attrs;
  const ib_qp_cap& cap = attr.cap;
  const auto over = [](std::uint32_t value, int limit) {
    return value > static_cast<std::uint32_t>(limit);
  };
  if (over(cap.max_send_sge, limits.max_send_sge) || over(cap.max_send_wr, limits.max_qp_wr) ||
      over(cap.max_inline_data, limits.max_inline_data)) {
    return -EINVAL;
  }
  if (attr.srq != nullptr) return 0;
  if (over(cap.max_recv_sge, limits.max_recv_sge) || over(cap.max_recv_wr, limits.max_qp_wr)) {
    return -EINVAL;
  }
  const std::uint32_t sum = cap.max_send_sge + cap.max_send_wr + cap.max_recv_sge + cap.max_recv_wr;
  return sum == 0 ? -EINVAL : 0;
}

int check_type(const rvt_dev_info* rdi, const ib_qp_init_attr& attr) {
  if (special(attr.qp_type)) {
    return attr.port_num == 0 || attr.port_num > rdi->ports.size() ? -EINVAL : 0;
  }
  const bool known =
      attr.qp_type == IB_QPT_RC || attr.qp_type == IB_QPT_UC || attr.qp_type == IB_QPT_UD;
  return known ? 0 : -EOPNOTSUPP;
}

int check_create(const rvt_dev_info* rdi, const ib_qp_init_attr& attr) {
  if ((attr.create_flags & ~std::uint32_t{IB_QP_CREATE_NETDEV_USE}) != 0) return -EOPNOTSUPP;
  const int error = check_sizes(rdi, attr);
  return error != 0 ? error : check_type(rdi, attr);
}

int allocate_send_ring(rvt_dev_info* rdi, rvt_qp* qp, const ib_qp_cap& cap) {
  qp->s_size = cap.max_send_wr + 1 + rdi->dparms.reserved_operations;
  qp->s_max_sge = cap.max_send_sge;
  qp->s_max_inline = cap.max_inline_data;
  qp->s_avail = cap.max_send_wr;
  qp->s_stride = hw::send_wqe_stride(cap.max_send_sge, cap.max_inline_data, rvt_wqe_type(qp));
  qp->s_ring = rdi->port->allocate(std::uint64_t{qp->s_size} * qp->s_stride, hw::kDmaAlignment);
  if (qp->s_ring == 0) return -ENOMEM;
  return 0;
}

void free_send_ring(rvt_dev_info* rdi, rvt_qp* qp) {
  rdi->port->release(qp->s_ring);
  qp->s_ring = 0;
  qp->s_wq = {};
}

int allocate_private(rvt_dev_info* rdi, rvt_qp* qp) {
  if (rdi->driver_f.qp_priv_alloc == nullptr) return 0;
  void* priv = rdi->driver_f.qp_priv_alloc(rdi, qp);
  if (IS_ERR(priv)) return PTR_ERR(priv);
  qp->priv = priv;
  return 0;
}

void free_private(rvt_dev_info* rdi, rvt_qp* qp) {
  if (rdi->driver_f.qp_priv_free != nullptr) rdi->driver_f.qp_priv_free(rdi, qp);
  qp->priv = nullptr;
}

int allocate_receive_ring(rvt_dev_info* rdi, rvt_qp* qp, const ib_qp_cap& cap) {
  if (qp->ibqp.srq != nullptr) return 0;
  rvt_rq& rq = qp->r_rq;
  rq.size = cap.max_recv_wr + 1;
  rq.max_sge = cap.max_recv_sge;
  rq.stride = hw::receive_wqe_stride(cap.max_recv_sge);
  return rvt_alloc_rq(rdi, &rq, std::uint64_t{rq.size} * rq.stride);
}

// A driver's own allocator is not believed: the tables depend on it.
bool number_ok(const rvt_dev_info* rdi, ib_qp_type type, std::uint32_t qpn) {
  return special(type) ? qpn <= 1
                       : qpn > 1 && qpn <= RVT_QPN_MASK && rvt_find_qp(rdi, qpn) == nullptr;
}

int take_number(rvt_dev_info* rdi, rvt_qp* qp, const ib_qp_init_attr& attr) {
  const bool netdev = (attr.create_flags & IB_QP_CREATE_NETDEV_USE) != 0;
  const int qpn =
      alloc_qpn(rdi, &rdi->qp_dev.qpn_table, attr.qp_type, static_cast<std::uint8_t>(attr.port_num),
                netdev ? RVT_AIP_QP_PREFIX : std::uint8_t{0});
  if (qpn < 0) return qpn;
  constexpr std::uint32_t kNetdevBase = std::uint32_t{RVT_AIP_QP_PREFIX} << 16;
  const std::uint32_t number = static_cast<std::uint32_t>(qpn) | (netdev ? kNetdevBase : 0);
  if (!number_ok(rdi, attr.qp_type, number)) return -EINVAL;
  qp->ibqp.qp_num = number;
  return 0;
}

void give_number_back(rvt_dev_info* rdi, rvt_qp* qp) {
  if (special(qp->ibqp.qp_type)) {
    rvt_free_special_qpn(&rdi->qp_dev.qpn_table, qp->ibqp.qp_num, qp->port_num);
  } else {
    rvt_free_qpn(&rdi->qp_dev.qpn_table, qp->ibqp.qp_num);
  }
}

void count_qp(rvt_dev_info* rdi, const rvt_qp* qp, int change) {
  rdi->n_qps_allocated += change;
  if (qp->ibqp.qp_type == IB_QPT_RC) rdi->n_rc_qps += change;
}

int register_qp(rvt_dev_info* rdi, rvt_qp* qp) {
  if (rdi->n_qps_allocated == rdi->ibdev.attrs.max_qp) return -ENOMEM;
  if (rvt_publish_qp(rdi, qp) != 0) return -ENOMEM;
  count_qp(rdi, qp, 1);
  const int error = rdi->commands->send(
      {.opcode = hw::CommandOpcode::kCreateQp, .object = qp->ibqp.qp_num}, rvt_qp_context(qp));
  if (error == 0) return 0;
  rvt_unpublish_qp(rdi, qp);
  count_qp(rdi, qp, -1);
  return error;
}

// Each of these makes one part, then what comes after it, and takes its part back if that fails.

int build_number(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_init_attr& attr) {
  int error = take_number(rdi, qp, attr);
  if (error != 0) return error;
  if (rdi->driver_f.qp_priv_init != nullptr) error = rdi->driver_f.qp_priv_init(rdi, qp, &attr);
  if (error == 0) error = register_qp(rdi, qp);
  if (error != 0) give_number_back(rdi, qp);
  return error;
}

int build_paths(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_init_attr& attr) {
  int error = alloc_ud_wq_attr(qp, 0);
  if (error != 0) return error;
  error = build_number(rdi, qp, attr);
  if (error != 0) free_ud_wq_attr(qp);
  return error;
}

int build_receive_ring(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_init_attr& attr) {
  int error = allocate_receive_ring(rdi, qp, attr.cap);
  if (error != 0) return error;
  error = build_paths(rdi, qp, attr);
  if (error != 0) rvt_free_rq(rdi, &qp->r_rq);
  return error;
}

int build_private(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_init_attr& attr) {
  int error = allocate_private(rdi, qp);
  if (error != 0) return error;
  error = build_receive_ring(rdi, qp, attr);
  if (error != 0) free_private(rdi, qp);
  return error;
}

int build_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_init_attr& attr) {
  int error = allocate_send_ring(rdi, qp, attr.cap);
  if (error != 0) return error;
  error = build_private(rdi, qp, attr);
  if (error != 0) free_send_ring(rdi, qp);
  return error;
}

}  // namespace

std::uint8_t get_allowed_ops(ib_qp_type type) {
  constexpr std::uint8_t kRc = 0x00;
  constexpr std::uint8_t kUc = 0x20;
  return type == IB_QPT_RC ? kRc : type == IB_QPT_UC ? kUc : RVT_UD_OPS;
}

int alloc_ud_wq_attr(rvt_qp* qp, int /*node*/) {
  if (!rvt_is_datagram(qp)) return 0;
  constexpr std::uint32_t kPathEnd = hw::kSendWqeDatagramOffset + sizeof(hw::SendWqeDatagram);
  return qp->s_stride < kPathEnd ? -ENOMEM : 0;
}

void free_ud_wq_attr(rvt_qp* /*qp*/) {}

int rvt_alloc_rq(rvt_dev_info* rdi, rvt_rq* rq, std::uint64_t size_bytes) {
  rq->wq = rdi->port->allocate(size_bytes, std::max(rq->stride, hw::kDmaAlignment));
  if (rq->wq == 0) return -ENOMEM;
  rq->tail_record = rdi->port->allocate(sizeof(hw::TailRecord), hw::kDmaAlignment);
  if (rq->tail_record != 0) return 0;
  rvt_free_rq(rdi, rq);
  return -ENOMEM;
}

void rvt_free_rq(rvt_dev_info* rdi, rvt_rq* rq) {
  if (rq->wq != 0) rdi->port->release(rq->wq);
  if (rq->tail_record != 0) rdi->port->release(rq->tail_record);
  rq->wq = 0;
  rq->tail_record = 0;
}

int rvt_create_qp(ib_qp* ibqp, ib_qp_init_attr* init_attr, ib_udata* /*udata*/) {
  rvt_dev_info* rdi = ib_to_rvt(ibqp->device);
  const int refused = check_create(rdi, *init_attr);
  if (refused != 0) return refused;
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  qp->rdi = rdi;
  qp->allowed_ops = get_allowed_ops(ibqp->qp_type);
  qp->port_num = init_attr->port_num;
  if (rvt_is_datagram(qp)) qp->log_pmtu = static_cast<std::uint8_t>(7 + rvt_port_mtu(rdi));
  if (init_attr->sq_sig_type == IB_SIGNAL_REQ_WR) qp->s_flags = RVT_S_SIGNAL_REQ_WR;
  rvt_init_qp(rdi, qp, ibqp->qp_type);
  return build_qp(rdi, qp, *init_attr);
}

int rvt_destroy_qp(ib_qp* ibqp, ib_udata* /*udata*/) {
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  rvt_dev_info* rdi = qp->rdi;
  {
    const MutexGuard guard(qp->mutex, *rdi->port);
    rvt_remove_qp(rdi, qp);
    const ib_qp_state before = qp->state;
    qp->state = IB_QPS_RESET;
    rvt_stop_loopback(qp);
    rdi->commands->destroy({.opcode = hw::CommandOpcode::kDestroyQp, .object = ibqp->qp_num});
    // What has completed stays pollable, though its slot is going.
    rvt_collect_qp_cqs(qp);
    rvt_notify_reset(qp, before);
  }
  rvt_unpublish_qp(rdi, qp);
  give_number_back(rdi, qp);
  count_qp(rdi, qp, -1);
  free_ud_wq_attr(qp);
  rvt_free_rq(rdi, &qp->r_rq);
  free_private(rdi, qp);
  free_send_ring(rdi, qp);
  return 0;
}

}  // namespace hcasim::rvt
