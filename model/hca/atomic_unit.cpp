// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/atomic_unit.hpp"

#include "hca/qp_control.hpp"
#include "hca/responder.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

void AtomicUnit::start(const Work& work) {
  waiting_.push(work);
  if (!running_) next();
}

void AtomicUnit::next() {
  running_ = !waiting_.empty();
  if (!running_) return;
  started_ = now();
  core_.dma.read(waiting_.front().address, &original_, sizeof original_, *this, 0);
}

void AtomicUnit::on_dma_read(std::uint64_t, bool error) {
  if (error) {
    const Work work = waiting_.pop();
    ++ended_;
    if (QueuePair* qp = core_.qp(work.qpn)) {
      core_.response->atomic_failed(*qp, *work.response);
      core_.qp_control->fail(*qp, hw::WcStatus::kLocQpOpErr);
      core_.responder->atomic_done(*qp);
    }
    return next();
  }
  schedule(core_.clock.edge_after(now()) +
           core_.clock.cycles(core_.parameters.responder.atomic_latency_cycles));
}

void AtomicUnit::on_event(std::uint64_t) {
  const Work work = waiting_.pop();
  ++ended_;
  ++counters_.atomics;
  const bool changes = !work.compare_swap || original_ == work.compare;
  const std::uint64_t value = work.compare_swap ? work.swap_add : original_ + work.swap_add;
  hw::Time visible = now();
  if (changes) visible = core_.dma.write(work.address, &value, sizeof value);
  core_.stamp(work.message, Stamp::kDataVisible, visible);
  if (QueuePair* qp = core_.qp(work.qpn)) {
    core_.response->atomic_ready(*qp, *work.response, original_);
    core_.responder->atomic_done(*qp);
  }
  busy_ += now() - started_;
  next();
}

}  // namespace hcasim::hca
