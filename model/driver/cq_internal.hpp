// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hcasim/hw/cqe.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

/// Turns the adapter's completion into a work completion and retires what it completes. Any
/// context.
/// @return false when it is of no known queue pair or slot
bool rvt_translate_cqe(rvt_cq* cq, const hw::Cqe& cqe, ib_wc* wc);
/// Reads the next new completion of the adapter's ring, if there is one.
inline bool rvt_cq_take(rvt_cq* cq, hw::Cqe* cqe) {
  const SpinGuard guard(cq->lock);
  cq->rdi->port->read(cq->ring + std::uint64_t{cq->index} * sizeof *cqe, cqe, sizeof *cqe);
  if (cqe->owner != cq->owner) return false;
  ++cq->seen;
  if (++cq->index == static_cast<std::uint32_t>(cq->ibcq.cqe)) {
    cq->index = 0;
    cq->owner ^= 1;
  }
  return true;
}
/// Tells the adapter how much of its ring the consumer has taken.
void rvt_cq_publish(rvt_cq* cq);
/// The adapter's answer to an armed notification. Interrupt context.
void rvt_cq_notified(rvt_cq* cq, std::uint32_t solicited);
/// The adapter had no room for a completion. Interrupt context.
void rvt_cq_overflowed(rvt_cq* cq);

}  // namespace hcasim::rvt
