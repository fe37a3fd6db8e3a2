// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/cpu_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hcasim::host {

namespace {

// Argument of an event: a watch's slot, or a timer's id with this bit.
constexpr std::uint64_t kTimerBit = std::uint64_t{1} << 63;

constexpr std::uint64_t timer_id(std::uint32_t slot, std::uint32_t turn) {
  return std::uint64_t{turn} << 32 | slot;
}

}  // namespace

// A task that waits first lets the CPU time pass that it has charged.
class CpuPort::SettlingWaitPoint : public hw::WaitPoint {
 public:
  SettlingWaitPoint(CpuPort& cpu, std::unique_ptr<hw::WaitPoint> inner)
      : cpu_(cpu), inner_(std::move(inner)) {}

  void signal() override { inner_->signal(); }
  bool wait(Time timeout) override {
    cpu_.settle();
    return inner_->wait(timeout);
  }

 private:
  CpuPort& cpu_;
  std::unique_ptr<hw::WaitPoint> inner_;
};

CpuPort::CpuPort(sim::Engine& engine, const Parameters& p, Memory& memory, MmioPort& mmio,
                 InterruptController& interrupts, sim::Tasks& tasks)
    : Unit(engine, "cpu"),
      memory_(memory),
      mmio_(mmio),
      interrupts_(interrupts),
      tasks_(tasks),
      mmio_write_(p.mmio_write_ns * hw::kNanosecond),
      mmio_read_(p.mmio_read_ns * hw::kNanosecond) {}

void CpuPort::run(hw::Callback callback) {
  begin_activity();
  callback();
  end_activity();
}

void CpuPort::settle() {
  const Time charged = end_activity();
  if (charged != 0) tasks_.sleep_until(sim::Unit::now() + charged);
}

// --- MMIO
// -----------------------------------------------------------------------------------------

void CpuPort::mmio_write64(std::uint64_t offset, std::uint64_t value) {
  mmio_.write(offset, &value, sizeof value, now());
  charge(mmio_write_);
}

void CpuPort::mmio_write_block(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  mmio_.write(offset, bytes.data(), static_cast<std::uint32_t>(bytes.size()), now());
  charge(mmio_write_ * static_cast<Time>(bytes.size() / MmioPort::kLineBytes));
}

std::uint64_t CpuPort::mmio_read64(std::uint64_t offset) {
  settle();
  const Time done_at = sim::Unit::now() + mmio_read_;
  const std::unique_ptr<hw::WaitPoint> answer = tasks_.make_wait_point();
  std::uint64_t value = 0;
  const auto signal = [](void* point, std::uint64_t) {
    static_cast<hw::WaitPoint*>(point)->signal();
  };
  mmio_.read(offset, value, sim::Unit::now(), {signal, answer.get(), 0});
  answer->wait(hw::kNever);
  if (sim::Unit::now() < done_at) tasks_.sleep_until(done_at);
  return value;
}

// --- Memory
// ---------------------------------------------------------------------------------------

std::uint64_t CpuPort::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  return memory_.allocate(bytes, alignment);
}

void CpuPort::release(std::uint64_t address) {
  memory_.release(address);
}

void CpuPort::fail_unmapped(std::uint64_t address, std::uint64_t bytes) const {
  fail(
      fmt::format("the driver touches {} bytes at {:#x}, which are not allocated", bytes, address));
}

void CpuPort::read(std::uint64_t address, void* to, std::uint64_t bytes) {
  if (!memory_.read_if_simple(address, to, bytes)) read_any(address, to, bytes);
}

void CpuPort::read_any(std::uint64_t address, void* to, std::uint64_t bytes) {
  if (!memory_.try_read(address, to, bytes)) fail_unmapped(address, bytes);
}

void CpuPort::write(std::uint64_t address, const void* from, std::uint64_t bytes) {
  if (!memory_.write_if_simple(address, from, bytes)) write_any(address, from, bytes);
}

void CpuPort::write_any(std::uint64_t address, const void* from, std::uint64_t bytes) {
  if (!memory_.try_write(address, from, bytes)) fail_unmapped(address, bytes);
}

// --- Interrupts, watches, timers
// ------------------------------------------------------------------

void CpuPort::set_interrupt_handler(std::uint32_t vector, hw::Callback handler) {
  interrupts_.connect(vector, {&CpuPort::interrupted, this, vector});
  if (vector >= handlers_.size()) handlers_.resize(vector + 1);
  handlers_[vector] = handler;
}

void CpuPort::interrupted(void* self, std::uint64_t vector) {
  auto* cpu = static_cast<CpuPort*>(self);
  if (cpu->handlers_[vector]) cpu->run(cpu->handlers_[vector]);
}

std::uint32_t CpuPort::allocate_slot(std::vector<std::uint32_t>& free, std::size_t used) {
  if (free.empty()) return static_cast<std::uint32_t>(used);
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

void CpuPort::watch(std::uint64_t address, std::uint64_t bytes, hw::Callback callback) {
  if (!memory_.mapped(address, bytes)) fail_unmapped(address, bytes);
  const std::uint32_t slot = allocate_slot(free_watches_, watches_.size());
  if (slot == watches_.size()) watches_.emplace_back();
  watches_[slot] = callback;
  memory_.watch(address, bytes, {&CpuPort::told, this, slot});
}

void CpuPort::told(void* self, std::uint64_t slot, Time visible_at) {
  auto* cpu = static_cast<CpuPort*>(self);
  cpu->schedule(visible_at, slot);
}

std::uint64_t CpuPort::start_timer(Time when, hw::Callback callback) {
  const std::uint32_t slot = allocate_slot(free_timers_, timers_.size());
  if (slot == timers_.size()) timers_.emplace_back();
  Timer& timer = timers_[slot];
  timer.turn = timer.turn % 0x3fff'ffff + 1;  // never 0, so an id never is
  timer.callback = callback;
  timer.running = true;
  const std::uint64_t id = timer_id(slot, timer.turn);
  schedule(std::max(when, sim::Unit::now()), kTimerBit | id);
  return id;
}

bool CpuPort::cancel_timer(std::uint64_t id) {
  const auto slot = static_cast<std::uint32_t>(id);
  if (slot >= timers_.size()) return false;
  Timer& timer = timers_[slot];
  if (!timer.running || timer_id(slot, timer.turn) != id) return false;
  timer.running = false;
  free_timers_.push_back(slot);
  return true;
}

void CpuPort::fire_timer(std::uint64_t id) {
  const auto slot = static_cast<std::uint32_t>(id);
  const hw::Callback callback = timers_[slot].callback;
  if (cancel_timer(id)) run(callback);
}

void CpuPort::on_event(std::uint64_t argument) {
  if ((argument & kTimerBit) != 0) {
    fire_timer(argument & ~kTimerBit);
    return;
  }
  const hw::Callback callback = watches_[argument];
  free_watches_.push_back(static_cast<std::uint32_t>(argument));
  run(callback);
}

// --- Tasks
// ----------------------------------------------------------------------------------------

void CpuPort::start_task(std::function<void()> body) {
  tasks_.start([this, body = std::move(body)] {
    begin_activity();
    body();
    end_activity();
  });
}

std::unique_ptr<hw::WaitPoint> CpuPort::make_wait_point() {
  return std::make_unique<SettlingWaitPoint>(*this, tasks_.make_wait_point());
}

}  // namespace hcasim::host
