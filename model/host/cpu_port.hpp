// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "hcasim/hw/host_port.hpp"
#include "host/interrupt_controller.hpp"
#include "host/memory.hpp"
#include "host/mmio_port.hpp"
#include "host/parameters.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/tasks.hpp"

namespace hcasim::host {

/// The machine as its driver sees it. CPU work is done in activities: a timer, a watch, an
/// interrupt handler, a task between two waits, or a step of a process that calls begin_activity
/// and end_activity. The engine's time stands still in an activity; what it charges is added to the
/// times at which its stores leave, and has to pass before the same process goes on. Activities do
/// not wait for each other: the node has as many cores as it needs.
class CpuPort final : public hw::HostPort, public sim::Unit {
 public:
  CpuPort(sim::Engine& engine, const Parameters& parameters, Memory& memory, MmioPort& mmio,
          InterruptController& interrupts, sim::Tasks& tasks);

  /// Starts an activity at the engine's present time. Not inside another one.
  void begin_activity() { charged_ = 0; }
  /// Ends it; returns the CPU time that it took.
  Time end_activity() { return std::exchange(charged_, 0); }

  void mmio_write64(std::uint64_t offset, std::uint64_t value) override;
  void mmio_write_block(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
  std::uint64_t mmio_read64(std::uint64_t offset) override;

  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) override;
  void release(std::uint64_t address) override;
  void read(std::uint64_t address, void* to, std::uint64_t bytes) override;
  void write(std::uint64_t address, const void* from, std::uint64_t bytes) override;

  void set_interrupt_handler(std::uint32_t vector, hw::Callback handler) override;
  void watch(std::uint64_t address, std::uint64_t bytes, hw::Callback callback) override;
  Time now() override { return sim::Unit::now() + charged_; }
  void charge(Time duration) override { charged_ += duration; }
  std::uint64_t start_timer(Time when, hw::Callback callback) override;
  bool cancel_timer(std::uint64_t id) override;

  void start_task(std::function<void()> body) override;
  bool may_wait() const override { return tasks_.inside_task(); }
  std::unique_ptr<hw::WaitPoint> make_wait_point() override;

  void on_event(std::uint64_t argument) override;

 private:
  class SettlingWaitPoint;
  struct Timer {
    hw::Callback callback;
    std::uint32_t turn = 0;  // how often the slot was used; an event of an earlier use is stale
    bool running = false;
  };

  void read_any(std::uint64_t address, void* to, std::uint64_t bytes);
  void write_any(std::uint64_t address, const void* from, std::uint64_t bytes);
  void settle();
  void run(hw::Callback callback);
  [[noreturn]] void fail_unmapped(std::uint64_t address, std::uint64_t bytes) const;
  static std::uint32_t allocate_slot(std::vector<std::uint32_t>& free, std::size_t used);
  static void told(void* self, std::uint64_t slot, Time visible_at);
  static void interrupted(void* self, std::uint64_t vector);
  void fire_timer(std::uint64_t id);

  Memory& memory_;
  MmioPort& mmio_;
  InterruptController& interrupts_;
  sim::Tasks& tasks_;
  Time mmio_write_;
  Time mmio_read_;
  Time charged_ = 0;
  std::vector<hw::Callback> handlers_;
  std::vector<hw::Callback> watches_;
  std::vector<std::uint32_t> free_watches_;
  std::vector<Timer> timers_;
  std::vector<std::uint32_t> free_timers_;
};

}  // namespace hcasim::host
