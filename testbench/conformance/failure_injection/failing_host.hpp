// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "conformance/failure_injection/failing_memory.hpp"
#include "support/fake_host.hpp"

namespace hcasim::testing_support {

/// A machine that has no memory when FailingMemory says so, and whose adapter can lose a command.
/// What the machine itself allocates is left alone.
class FailingHost : public FakeHost {
 public:
  static constexpr int kNever = -1;

  int commands_until_lost = kNever;  ///< the command that gets 0 is never answered

  void mmio_write64(std::uint64_t offset, std::uint64_t value) override {
    const OwnMemory own;
    if (offset == hw::bar::kCommand) {
      const bool lost = commands_until_lost == 0;
      if (commands_until_lost >= 0) --commands_until_lost;
      if (lost) return;
    }
    FakeHost::mmio_write64(offset, value);
  }
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) override {
    if (FailingMemory::fails()) return 0;
    const OwnMemory own;
    return FakeHost::allocate(bytes, alignment);
  }
  void release(std::uint64_t address) override {
    const OwnMemory own;
    FakeHost::release(address);
  }
  void mmio_write_block(std::uint64_t offset, std::span<const std::uint8_t> bytes) override {
    const OwnMemory own;
    FakeHost::mmio_write_block(offset, bytes);
  }
  void write(std::uint64_t address, const void* from, std::uint64_t bytes) override {
    const OwnMemory own;
    FakeHost::write(address, from, bytes);
  }
  void set_interrupt_handler(std::uint32_t vector, hw::Callback handler) override {
    const OwnMemory own;
    FakeHost::set_interrupt_handler(vector, handler);
  }
  std::uint64_t start_timer(hw::Time when, hw::Callback callback) override {
    const OwnMemory own;
    return FakeHost::start_timer(when, callback);
  }
  std::unique_ptr<hw::WaitPoint> make_wait_point() override {
    const OwnMemory own;
    return std::make_unique<QuietPoint>(FakeHost::make_wait_point());
  }

 private:
  // While somebody waits it is the machine's turn.
  class QuietPoint : public hw::WaitPoint {
   public:
    explicit QuietPoint(std::unique_ptr<hw::WaitPoint> point) : point_(std::move(point)) {}
    void signal() override { point_->signal(); }
    bool wait(hw::Time timeout) override {
      const OwnMemory own;
      return point_->wait(timeout);
    }

   private:
    std::unique_ptr<hw::WaitPoint> point_;
  };
};

}  // namespace hcasim::testing_support
