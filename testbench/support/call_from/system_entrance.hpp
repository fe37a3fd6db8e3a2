// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <memory>
#include <stdexcept>

#include "sim/system/system.hpp"
#include "support/call_from/entrance.hpp"

namespace hcasim::support {

/// Into a node of a system. A method is one of its own, no engine's; a handler is called by the
/// node's interrupt controller, in an event of its engine. A task that calls lets pass what it has
/// charged, and waits for the end; from outside the run no time passes.
class SystemEntrance final : public Entrance, private sim::Unit {
 public:
  SystemEntrance(sim::System& system, std::size_t node)
      : Entrance(system.node(node).host().cpu()),
        Unit(system.node(node).engine(), "caller"),
        system_(system),
        host_(system.node(node).host()) {}

  /// Of calls by handlers.
  static constexpr std::uint32_t kVector = host::InterruptController::kVectors - 1;

 private:
  // A call that somebody else makes for its caller.
  struct Call {
    const Body& body;
    rvt::rvt_dev_info* device = nullptr;
    std::unique_ptr<hw::WaitPoint> done{};  // null: the caller looks after the run
    bool made = false;
    hw::Time charged = 0;
    std::exception_ptr error{};
  };

  bool inside() const override { return inside_method(); }

  void by_method(const Body& body) override {
    Call call{body};
    if (host_.tasks().inside_task()) {
      wait_for(call, [&] { spawn_method([this, &call] { make(call); }); });
    } else {
      system_.conductor().set_end(now());  // whatever the call makes the engines do comes later
      run_in_method([&] { make(call); });
    }
    end(call);
  }

  void by_handler(rvt::rvt_dev_info& device, const Body& body) override {
    Call call{body, &device};
    const auto raise = [&] {
      engine().schedule_from_outside(*this, now(), reinterpret_cast<std::uint64_t>(&call));
    };
    if (host_.tasks().inside_task()) {
      wait_for(call, raise);
    } else {
      raise();
      system_.run_until(now() + 1);
    }
    end(call);
  }

  void on_event(std::uint64_t argument) override {
    auto* call = reinterpret_cast<Call*>(argument);  // NOLINT(performance-no-int-to-ptr)
    present_ = call;
    host_.cpu().set_interrupt_handler(kVector, {[](void* self, std::uint64_t) {
                                                  auto* entrance =
                                                      static_cast<SystemEntrance*>(self);
                                                  entrance->make(*entrance->present_);
                                                },
                                                this, 0});
    in_the_middle_of_a_poll(*call->device, [this] { host_.interrupts().on_event(kVector); });
    if (call->done) call->done->signal();
  }

  void make(Call& call) {
    host_.cpu().begin_activity();
    try {
      call.body();
    } catch (...) {
      call.error = std::current_exception();
    }
    call.made = true;
    call.charged = host_.cpu().end_activity();
    if (call.done && call.device == nullptr) call.done->signal();
  }
  static void end(const Call& call) {
    if (!call.made) throw std::logic_error("the call was not made");
    if (call.error) std::rethrow_exception(call.error);
  }
  // In a task: `start` makes somebody else make the call.
  void wait_for(Call& call, const Body& start) {
    pass(host_.cpu().end_activity());
    call.done = host_.tasks().make_wait_point();
    start();
    call.done->wait(hw::kNever);
    pass(call.charged);
    host_.cpu().begin_activity();
  }
  void pass(hw::Time charged) {
    if (charged != 0) host_.tasks().sleep_until(now() + charged);
  }

  sim::System& system_;
  host::HostModule& host_;
  Call* present_ = nullptr;  // that the handler is to make
};

}  // namespace hcasim::support
