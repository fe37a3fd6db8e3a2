// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/interrupt_controller.hpp"

#include <fmt/format.h>

namespace hcasim::host {

InterruptController::InterruptController(sim::Engine& engine, const Parameters& p)
    : Unit(engine, "interrupts"), latency_(p.interrupt_ns * hw::kNanosecond) {}

void InterruptController::connect(std::uint32_t vector, hw::Callback handler) {
  if (vector >= kVectors) fail(fmt::format("there is no interrupt vector {}", vector));
  if (vector >= handlers_.size()) handlers_.resize(vector + 1);
  handlers_[vector] = handler;
}

void InterruptController::raise(std::uint32_t vector, hw::Time at) {
  schedule(at + latency_, vector);
}

void InterruptController::on_event(std::uint64_t vector) {
  if (vector >= handlers_.size() || !handlers_[vector]) {
    ++spurious_;
    return;
  }
  ++delivered_;
  // A copy, for the handler may connect another.
  const hw::Callback handler = handlers_[vector];
  handler();
}

}  // namespace hcasim::host
