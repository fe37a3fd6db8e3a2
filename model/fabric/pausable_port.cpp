// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/pausable_port.hpp"

#include <algorithm>
#include <utility>

namespace hcasim::fabric {

PausablePort::PausablePort(sim::Engine& engine, const std::string& name, EthernetPort& port,
                           std::uint64_t buffer_bytes)
    : Unit(engine, name), port_(port), buffer_bytes_(buffer_bytes) {
  port.set_pause_listener(*this);
}

Time PausablePort::send(PacketPtr packet) {
  take_pauses();
  if (waiting_.empty() && ready_at() <= now()) return port_.send(std::move(packet));
  if (waiting_.empty()) draining_ = paused();
  waiting_bytes_ += packet->wire_bytes();
  waiting_.push(std::move(packet));
  start_waiting();
  return kStartsLater;
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
  while (!waiting_.empty() && ready_at() <= now()) start_first();
  stop_or_go_on();
  if (!waiting_.empty()) {
    wake_at(ready_at());
  } else if (stopped_) {
    wake_at(paused_until_);
  }
}

void PausablePort::start_first() {
  PacketPtr packet = waiting_.pop();
  waiting_bytes_ -= packet->wire_bytes();
  Departure departure{packet->message, packet->opcode};
  departure.start = port_.send(std::move(packet));
  departure.end = port_.free_at();
  if (listener_ != nullptr) listener_->started(departure);
}

// Who was stopped hands over no more than there is room for until the backlog has left.
void PausablePort::stop_or_go_on() {
  draining_ = paused() || (draining_ && !waiting_.empty());
  const bool stop = draining_ && !has_room();
  if (listener_ == nullptr || stop == stopped_) return;
  stopped_ = stop;
  stop ? listener_->port_stops() : listener_->port_goes_on();
}

void PausablePort::wake_at(Time at) {
  if (wake_ > now() && wake_ <= at) return;  // looks again then
  wake_ = at;
  schedule(at);
}

}  // namespace hcasim::fabric
