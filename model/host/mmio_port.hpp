// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fabric/link_clock.hpp"
#include "fabric/link_ring.hpp"
#include "hcasim/hw/host_port.hpp"
#include "pcie/tlp_layout.hpp"
#include "pcie/transactions.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::host {

using hw::Time;

struct MmioCounters {
  std::uint64_t writes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t reads = 0;
  std::uint64_t credit_waits = 0;  ///< writes that found the device's buffers full
};

/// Stores and loads of the CPU on their way to a BAR. They leave in the order of their issue times,
/// each when the downstream link is free and the device has credits for it; one that has to wait
/// holds up those behind it.
class MmioPort final : public sim::Unit, public pcie::BarSink {
 public:
  /// `downstream` is shared with the completions of DMA reads.
  MmioPort(sim::Engine& engine, const pcie::Parameters& parameters, fabric::LinkClock& downstream,
           pcie::DeviceSide& device);

  /// A store of up to 64 bytes, or a write-combined burst of whole 64-byte lines up to 512 bytes,
  /// that the CPU issues at `issue`, now or later. The bytes are copied.
  void write(std::uint64_t offset, const void* data, std::uint32_t bytes, Time issue);
  /// A load of 8 bytes; calls `done` when the value is in `to`, behind all earlier accesses.
  void read(std::uint64_t offset, std::uint64_t& to, Time issue, hw::Callback done);

  const MmioCounters& counters() const { return counters_; }
  /// Accesses that have not left yet.
  std::size_t waiting() const { return queue_.size(); }

  void on_event(std::uint64_t argument) override;
  void on_bar_done(std::uint64_t token, Time at) override;
  void on_bar_free() override;

  static constexpr std::uint32_t kLineBytes = 64;
  static constexpr std::uint32_t kMaxBytes = 512;

 private:
  struct Access {
    std::uint64_t offset;
    Time issue;
    std::uint32_t bytes;
    std::uint32_t tlps;
    std::uint32_t credits;
    std::uint32_t link_bytes;
    bool is_write;
    std::uint64_t* to;
    hw::Callback done;
    std::array<std::uint8_t, kMaxBytes> data;
  };
  struct Return {
    Time at;
    std::uint32_t tlps;
    std::uint32_t credits;
  };

  std::uint32_t allocate() {
    if (free_.empty()) [[unlikely]]
      return add_access();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  [[gnu::noinline]] std::uint32_t add_access();
  [[gnu::noinline]] void refuse_unless_burst(std::uint64_t offset, std::uint32_t bytes) const;
  void enqueue(std::uint32_t index);
  [[gnu::noinline]] void pump();
  bool take_credits(const Access& access);
  bool enough_credits(const Access& access) const {
    return access.tlps <= headers_ && access.credits <= credits_;
  }
  [[gnu::noinline]] bool collect_credits(const Access& access);
  void send(std::uint32_t index);
  void finish_read(std::uint32_t index);

  static constexpr std::uint64_t kPump = ~std::uint64_t{0};

  pcie::TlpLayout layout_;
  fabric::LinkClock& downstream_;
  pcie::DeviceSide& device_;
  Time propagation_;
  std::uint32_t headers_;
  std::uint32_t credits_;
  std::vector<std::unique_ptr<Access>> accesses_;  // the device keeps pointers to their bytes
  std::vector<std::uint32_t> free_;
  fabric::LinkRing<std::uint32_t> queue_;
  fabric::LinkRing<Return> returns_;
  bool channel_busy_ = false;
  bool short_of_credits_ = false;
  MmioCounters counters_;
};

}  // namespace hcasim::host
