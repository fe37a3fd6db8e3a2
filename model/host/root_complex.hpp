// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "fabric/link_clock.hpp"
#include "host/interrupt_controller.hpp"
#include "host/posted_writes.hpp"
#include "host/read_latency.hpp"
#include "pcie/slots.hpp"
#include "pcie/tlp_layout.hpp"
#include "pcie/transactions.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::host {

struct RootComplexCounters {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t messages = 0;         ///< message-signalled interrupts
  std::uint64_t unmapped_reads = 0;   ///< answered with an error
  std::uint64_t unmapped_writes = 0;  ///< dropped, as a posted write has no answer
};

/// The host's end of the PCIe link. A write is visible `write_latency_ns` after its arrival and not
/// before earlier ones. A read takes its data the drawn latency after the arrival of its first
/// request, and not before the writes that arrived earlier are visible; then its completions take
/// the downstream link, back to back.
class RootComplex final : public pcie::HostSide, public sim::Unit {
 public:
  RootComplex(sim::Engine& engine, const pcie::Parameters& parameters, Memory& memory,
              InterruptController& interrupts, std::uint64_t seed);

  Time write(std::uint64_t address, const void* from, std::uint32_t bytes, Time arrival) override;
  void read(pcie::ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
            std::uint32_t bytes, Time arrival) override;

  /// The downstream direction of the link, shared with MMIO accesses.
  fabric::LinkClock& downstream() { return downstream_; }
  const fabric::LinkClock& downstream() const { return downstream_; }
  /// For a foreign initiator that calls b_transport: data as of `at`; returns how long it took.
  Time read_at_once(std::uint64_t address, void* to, std::uint32_t bytes, Time at, bool& error);

  Memory& memory() { return memory_; }
  const RootComplexCounters& counters() const { return counters_; }
  std::uint32_t reads_pending() const { return pending_; }

  void on_event(std::uint64_t argument) override;

 private:
  struct Read {
    pcie::ReadSink* sink;
    std::uint64_t token;
    std::uint64_t address;
    void* to;
    std::uint32_t bytes;
  };

  Time write_any(std::uint64_t address, const void* from, std::uint32_t bytes);

  Memory& memory_;
  PostedWrites posted_;
  InterruptController& interrupts_;
  pcie::TlpLayout layout_;
  fabric::LinkClock downstream_;
  ReadLatency latency_;
  Time propagation_;
  Time write_latency_;
  Time last_visible_ = 0;
  pcie::Slots<Read> reads_;
  std::uint32_t pending_ = 0;
  RootComplexCounters counters_;
};

}  // namespace hcasim::host
