// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The kernel's core layer above the driver: objects, use counts, guards.
#include <cerrno>
#include <memory>

#include "driver/no_memory.hpp"
#include "hcasim/hw/wire/multicast.hpp"
#include "hcasim/rvt/rdma_vt.hpp"
#include "hcasim/rvt/verbs.hpp"

namespace hcasim::rvt {
namespace {

constexpr std::uint32_t kKnownAccess = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
                                       IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
                                       IB_ACCESS_MW_BIND | IB_ACCESS_OPTIONAL;

bool access_ok(std::uint32_t access) {
  if ((access & ~kKnownAccess) != 0) return false;
  const bool writes = (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) != 0;
  return !writes || (access & IB_ACCESS_LOCAL_WRITE) != 0;
}

void use_qp_objects(ib_qp* qp, int change) {
  qp->pd->usecnt += change;
  if (qp->send_cq != nullptr) qp->send_cq->usecnt += change;
  if (qp->recv_cq != nullptr) qp->recv_cq->usecnt += change;
  if (qp->srq != nullptr) qp->srq->usecnt += change;
}

std::unique_ptr<rvt_qp> new_qp(ib_pd* pd, const ib_qp_init_attr& attr) {
  auto qp = try_to_make<rvt_qp>();
  if (!qp) return qp;
  qp->ibqp.device = pd->device;
  qp->ibqp.pd = pd;
  qp->ibqp.send_cq = attr.send_cq;
  qp->ibqp.recv_cq = attr.recv_cq;
  qp->ibqp.srq = attr.srq;
  qp->ibqp.event_handler = attr.event_handler;
  qp->ibqp.qp_context = attr.qp_context;
  qp->ibqp.qp_type = attr.qp_type;
  return qp;
}

// The next hop of a group follows from the group.
rdma_ah_attr with_next_hop(const rdma_ah_attr& attr) {
  rdma_ah_attr resolved = attr;
  if (hw::is_multicast(attr.grh.dgid.raw))
    resolved.roce.dmac = hw::multicast_mac(attr.grh.dgid.raw);
  return resolved;
}

bool is_mcast(const ib_qp* qp, const ib_gid& gid) {
  return qp->qp_type == IB_QPT_UD && gid.raw[0] == 0xff;
}

}  // namespace

ib_pd* ib_alloc_pd(ib_device* device) {
  auto pd = try_to_make<rvt_pd>();
  if (!pd) return ERR_PTR<ib_pd>(-ENOMEM);
  pd->ibpd.device = device;
  const int error = rvt_alloc_pd(&pd->ibpd, nullptr);
  return error != 0 ? ERR_PTR<ib_pd>(error) : &pd.release()->ibpd;
}

int ib_dealloc_pd(ib_pd* pd) {
  if (pd->usecnt != 0) return -EBUSY;
  rvt_dealloc_pd(pd, nullptr);
  delete ibpd_to_rvtpd(pd);
  return 0;
}

ib_mr* ib_reg_user_mr(ib_pd* pd, std::uint64_t start, std::uint64_t length, std::uint64_t virt_addr,
                      std::uint32_t access) {
  if (!access_ok(access)) return ERR_PTR<ib_mr>(-EINVAL);
  ib_mr* mr = rvt_reg_user_mr(pd, start, length, virt_addr, access, nullptr);
  if (!IS_ERR(mr)) ++pd->usecnt;
  return mr;
}

ib_mr* ib_alloc_mr(ib_pd* pd, ib_mr_type mr_type, std::uint32_t max_num_sg) {
  ib_mr* mr = rvt_alloc_mr(pd, mr_type, max_num_sg);
  if (!IS_ERR(mr)) ++pd->usecnt;
  return mr;
}

int ib_map_mr_sg(ib_mr* mr, const scatterlist* sg, int sg_nents, unsigned* sg_offset,
                 unsigned page_size) {
  return rvt_map_mr_sg(mr, sg, sg_nents, sg_offset, page_size);
}

int ib_dereg_mr(ib_mr* mr) {
  ib_pd* pd = mr->pd;
  const int error = rvt_dereg_mr(mr, nullptr);
  if (error == 0) --pd->usecnt;
  return error;
}

ib_ah* rdma_create_ah(ib_pd* pd, const rdma_ah_attr* attr) {
  auto ah = try_to_make<rvt_ah>();
  if (!ah) return ERR_PTR<ib_ah>(-ENOMEM);
  ah->ibah.device = pd->device;
  ah->ibah.pd = pd;
  const rdma_ah_attr path = with_next_hop(*attr);
  const int error = rvt_create_ah(&ah->ibah, &path);
  if (error != 0) return ERR_PTR<ib_ah>(error);
  ++pd->usecnt;
  return &ah.release()->ibah;
}

int rdma_modify_ah(ib_ah* ah, const rdma_ah_attr* attr) {
  const rdma_ah_attr path = with_next_hop(*attr);
  return rvt_modify_ah(ah, &path);
}

int rdma_query_ah(ib_ah* ah, rdma_ah_attr* attr) {
  return rvt_query_ah(ah, attr);
}

int rdma_destroy_ah(ib_ah* ah) {
  rvt_destroy_ah(ah);
  --ah->pd->usecnt;
  delete ibah_to_rvtah(ah);
  return 0;
}

ib_cq* ib_create_cq(ib_device* device, ib_comp_handler comp_handler,
                    ib_event_handler_t event_handler, void* context, const ib_cq_init_attr* attr) {
  auto cq = try_to_make<rvt_cq>();
  if (!cq) return ERR_PTR<ib_cq>(-ENOMEM);
  cq->ibcq.device = device;
  cq->ibcq.comp_handler = comp_handler;
  cq->ibcq.event_handler = event_handler;
  cq->ibcq.cq_context = context;
  const int error = rvt_create_cq(&cq->ibcq, attr, nullptr);
  return error != 0 ? ERR_PTR<ib_cq>(error) : &cq.release()->ibcq;
}

int ib_destroy_cq(ib_cq* cq) {
  if (cq->usecnt != 0) return -EBUSY;
  rvt_destroy_cq(cq, nullptr);
  delete ibcq_to_rvtcq(cq);
  return 0;
}

int ib_resize_cq(ib_cq* cq, int cqe) {
  return rvt_resize_cq(cq, cqe, nullptr);
}

int rdma_set_cq_moderation(ib_cq* cq, std::uint16_t cq_count, std::uint16_t cq_period) {
  return rvt_modify_cq(cq, cq_count, cq_period);
}

int ib_poll_cq(ib_cq* cq, int entries, ib_wc* wc) {
  return rvt_poll_cq(cq, entries, wc);
}

int ib_req_notify_cq(ib_cq* cq, std::uint32_t flags) {
  return rvt_req_notify_cq(cq, flags);
}

ib_srq* ib_create_srq(ib_pd* pd, const ib_srq_init_attr* attr) {
  auto srq = try_to_make<rvt_srq>();
  if (!srq) return ERR_PTR<ib_srq>(-ENOMEM);
  srq->ibsrq.device = pd->device;
  srq->ibsrq.pd = pd;
  srq->ibsrq.event_handler = attr->event_handler;
  srq->ibsrq.srq_context = attr->srq_context;
  srq->ibsrq.srq_type = attr->srq_type;
  const int error = rvt_create_srq(&srq->ibsrq, attr, nullptr);
  if (error != 0) return ERR_PTR<ib_srq>(error);
  ++pd->usecnt;
  return &srq.release()->ibsrq;
}

int ib_modify_srq(ib_srq* srq, const ib_srq_attr* attr, std::uint32_t mask) {
  return rvt_modify_srq(srq, attr, mask, nullptr);
}

int ib_query_port(ib_device* device, std::uint32_t port_num, ib_port_attr* port_attr) {
  return rvt_query_port(device, port_num, port_attr);
}

int ib_query_srq(ib_srq* srq, ib_srq_attr* attr) {
  return rvt_query_srq(srq, attr);
}

int ib_destroy_srq(ib_srq* srq) {
  if (srq->usecnt != 0) return -EBUSY;
  rvt_destroy_srq(srq, nullptr);
  --srq->pd->usecnt;
  delete ibsrq_to_rvtsrq(srq);
  return 0;
}

int ib_post_srq_recv(ib_srq* srq, const ib_recv_wr* wr, const ib_recv_wr** bad_wr) {
  const ib_recv_wr* ignored = nullptr;
  return rvt_post_srq_recv(srq, wr, bad_wr != nullptr ? bad_wr : &ignored);
}

ib_qp* ib_create_qp(ib_pd* pd, ib_qp_init_attr* attr) {
  auto qp = new_qp(pd, *attr);
  if (!qp) return ERR_PTR<ib_qp>(-ENOMEM);
  const int error = rvt_create_qp(&qp->ibqp, attr, nullptr);
  if (error != 0) return ERR_PTR<ib_qp>(error);
  use_qp_objects(&qp->ibqp, 1);
  return &qp.release()->ibqp;
}

int ib_modify_qp(ib_qp* qp, ib_qp_attr* attr, int attr_mask) {
  // Path migration exists on InfiniBand only; ports here are Ethernet.
  if ((attr_mask & IB_QP_ALT_PATH) != 0) return -EINVAL;
  const int error = rvt_modify_qp(qp, attr, attr_mask, nullptr);
  if (error == 0 && (attr_mask & IB_QP_PORT) != 0) qp->port = attr->port_num;
  return error;
}

int ib_query_qp(ib_qp* qp, ib_qp_attr* attr, int attr_mask, ib_qp_init_attr* init_attr) {
  return rvt_query_qp(qp, attr, attr_mask, init_attr);
}

int ib_destroy_qp(ib_qp* qp) {
  if (qp->usecnt != 0) return -EBUSY;
  rvt_destroy_qp(qp, nullptr);
  use_qp_objects(qp, -1);
  delete ibqp_to_rvtqp(qp);
  return 0;
}

int ib_attach_mcast(ib_qp* qp, const ib_gid* gid, std::uint16_t lid) {
  if (!is_mcast(qp, *gid)) return -EINVAL;
  const bool counted = rvt_is_attached(qp, *gid) && !ib_to_rvt(qp->device)->dparms.rdmavt_compat;
  const int error = rvt_attach_mcast(qp, gid, lid);
  if (error == 0 && !counted) ++qp->usecnt;
  return error;
}

int ib_detach_mcast(ib_qp* qp, const ib_gid* gid, std::uint16_t lid) {
  if (!is_mcast(qp, *gid)) return -EINVAL;
  const int error = rvt_detach_mcast(qp, gid, lid);
  if (error == 0) --qp->usecnt;
  return error;
}

int ib_post_send(ib_qp* qp, const ib_send_wr* wr, const ib_send_wr** bad_wr) {
  const ib_send_wr* ignored = nullptr;
  return rvt_post_send(qp, wr, bad_wr != nullptr ? bad_wr : &ignored);
}

int ib_post_recv(ib_qp* qp, const ib_recv_wr* wr, const ib_recv_wr** bad_wr) {
  const ib_recv_wr* ignored = nullptr;
  return rvt_post_recv(qp, wr, bad_wr != nullptr ? bad_wr : &ignored);
}

}  // namespace hcasim::rvt
