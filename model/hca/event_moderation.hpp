// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/core.hpp"
#include "hcasim/hw/time.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Decides when an armed completion queue raises its event: with the first completion that the
/// consumer had not seen when it armed, or, where the queue is moderated, with the `cq_count`-th or
/// `cq_period` after the first, whichever is earlier. A solicited or failed completion is never
/// held back.
///
/// Timing: takes none of its own; the event unit is told in the cycle of the completion, or exactly
/// a period after it. Only a queue that holds something back has an event of the engine.
class EventModeration : public sim::Unit {
 public:
  struct Counters {
    std::uint64_t held = 0;     ///< events that waited for more completions or for the period
    std::uint64_t expired = 0;  ///< of these, those that the period ended
  };

  explicit EventModeration(Core& core) : Unit(core.engine, "event_moderation"), core_(core) {}

  /// A completion was written.
  void completed(CompletionQueue& cq, bool solicited) {
    if (cq.armed || (cq.armed_solicited && solicited)) moderate(cq, solicited);
  }
  /// The consumer asks for an event; `seen` is how many completions it has read. False: no such CQ.
  bool arm(std::uint32_t cqn, bool solicited_only, std::uint32_t seen);
  /// Gives a queue another moderation. What is held back is judged by it at once; a period begins
  /// anew.
  void modify(CompletionQueue& cq, std::uint16_t count, std::uint16_t period);

  const Counters& counters() const { return counters_; }
  void on_event(std::uint64_t cqn) override;

 private:
  [[gnu::noinline]] void moderate(CompletionQueue& cq, bool urgent);
  void hold(CompletionQueue& cq);
  void wake_at(CompletionQueue& cq, hw::Time deadline);
  void raise(CompletionQueue& cq);

  Core& core_;
  Counters counters_;
};

}  // namespace hcasim::hca
