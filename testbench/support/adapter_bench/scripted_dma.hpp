// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::testing {

using hw::Time;

/// One operation of an adapter on its host.
struct DmaOperation {
  enum class Kind : std::uint8_t { kRead, kWrite, kInterrupt };
  Kind kind = Kind::kRead;
  std::uint64_t address = 0;  ///< vector of an interrupt
  std::uint32_t bytes = 0;
  Time at = 0;    ///< when the adapter asked
  Time done = 0;  ///< when the data is there
};

/// Host memory that does as the test says: reads take a time that may differ by address, writes are
/// visible a fixed time after they were made, and everything is written down.
class ScriptedDma final : public sim::Unit, public pcie::DmaPort {
 public:
  ScriptedDma(sim::Engine& engine, Time read_latency, Time write_latency);

  /// Reads that begin in [first, first + bytes) take `latency` from now on.
  void set_read_latency(std::uint64_t first, std::uint64_t bytes, Time latency);
  /// Reads that begin in [first, first + bytes) fail from now on.
  void fail_reads(std::uint64_t first, std::uint64_t bytes) { failing_.push_back({first, bytes}); }

  void read(std::uint64_t address, void* to, std::uint32_t bytes, pcie::DmaClient& client,
            std::uint64_t token) override;
  Time write(std::uint64_t address, const void* from, std::uint32_t bytes) override;
  void interrupt(std::uint32_t vector) override;
  void on_event(std::uint64_t argument) override;
  /// Called at once by the interrupts of a vector.
  void set_handler(std::uint32_t vector, std::function<void()> handler) {
    handled_ = vector;
    handler_ = std::move(handler);
  }

  std::uint8_t* bytes_at(std::uint64_t address) { return memory_.data() + address; }
  std::uint64_t size() const { return memory_.size(); }

  /// Operations of one kind that touch [first, first + bytes), in their order.
  std::vector<DmaOperation> operations(DmaOperation::Kind kind, std::uint64_t first,
                                       std::uint64_t bytes) const;
  std::vector<DmaOperation> reads(std::uint64_t first, std::uint64_t bytes = 1) const {
    return operations(DmaOperation::Kind::kRead, first, bytes);
  }
  std::vector<DmaOperation> writes(std::uint64_t first, std::uint64_t bytes = 1) const {
    return operations(DmaOperation::Kind::kWrite, first, bytes);
  }
  std::vector<DmaOperation> interrupts(std::uint32_t vector) const {
    return operations(DmaOperation::Kind::kInterrupt, vector, 1);
  }
  const std::vector<DmaOperation>& log() const { return log_; }

 private:
  struct Range {
    std::uint64_t first;
    std::uint64_t bytes;
    bool holds(std::uint64_t address) const { return address - first < bytes; }
  };
  struct Pending {
    std::uint64_t address;
    void* to;  ///< null: a write
    std::uint32_t bytes;
    pcie::DmaClient* client;
    std::uint64_t token;
    bool error;
    std::vector<std::uint8_t> data;
  };

  void check(std::uint64_t address, std::uint32_t bytes) const;
  void pend(Time at, Pending pending);
  bool fails(std::uint64_t address) const;
  Time latency_of(std::uint64_t address) const;

  std::vector<std::uint8_t> memory_;
  std::vector<Pending> pending_;
  std::vector<DmaOperation> log_;
  std::vector<std::pair<Range, Time>> latencies_;
  std::vector<Range> failing_;
  std::uint32_t handled_ = 0;
  std::function<void()> handler_;
  Time read_latency_;
  Time write_latency_;
};

}  // namespace hcasim::testing
