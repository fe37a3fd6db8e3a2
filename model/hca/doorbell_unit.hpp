// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/core.hpp"
#include "hcasim/hw/bar.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Takes doorbells off the BAR, in order. Doorbells wait in a FIFO; one for a queue that already
/// waits there takes the waiting one's place (the newer index says it all). A full FIFO holds up
/// PCIe.
///
/// Timing: entered at the first edge after arrival, one each `interval`, seen by the next unit
/// `latency` later.
class DoorbellUnit : public sim::Unit {
 public:
  struct Counters {
    std::uint64_t doorbells = 0;
    std::uint64_t merged = 0;
    std::uint64_t stalled = 0;             ///< doorbells that found the FIFO full
    std::uint64_t bad = 0;                 ///< writes to no doorbell, or for an unknown object
    std::uint64_t blue_flame = 0;          ///< bursts whose WQE was taken
    std::uint64_t blue_flame_ignored = 0;  ///< bursts that counted as a doorbell
  };

  explicit DoorbellUnit(Core& core);

  void set_host(pcie::BarHost& host) { host_ = &host; }
  /// A write to UAR space at the present time; false when the FIFO is full.
  bool write(std::uint64_t offset, std::uint64_t value);
  /// The same for a BlueFlame burst. Only doorbells are kept in the FIFO: a burst that finds the
  /// stage busy counts as the doorbell alone.
  bool write_burst(std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes);
  /// The same for one that arrives at `arrival`, now or later, behind all told of before. False
  /// when the stage is not free for it: it has to be written when it arrives.
  bool write_ahead(std::uint64_t offset, std::uint64_t value, hw::Time arrival);
  /// True when every doorbell that arrived before now has been handed on.
  bool drained();

  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;

 private:
  static constexpr std::uint32_t kBurst = hw::bar::kUarBytes;  // no offset in a page

  struct Doorbell {
    std::uint32_t kind;  ///< offset in the UAR page, or kBurst
    std::uint32_t number;
    std::uint32_t index;
    hw::Time arrival;
  };

  static Doorbell decode(std::uint64_t offset, std::uint64_t value, hw::Time arrival);
  bool merge(const Doorbell& doorbell);
  void dispatch(const Doorbell& doorbell, hw::Time edge);
  void arrange();
  void dispatch_next();
  void deliver(const Doorbell& doorbell);
  [[gnu::noinline]] void deliver_burst(const Doorbell& doorbell);

  Core& core_;
  Stage stage_;
  pcie::BarHost* host_ = nullptr;
  Fifo<Doorbell> waiting_;     // while it is not empty, an event of the next dispatch is scheduled
  Fifo<Doorbell> dispatched_;  // in the stage
  Fifo<FetchBuffer*> bursts_;  // WQEs of the bursts among them
  bool stalled_ = false;
  Counters counters_;
};

}  // namespace hcasim::hca
