// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Completion queues: creation, destruction, and what both writers do.
#include <cerrno>

#include "driver/command.hpp"
#include "driver/cq_internal.hpp"
#include "driver/no_memory.hpp"
#include "driver/raise_event.hpp"
#include "driver/trace.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/contexts.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

int take_cq_number(rvt_dev_info* rdi, rvt_cq* cq) {
  std::uint32_t number = 0;
  while (number < rdi->cqs.size() && rdi->cqs[number] != nullptr) ++number;
  if (number == rdi->cqs.size()) {
    const int error = or_no_memory([&] { rdi->cqs.push_back(nullptr); });
    if (error != 0) return error;
  }
  cq->cqn = number;
  rdi->cqs[number] = cq;
  return 0;
}

int allocate_rings(rvt_dev_info* rdi, rvt_cq* cq) {
  cq->ring = rdi->port->allocate(
      std::uint64_t{cq->ibcq.cqe > 0 ? unsigned(cq->ibcq.cqe) : 1u} * sizeof(hw::Cqe),
      hw::kDmaAlignment);
  if (cq->ring == 0) return -ENOMEM;
  cq->record = rdi->port->allocate(sizeof(hw::ConsumerRecord), hw::kDmaAlignment);
  return cq->record == 0 ? -ENOMEM : 0;
}

void release_rings(rvt_dev_info* rdi, rvt_cq* cq) {
  if (cq->ring != 0) rdi->port->release(cq->ring);
  if (cq->record != 0) rdi->port->release(cq->record);
  cq->ring = 0;
  cq->record = 0;
}

int create_on_adapter(rvt_dev_info* rdi, rvt_cq* cq) {
  hw::CqContext context{};
  context.cqn = cq->cqn;
  context.cqe = static_cast<std::uint32_t>(cq->ibcq.cqe);
  context.base = cq->ring;
  context.consumer_record = cq->record;
  context.eqn = 1 + cq->comp_vector;
  return rdi->commands->send({.opcode = hw::CommandOpcode::kCreateCq, .object = cq->cqn}, context);
}

int publish_cq(rvt_dev_info* rdi, rvt_cq* cq) {
  if (rdi->n_cqs_allocated == rdi->ibdev.attrs.max_cq) return -ENOMEM;
  int error = take_cq_number(rdi, cq);
  if (error != 0) return error;
  ++rdi->n_cqs_allocated;
  error = create_on_adapter(rdi, cq);
  if (error == 0) return 0;
  rdi->cqs[cq->cqn] = nullptr;
  --rdi->n_cqs_allocated;
  return error;
}

void raise_cq_error(rvt_cq* cq) {
  raise_event(cq->ibcq, &EventElement::cq, IB_EVENT_CQ_ERR, cq->ibcq.cq_context);
}

// The consumer's handler runs after the present activity, as the kernel's work item does.
void call_handler_later(rvt_cq* cq) {
  ++cq->triggered;
  if (cq->timer != 0 || cq->ibcq.comp_handler == nullptr) return;
  hw::HostPort* port = cq->rdi->port;
  cq->timer = port->start_timer(port->now(), {[](void* self, std::uint64_t) {
                                                auto* queue = static_cast<rvt_cq*>(self);
                                                queue->timer = 0;
                                                queue->ibcq.comp_handler(&queue->ibcq,
                                                                         queue->ibcq.cq_context);
                                              },
                                              cq});
}

void notify(rvt_cq* cq, const ib_wc& wc, bool solicited) {
  const bool wanted = cq->notify == IB_CQ_NEXT_COMP ||
                      (cq->notify == IB_CQ_SOLICITED && (solicited || wc.status != IB_WC_SUCCESS));
  if (!wanted) return;
  cq->notify = RVT_CQ_NONE;
  call_handler_later(cq);
}

// Entries of a queue of the driver's own when it first has one, chosen: most never have more, and
// it doubles from there.
constexpr std::size_t kFirstEntries = 16;

void grow(rvt_cq* cq) {
  std::vector<rvt_cq_entry> larger;
  larger.reserve(cq->queue.empty() ? kFirstEntries : 2 * cq->queue.size());
  for (std::uint32_t i = 0; i < cq->count; ++i) {
    larger.push_back(cq->queue[(cq->first + i) % cq->queue.size()]);
  }
  larger.resize(larger.capacity());
  cq->queue.swap(larger);
  cq->first = 0;
}

// False when there is no memory for it: then the queue overflows.
bool push(rvt_cq* cq, const ib_wc& wc, bool from_adapter) {
  if (cq->count == cq->queue.size() && or_no_memory([&] { grow(cq); }) != 0) return false;
  cq->queue[(cq->first + cq->count) % cq->queue.size()] = {wc, from_adapter};
  ++cq->count;
  trace_cq_enter(cq, wc);
  return true;
}

bool room(const rvt_cq* cq) {
  return !cq->cq_full && cq->count < static_cast<std::uint32_t>(cq->ibcq.cqe);
}

// Behind all that the adapter has written by now: nothing more may come in between.
bool enter(rvt_cq* cq, const ib_wc& wc, bool solicited) {
  const InterruptsOff off;
  rvt_cq_collect(cq);
  const SpinGuard guard(cq->lock);
  if (!room(cq) || !push(cq, wc, false)) {
    cq->cq_full = true;
    return false;
  }
  notify(cq, wc, solicited);
  return true;
}

