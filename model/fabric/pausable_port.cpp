// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/pausable_port.hpp"

#include <algorithm>
#include <utility>

namespace hcasim::fabric {

PausablePort::PausablePort(sim::Engine& engine, const std::string& name, EthernetPort& port)
    : Unit(engine, name), port_(port) {
  port.set_pause_listener(*this);
}

Time PausablePort::send(PacketPtr packet) {
  take_pauses();
  if (waiting_.empty() && ready_at() <= now()) return port_.send(std::move(packet));
  const Time start = std::max(now(), ready_at()) + port_.clock().rate().ceil(waiting_bytes_);
  waiting_bytes_ += packet->wire_bytes();
  waiting_.push(std::move(packet));
  start_waiting();
  return start;
}

Time PausablePort::free_at() const {
  return std::max(now(), port_.free_at()) + port_.clock().rate().ceil(waiting_bytes_);
}

void PausablePort::on_pause(Time length, Time arrival) {
  pauses_.push({length, arrival});
  engine().schedule_from_outside(*this, arrival);
}

void PausablePort::on_event(std::uint64_t) {
  take_pauses();
  start_waiting();
}

// At one time pauses come before packets start, whichever of them was known first: that depends on
// how far nodes run ahead of each other.
void PausablePort::take_pauses() {
  while (!pauses_.empty() && pauses_.front().arrival <= now()) {
    const Pause pause = pauses_.pop();
    ++frames_in_;
    paused_until_ = pause.arrival + pause.length;
  }
}

void PausablePort::start_waiting() {
  while (!waiting_.empty() && ready_at() <= now()) {
    PacketPtr packet = waiting_.pop();
    waiting_bytes_ -= packet->wire_bytes();
    port_.send(std::move(packet));
  }
  if (waiting_.empty()) return;
  const Time at = ready_at();
  if (wake_at_ > now() && wake_at_ <= at) return;  // looks again then
  wake_at_ = at;
  schedule(at);
}

}  // namespace hcasim::fabric
