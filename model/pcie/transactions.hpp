// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"

/// The seam between the two ends of a PCIe link, without SystemC: the endpoint and the root complex
/// meet here directly in a unit test, and through TLM sockets in a system. Times are those at which
/// the far end has the transaction; they may lie in the future of the caller.
namespace hcasim::pcie {

/// Where message-signalled interrupts are written to; the data is the vector.
inline constexpr std::uint64_t kMsixAddress = 0xfee0'0000;
inline constexpr std::uint32_t kMsixBytes = 4;

/// Takes the completions of reads.
class ReadSink {
 public:
  /// The last completion of a read arrives at `at`. Its data is in place already; who asked must
  /// not look at it earlier. Called in the order of `at`.
  virtual void on_completion(std::uint64_t token, std::uint64_t address, std::uint32_t bytes,
                             hw::Time at, bool error) = 0;

 protected:
  ~ReadSink() = default;
};

/// The host as an endpoint sees it.
class HostSide {
 public:
  virtual ~HostSide() = default;
  /// A posted write whose last byte arrives at `arrival`; returns when it is visible.
  virtual hw::Time write(std::uint64_t address, const void* from, std::uint32_t bytes,
                         hw::Time arrival) = 0;
  /// Read requests, the first of which arrives at `arrival`.
  virtual void read(ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
                    std::uint32_t bytes, hw::Time arrival) = 0;
};

/// One access of the host to a BAR. `data` belongs to the host and stays until the device is done.
struct BarAccess {
  std::uint64_t token;
  std::uint64_t offset;
  std::uint8_t* data;
  std::uint32_t bytes;
  bool is_write;
};

/// Takes the answers to accesses.
class BarSink {
 public:
  /// A write was taken and its credits are back at `at`, or the value of a read is.
  virtual void on_bar_done(std::uint64_t token, hw::Time at) = 0;
  /// The device answered DeviceSide::access with false before and takes requests again.
  virtual void on_bar_free() = 0;

 protected:
  ~BarSink() = default;
};

/// The device as the host sees it.
class DeviceSide {
 public:
  virtual ~DeviceSide() = default;
  /// An access that arrives at `arrival`. False: taken, but the next must wait for on_bar_free.
  virtual bool access(BarSink& sink, const BarAccess& access, hw::Time arrival) = 0;
};

}  // namespace hcasim::pcie
