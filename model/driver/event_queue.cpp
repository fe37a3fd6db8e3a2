// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "driver/event_queue.hpp"

#include <cerrno>

#include "hcasim/hw/bar.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

EventQueue::~EventQueue() {
  if (ring_ == 0) return;
  rdi_->port->set_interrupt_handler(eqn_, {});
  rdi_->port->release(ring_);
}

int EventQueue::start() {
  ring_ = rdi_->port->allocate(std::uint64_t{rdi_->dparms.eq_entries} * sizeof(hw::Eqe),
                               hw::kDmaAlignment);
  if (ring_ == 0) return -ENOMEM;
  rdi_->port->set_interrupt_handler(
      eqn_, {[](void* self, std::uint64_t) { static_cast<EventQueue*>(self)->interrupt(); }, this});
  return 0;
}

hw::EqContext EventQueue::context() const {
  hw::EqContext context{};
  context.eqn = eqn_;
  context.entries = rdi_->dparms.eq_entries;
  context.base = ring_;
  return context;
}

void EventQueue::interrupt() {
  hw::Eqe eqe;
  const std::uint32_t before = consumed_;
  while (take(eqe)) rvt_handle_event(rdi_, eqe);
  if (consumed_ == before) return;
  rdi_->port->mmio_write64(rdi_->uar + hw::bar::kEqConsumerDoorbell,
                           hw::bar::doorbell(eqn_, consumed_));
}

// The place is taken before its event is handled, so that a handler may be interrupted.
bool EventQueue::take(hw::Eqe& eqe) {
  rdi_->port->read(ring_ + std::uint64_t{index_} * sizeof eqe, &eqe, sizeof eqe);
  if (eqe.owner != owner_) return false;
  ++consumed_;
  if (++index_ == rdi_->dparms.eq_entries) {
    index_ = 0;
    owner_ ^= 1;
  }
  return true;
}

}  // namespace hcasim::rvt
