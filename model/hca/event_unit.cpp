// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/event_unit.hpp"

namespace hcasim::hca {

EventUnit::EventUnit(Core& core)
    : Unit(core.engine, "event"), core_(core), stage_(core.clock, core.parameters.event.timing) {}

bool EventUnit::create(std::uint32_t eqn, std::uint64_t base, std::uint32_t entries) {
  if (eqn >= kMaxQueues || entries == 0) return false;
  if (eqn >= queues_.size()) queues_.resize(eqn + 1);
  queues_[eqn] = {base, entries, 0, false};
  return true;
}

bool EventUnit::destroy(std::uint32_t eqn) {
  if (eqn >= queues_.size() || queues_[eqn].entries == 0) return false;
  queues_[eqn] = {};
  return true;
}

void EventUnit::raise(const hw::Eqe& eqe, std::uint32_t eqn) {
  entries_.push({eqe, eqn});
  schedule(stage_.enter(now()));
}

void EventUnit::link_changed(std::uint32_t port, bool up) {
  ++(up ? counters_.port_active : counters_.port_err);
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kPortState;
  eqe.number = port;
  eqe.value = up ? 1 : 0;
  raise(eqe);
}

void EventUnit::on_event(std::uint64_t) {
  Entry entry = entries_.pop();
  if (entry.eqn >= queues_.size() || queues_[entry.eqn].entries == 0) {
    ++counters_.lost;
    return;
  }
  Queue& queue = queues_[entry.eqn];
  entry.eqe.owner = queue.second_lap ? 0 : 1;
  core_.dma.write(queue.base + std::uint64_t{32} * queue.slot, &entry.eqe, sizeof entry.eqe);
  if (++queue.slot == queue.entries) {
    queue.slot = 0;
    queue.second_lap = !queue.second_lap;
  }
  ++counters_.events;
  ++counters_.interrupts;
  core_.dma.interrupt(entry.eqn);
}

}  // namespace hcasim::hca
