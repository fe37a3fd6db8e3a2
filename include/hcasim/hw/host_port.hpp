// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "hcasim/hw/time.hpp"

namespace hcasim::hw {

/// Something a task can wait for and anybody can signal. Signals are counted: a signal before the
/// wait is not lost.
class WaitPoint {
 public:
  virtual ~WaitPoint() = default;
  /// Wakes one waiter, now or when it comes. Any context.
  virtual void signal() = 0;
  /// Waits for a signal; false when `timeout` passed first. Tasks only.
  virtual bool wait(Time timeout) = 0;
};

/// A function and the object it is called with: what a port calls back without allocating.
struct Callback {
  void (*function)(void* context, std::uint64_t argument) = nullptr;
  void* context = nullptr;
  std::uint64_t argument = 0;
  void operator()() const { function(context, argument); }
  explicit operator bool() const { return function != nullptr; }
};

/// How a driver reaches its machine: the only three things that cross the line to the adapter are
/// MMIO, host memory and interrupts; the rest is what an operating system offers a driver. "Tasks
/// only" calls take simulated time; the others never wait and may come from any context, an
/// interrupt handler included.
class HostPort {
 public:
  virtual ~HostPort() = default;

  // --- MMIO: offsets into BAR 0 -----------------------------------------------------------------
  /// A posted 64-bit write; takes effect after the CPU time charged so far.
  virtual void mmio_write64(std::uint64_t offset, std::uint64_t value) = 0;
  /// A posted write-combined burst of up to 512 bytes, whole 64-byte lines (BlueFlame).
  virtual void mmio_write_block(std::uint64_t offset, std::span<const std::uint8_t> bytes) = 0;
  /// An uncached read. Tasks only.
  virtual std::uint64_t mmio_read64(std::uint64_t offset) = 0;

  // --- Host memory ------------------------------------------------------------------------------
  /// Zeroed, physically contiguous memory; `alignment` a power of two. 0 when there is none left.
  virtual std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) = 0;
  /// Gives back what allocate returned.
  virtual void release(std::uint64_t address) = 0;
  /// Copies from and to host memory, as the CPU sees it now.
  virtual void read(std::uint64_t address, void* to, std::uint64_t bytes) = 0;
  virtual void write(std::uint64_t address, const void* from, std::uint64_t bytes) = 0;

  // --- Interrupts and time ----------------------------------------------------------------------
  /// Calls `handler` for each message of the MSI-X vector, in interrupt context.
  virtual void set_interrupt_handler(std::uint32_t vector, Callback handler) = 0;
  /// Calls `callback` once, when the next DMA write to [address, address + bytes) becomes visible.
  virtual void watch(std::uint64_t address, std::uint64_t bytes, Callback callback) = 0;
  /// The CPU's time: the node's time plus what the current activity charged.
  virtual Time now() = 0;
  /// Adds CPU time to the current activity.
  virtual void charge(Time duration) = 0;
  /// Calls `callback` at `when` (CPU context, must not wait); returns an id for cancel_timer, never
  /// 0.
  virtual std::uint64_t start_timer(Time when, Callback callback) = 0;
  /// True when the timer had not fired.
  virtual bool cancel_timer(std::uint64_t id) = 0;

  // --- Tasks ------------------------------------------------------------------------------------
  /// Starts a task that may wait.
  virtual void start_task(std::function<void()> body) = 0;
  /// True inside a task, outside any section that forbids waiting.
  virtual bool may_wait() const = 0;
  virtual std::unique_ptr<WaitPoint> make_wait_point() = 0;
};

}  // namespace hcasim::hw
