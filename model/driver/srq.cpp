// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Shared receive queues: their life, their limit, their events.
#include <algorithm>
#include <cerrno>

#include "driver/command.hpp"
#include "driver/loopback_internal.hpp"
#include "driver/no_memory.hpp"
#include "driver/qp_internal.hpp"
#include "driver/raise_event.hpp"
#include "driver/srq_internal.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::rvt {

hw::SrqContext rvt_srq_context(const rvt_srq* srq) {
  hw::SrqContext context{};
  context.srqn = srq->srqn;
  context.pd = ibpd_to_rvtpd(srq->ibsrq.pd)->number;
  context.size = srq->rq.size;
  context.stride = srq->rq.stride;
  context.base = srq->rq.wq;
  context.limit = srq->limit;
  context.arm_number = srq->arm;
  context.tail_record = srq->rq.tail_record;
  context.take_record = srq->takes.record;
  return context;
}

namespace {

bool in_range(std::uint32_t value, int limit) {
  return value != 0 && value <= static_cast<std::uint32_t>(limit);
}

int check_create(const rvt_dev_info* rdi, const ib_srq_init_attr& init) {
  if (init.srq_type != IB_SRQT_BASIC) return -EOPNOTSUPP;
  const ib_device_attr& limits = rdi->ibdev.attrs;
  const bool good = in_range(init.attr.max_sge, limits.max_srq_sge) &&
                    in_range(init.attr.max_wr, limits.max_srq_wr);
  return good ? 0 : -EINVAL;
}

int find_srq_number(rvt_dev_info* rdi, std::uint32_t* number) {
  *number = 0;
  while (*number < rdi->srqs.size() && rdi->srqs[*number] != nullptr) ++*number;
  if (*number < rdi->srqs.size()) return 0;
  return or_no_memory([&] { rdi->srqs.push_back(nullptr); });
}

void publish(rvt_srq* srq, rvt_srq* entry, int change) {
  srq->rdi->srqs[srq->srqn & ~hw::bar::kSrqBit] = entry;
  srq->rdi->n_srqs_allocated += change;
}

int allocate_rings(rvt_srq* srq) {
  rvt_dev_info* rdi = srq->rdi;
  rvt_rq& rq = srq->rq;
  const int error = rvt_alloc_rq(rdi, &rq, std::uint64_t{rq.size} * rq.stride);
  if (error != 0) return error;
  srq->takes.record = rdi->port->allocate(rq.stride, std::max(rq.stride, hw::kDmaAlignment));
  if (srq->takes.record != 0) return 0;
  rvt_free_rq(rdi, &rq);
  return -ENOMEM;
}

void release_rings(rvt_srq* srq) {
  rvt_free_rq(srq->rdi, &srq->rq);
  srq->rdi->port->release(srq->takes.record);
}

int register_srq(rvt_srq* srq) {
  rvt_dev_info* rdi = srq->rdi;
  if (rdi->n_srqs_allocated == rdi->ibdev.attrs.max_srq) return -ENOMEM;
  std::uint32_t number = 0;
  int error = find_srq_number(rdi, &number);
  if (error != 0) return error;
  srq->srqn = number | hw::bar::kSrqBit;
  publish(srq, srq, 1);
  error = rdi->commands->send({.opcode = hw::CommandOpcode::kCreateSrq, .object = srq->srqn},
                              rvt_srq_context(srq));
  if (error != 0) publish(srq, nullptr, -1);
  return error;
}

// The event of the new limit may come before the answer to the command, that of an old one after.
int set_limit(rvt_srq* srq, std::uint32_t limit) {
  if (limit >= srq->rq.size) return -EINVAL;
  const std::uint32_t before = srq->limit;
  srq->limit = limit;
  ++srq->arm;
  const int error = srq->rdi->commands->send(
      {.opcode = hw::CommandOpcode::kModifySrq, .object = srq->srqn, .mask = hw::kSrqLimit},
      rvt_srq_context(srq));
  if (error != 0) srq->limit = before;
  return error;
}

void raise(rvt_srq* srq, ib_event_type type) {
  raise_event(srq->ibsrq, &EventElement::srq, type, srq->ibsrq.srq_context);
}

void fail_user(rvt_qp* qp, std::uint64_t v) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's signature
  if (qp->ibqp.srq == reinterpret_cast<ib_srq*>(v)) rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
}

}  // namespace

