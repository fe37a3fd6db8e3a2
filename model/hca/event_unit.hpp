// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hca/core.hpp"
#include "hcasim/hw/cqe.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Writes event-queue elements and raises their MSI-X vectors. Event queue n has vector n; queue 0
/// carries commands and asynchronous events.
class EventUnit : public sim::Unit {
 public:
  struct Counters {
    std::uint64_t events = 0;
    std::uint64_t interrupts = 0;
    std::uint64_t lost = 0;         ///< raised on a queue that does not exist
    std::uint64_t port_err = 0;     ///< of `events`: a port went down
    std::uint64_t port_active = 0;  ///< and came up
  };

  explicit EventUnit(Core& core);

  /// Replaces queue `eqn`'s ring; false when the arguments make no ring.
  bool create(std::uint32_t eqn, std::uint64_t base, std::uint32_t entries);
  bool destroy(std::uint32_t eqn);
  void raise(const hw::Eqe& eqe, std::uint32_t eqn = 0);
  /// The link of a port, 1-based, went down or came up.
  void link_changed(std::uint32_t port, bool up);

  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;

 private:
  static constexpr std::uint32_t kMaxQueues = 1024;
  struct Queue {
    std::uint64_t base = 0;
    std::uint32_t entries = 0;
    std::uint32_t slot = 0;
    bool second_lap = false;
  };
  struct Entry {
    hw::Eqe eqe;
    std::uint32_t eqn = 0;
  };

  Core& core_;
  Stage stage_;
  std::vector<Queue> queues_;
  Fifo<Entry> entries_;
  Counters counters_;
};

}  // namespace hcasim::hca
