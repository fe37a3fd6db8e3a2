// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Resizing a completion queue under traffic: the adapter goes on in a new ring; what it wrote to
// the old one is there before its answer, and moves to the driver's ring.
#include <cerrno>
#include <utility>

#include "driver/command.hpp"
#include "driver/cq_internal.hpp"
#include "hcasim/hw/contexts.hpp"

namespace hcasim::rvt {
namespace {

void go_on_in(rvt_cq* cq, int cqe, std::uint64_t* ring) {
  rvt_cq_collect(cq);
  const SpinGuard guard(cq->lock);
  std::swap(cq->ring, *ring);
  cq->index = 0;
  cq->owner = 1;
  cq->ibcq.cqe = cqe;
}

// Leaves the address of the ring that is not needed in `ring`.
int change_ring(rvt_cq* cq, int cqe, std::uint64_t* ring) {
  rvt_cq_collect(cq);
  if (cq->count > static_cast<std::uint32_t>(cqe)) return -EINVAL;
  hw::CqContext context{};
  context.cqn = cq->cqn;
  context.cqe = static_cast<std::uint32_t>(cqe);
  context.base = *ring;
  cq->resizing = true;
  const int error =
      cq->rdi->commands->send({.opcode = hw::CommandOpcode::kResizeCq, .object = cq->cqn}, context);
  if (error == 0) go_on_in(cq, cqe, ring);
  cq->resizing = false;
  if (error == 0 && cq->entered) cq->entered();  // who sleeps on the old ring has to look anew
  // A handler that had been called before would not have found the completion.
  if (std::exchange(cq->notified_in_resize, false)) rvt_cq_notified(cq, cq->solicited_in_resize);
  return error;
}

}  // namespace

int rvt_resize_cq(ib_cq* ibcq, int cqe, ib_udata* /*udata*/) {
  rvt_cq* cq = ibcq_to_rvtcq(ibcq);
  rvt_dev_info* rdi = cq->rdi;
  if (cqe < 1 || cqe > rdi->ibdev.attrs.max_cqe) return -EINVAL;
  if (!rdi->port->may_wait()) return -EDEADLK;
  const MutexGuard guard(cq->mutex, *rdi->port);
  std::uint64_t ring =
      rdi->port->allocate(static_cast<std::uint64_t>(cqe) * sizeof(hw::Cqe), hw::kDmaAlignment);
  if (ring == 0) return -ENOMEM;
  const int error = change_ring(cq, cqe, &ring);
  rdi->port->release(ring);
  return error;
}

}  // namespace hcasim::rvt