int rvt_create_srq(ib_srq* ibsrq, const ib_srq_init_attr* srq_init_attr, ib_udata* /*udata*/) {
  rvt_dev_info* rdi = ib_to_rvt(ibsrq->device);
  const int refused = check_create(rdi, *srq_init_attr);
  if (refused != 0) return refused;
  rvt_srq* srq = ibsrq_to_rvtsrq(ibsrq);
  srq->rdi = rdi;
  srq->limit = rdi->dparms.rdmavt_compat ? srq_init_attr->attr.srq_limit : 0;
  rvt_rq& rq = srq->rq;
  rq.size = srq_init_attr->attr.max_wr + 1;
  rq.max_sge = srq_init_attr->attr.max_sge;
  rq.stride = hw::receive_wqe_stride(rq.max_sge);
  rq.on_adapter = true;
  int error = allocate_rings(srq);
  if (error != 0) return error;
  error = register_srq(srq);
  if (error != 0) release_rings(srq);
  return error;
}

int rvt_modify_srq(ib_srq* ibsrq, const ib_srq_attr* attr, std::uint32_t attr_mask,
                   ib_udata* /*udata*/) {
  rvt_srq* srq = ibsrq_to_rvtsrq(ibsrq);
  if (!srq->rdi->port->may_wait()) return -EDEADLK;
  const MutexGuard guard(srq->mutex, *srq->rdi->port);
  const bool limits = (attr_mask & IB_SRQ_LIMIT) != 0;
  if ((attr_mask & IB_SRQ_MAX_WR) != 0) {
    return rvt_resize_srq(srq, attr->max_wr, limits ? &attr->srq_limit : nullptr);
  }
  return limits ? set_limit(srq, attr->srq_limit) : 0;
}

int rvt_query_srq(ib_srq* ibsrq, ib_srq_attr* attr) {
  rvt_srq* srq = ibsrq_to_rvtsrq(ibsrq);
  attr->srq_limit = srq->limit;
  if (srq->rdi->port->may_wait()) {
    const MutexGuard guard(srq->mutex, *srq->rdi->port);
    hw::SrqContext context;
    const int error = srq->rdi->commands->fetch(
        {.opcode = hw::CommandOpcode::kQuerySrq, .object = srq->srqn}, context);
    attr->srq_limit = error == 0 ? context.limit : srq->limit;
  }
  attr->max_wr = srq->rq.size - 1;
  attr->max_sge = srq->rq.max_sge;
  return 0;
}

int rvt_destroy_srq(ib_srq* ibsrq, ib_udata* /*udata*/) {
  rvt_srq* srq = ibsrq_to_rvtsrq(ibsrq);
  {
    const MutexGuard guard(srq->mutex, *srq->rdi->port);
    srq->rdi->commands->destroy({.opcode = hw::CommandOpcode::kDestroySrq, .object = srq->srqn});
  }
  publish(srq, nullptr, -1);
  release_rings(srq);
  return 0;
}

bool rvt_handle_srq_event(rvt_srq* srq, const hw::Eqe& eqe) {
  switch (eqe.type) {
    case hw::EqeType::kSrqLimit:
      if (eqe.value == srq->arm) srq->limit = 0;
      raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
      return true;
    case hw::EqeType::kTakeGrant:
      return rvt_take_answered(srq, eqe);
    case hw::EqeType::kReceiveQueueError:
      raise(srq, IB_EVENT_SRQ_ERR);
      rvt_qp_iter(srq->rdi, reinterpret_cast<std::uint64_t>(&srq->ibsrq), fail_user);
      return true;
    default:
      return false;
  }
}

}  // namespace hcasim::rvt
