// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"

namespace hcasim::pcie {

/// A unit of the adapter that reads host memory.
class DmaClient {
 public:
  /// The data of read `token` is complete where the caller asked for it (or an error answered).
  virtual void on_dma_read(std::uint64_t token, bool error) = 0;

 protected:
  ~DmaClient() = default;
};

/// Host memory as the units of an adapter reach it. Calls are made at the engine's present time.
class DmaPort {
 public:
  virtual ~DmaPort() = default;
  /// Reads `bytes` (at least 1) at host `address` into `to`, which must stay valid until the
  /// client is called, at the time at which the last completion has arrived.
  virtual void read(std::uint64_t address, void* to, std::uint32_t bytes, DmaClient& client,
                    std::uint64_t token) = 0;
  /// Writes `bytes` from `from`, which is copied. Posted: returns at once the time at which the
  /// data is visible in host memory; writes become visible in the order of the calls.
  virtual hw::Time write(std::uint64_t address, const void* from, std::uint32_t bytes) = 0;
  /// A message-signalled interrupt: a posted write behind all earlier ones.
  virtual void interrupt(std::uint32_t vector) = 0;
};

/// What the adapter's BAR offers to the PCIe side.
class BarTarget {
 public:
  virtual ~BarTarget() = default;
  /// A posted write arrives at the present time. False: the adapter cannot take it now, and calls
  /// BarHost::bar_ready when it can; the write is then offered again.
  virtual bool bar_write(std::uint64_t offset, const void* data, std::uint32_t bytes) = 0;
  /// A posted write will arrive at `arrival`, behind all before it and before any that is told of
  /// later. True: the adapter has taken it, and minds its arrival itself. False: it is offered when
  /// it arrives.
  virtual bool bar_write_ahead(std::uint64_t /*offset*/, const void* /*data*/,
                               std::uint32_t /*bytes*/, hw::Time /*arrival*/) {
    return false;
  }
  /// A read arrives; answered at once.
  virtual std::uint64_t bar_read(std::uint64_t offset) = 0;
};

/// The side that writes to the BAR.
class BarHost {
 public:
  virtual ~BarHost() = default;
  virtual void bar_ready() = 0;
};

}  // namespace hcasim::pcie
