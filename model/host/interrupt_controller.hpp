// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hcasim/hw/host_port.hpp"
#include "host/parameters.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::host {

/// Brings message-signalled interrupts to their handlers: each message starts the handler of its
/// vector `interrupt_ns` after it is visible, in the order of the messages.
class InterruptController : public sim::Unit {
 public:
  InterruptController(sim::Engine& engine, const Parameters& parameters);

  /// Vectors 0 to kVectors - 1; any other is a SimulationError.
  void connect(std::uint32_t vector, hw::Callback handler);
  /// A message for `vector` is visible at `at`.
  void raise(std::uint32_t vector, hw::Time at);

  std::uint64_t delivered() const { return delivered_; }
  /// Messages for which no handler was set.
  std::uint64_t spurious() const { return spurious_; }

  void on_event(std::uint64_t vector) override;

  static constexpr std::uint32_t kVectors = 2048;

 private:
  hw::Time latency_;
  std::vector<hw::Callback> handlers_;
  std::uint64_t delivered_ = 0;
  std::uint64_t spurious_ = 0;
};

}  // namespace hcasim::host