// The QP of a refused completion goes to ERR once the present activity, which may hold its locks,
// is over.
void refuse(rvt_cq* cq, const ib_wc& wc) {
  cq->cq_full = true;
  raise_cq_error(cq);
  if (wc.qp == nullptr) return;
  rvt_dev_info* rdi = cq->rdi;
  rdi->port->start_timer(rdi->port->now(), {[](void* device, std::uint64_t qpn) {
                                              rvt_qp* qp =
                                                  rvt_find_qp(static_cast<rvt_dev_info*>(device),
                                                              static_cast<std::uint32_t>(qpn));
                                              if (qp != nullptr)
                                                rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
                                            },
                                            rdi, wc.qp->qp_num});
}

}  // namespace

int rvt_create_cq(ib_cq* ibcq, const ib_cq_init_attr* attr, ib_udata* /*udata*/) {
  rvt_dev_info* rdi = ib_to_rvt(ibcq->device);
  if (attr->flags != 0) return -EOPNOTSUPP;
  if (attr->cqe < 1 || attr->cqe > static_cast<unsigned>(rdi->ibdev.attrs.max_cqe)) return -EINVAL;
  rvt_cq* cq = ibcq_to_rvtcq(ibcq);
  cq->rdi = rdi;
  const int vector = attr->comp_vector < 0 ? 0 : attr->comp_vector;
  cq->comp_vector = static_cast<std::uint32_t>(vector % rdi->ibdev.num_comp_vectors);
  if (rdi->driver_f.comp_vect_cpu_lookup != nullptr) {
    cq->comp_vector_cpu =
        rdi->driver_f.comp_vect_cpu_lookup(rdi, static_cast<int>(cq->comp_vector));
  }
  ibcq->cqe = static_cast<int>(attr->cqe);
  int error = allocate_rings(rdi, cq);
  if (error == 0) error = publish_cq(rdi, cq);
  if (error != 0) {
    release_rings(rdi, cq);
    return error;
  }
  trace_create_cq(cq, attr);
  return 0;
}

int rvt_destroy_cq(ib_cq* ibcq, ib_udata* /*udata*/) {
  rvt_cq* cq = ibcq_to_rvtcq(ibcq);
  rvt_dev_info* rdi = cq->rdi;
  // A resize that is under way comes to its end first.
  const MutexGuard guard(cq->mutex, *rdi->port);
  rdi->commands->destroy({.opcode = hw::CommandOpcode::kDestroyCq, .object = cq->cqn});
  if (cq->timer != 0) rdi->port->cancel_timer(cq->timer);
  cq->timer = 0;
  rdi->cqs[cq->cqn] = nullptr;
  --rdi->n_cqs_allocated;
  release_rings(rdi, cq);
  return 0;
}

int rvt_modify_cq(ib_cq* ibcq, std::uint16_t cq_count, std::uint16_t cq_period) {
  rvt_cq* cq = ibcq_to_rvtcq(ibcq);
  if (cq_period > ibcq->device->attrs.cq_caps.max_cq_moderation_period) return -EINVAL;
  hw::CqContext context{};
  context.cq_count = cq_count;
  context.cq_period = cq_period;
  return cq->rdi->commands->send(
      {.opcode = hw::CommandOpcode::kModifyCq, .object = cq->cqn, .mask = hw::kCqModeration},
      context);
}

bool rvt_cq_enter(rvt_cq* cq, const ib_wc& wc, bool solicited) {
  const DataVerb verb("rvt_cq_enter");
  const bool taken = enter(cq, wc, solicited);
  if (!taken) raise_cq_error(cq);
  if (taken && cq->entered) cq->entered();
  return taken;
}

// Not under the lock of the queue, a leaf: retiring a send takes the s_lock of its queue pair.
void rvt_cq_collect(rvt_cq* cq) {
  const InterruptsOff off;
  hw::Cqe cqe;
  ib_wc wc;
  while (rvt_cq_take(cq, &cqe)) {
    if (!rvt_translate_cqe(cq, cqe, &wc)) continue;
    if (!room(cq) || !push(cq, wc, true)) refuse(cq, wc);
  }
}

void rvt_cq_overflowed(rvt_cq* cq) {
  rvt_cq_collect(cq);
  cq->cq_full = true;
  raise_cq_error(cq);
}

int rvt_req_notify_cq(ib_cq* ibcq, std::uint32_t notify_flags) {
  const DataVerb verb("req_notify_cq");
  rvt_cq* cq = ibcq_to_rvtcq(ibcq);
  rvt_cq_collect(cq);
  const SpinGuard guard(cq->lock);
  // A completion past the armed place means that the adapter has fired; its event is on its way.
  if (cq->notify == IB_CQ_NEXT_COMP && cq->seen != cq->armed_at) {
    cq->notify = RVT_CQ_NONE;
    cq->event_due = true;
  }
  const bool next = (notify_flags & IB_CQ_NEXT_COMP) != 0;
  if (next || cq->notify != IB_CQ_NEXT_COMP) {
    cq->notify = next ? IB_CQ_NEXT_COMP : IB_CQ_SOLICITED;
    cq->armed_at = cq->seen;
    const std::uint32_t number = cq->cqn | (next ? 0 : hw::bar::kArmSolicited);
    cq->rdi->port->mmio_write64(cq->rdi->uar + hw::bar::kCqArmDoorbell,
                                hw::bar::doorbell(number, cq->seen));
  }
  return (notify_flags & IB_CQ_REPORT_MISSED_EVENTS) != 0 && cq->count != 0 ? 1 : 0;
}

}  // namespace hcasim::rvt
