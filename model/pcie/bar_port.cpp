// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/bar_port.hpp"

#include <algorithm>
#include <cstring>

namespace hcasim::pcie {

BarPort::BarPort(sim::Engine& engine, const std::string& name, const Parameters& p,
                 Endpoint& endpoint)
    : Unit(engine, name), endpoint_(endpoint), propagation_(p.propagation_ns * hw::kNanosecond) {}

bool BarPort::access(BarSink& sink, const BarAccess& access, Time arrival) {
  queue_.emplace() = {&sink, access, arrival};
  queue_.settle_last([arrival](const Arrival& other) { return other.at > arrival; });
  engine().schedule_from_outside(*this, arrival);
  return true;
}

bool BarPort::access_in_order(BarSink& sink, const BarAccess& access, Time arrival) {
  const bool taken = access.is_write && queue_.empty() &&
                     target_->bar_write_ahead(access.offset, access.data, access.bytes, arrival);
  if (!taken) return this->access(sink, access, arrival);
  ++counters_.writes;
  sink.on_bar_done(access.token, arrival + propagation_);
  return true;
}

void BarPort::on_event(std::uint64_t) {
  offer();
}

void BarPort::bar_ready() {
  held_up_ = false;
  offer();
}

[[gnu::flatten]] void BarPort::offer() {
  if (offering_) return;  // the adapter called bar_ready from inside bar_write
  offering_ = true;
  while (!held_up_ && !queue_.empty() && queue_.front().at <= now()) {
    held_up_ = true;  // until the adapter says otherwise, before or after it returns
    if (deliver(queue_.front())) {
      held_up_ = false;
      queue_.drop();
    }
  }
  offering_ = false;
}

bool BarPort::deliver(const Arrival& arrival) {
  const BarAccess& access = arrival.access;
  if (access.is_write) {
    if (!target_->bar_write(access.offset, access.data, access.bytes)) {
      ++counters_.held_up;
      return false;
    }
    ++counters_.writes;
    arrival.sink->on_bar_done(access.token, now() + propagation_);
    return true;
  }
  ++counters_.reads;
  const std::uint64_t value = target_->bar_read(access.offset);
  std::memcpy(access.data, &value, std::min<std::size_t>(access.bytes, sizeof value));
  arrival.sink->on_bar_done(access.token, endpoint_.complete_mmio_read(access.bytes));
  return true;
}

}  // namespace hcasim::pcie
