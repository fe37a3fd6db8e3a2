// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "hcasim/hw/time.hpp"
#include "sim/engine/event_wheel.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::sim {

/// The clockwork of one node: runs the events of its units in order of time, then unit rank, then
/// order of insertion. Holds no SystemC; engine_module.hpp ties it to the kernel's time.
class Engine {
 public:
  explicit Engine(std::string name) : name_(std::move(name)), unit_prefix_(name_) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& name() const { return name_; }
  /// Whose units those are that are made now: the engine's, unless somebody else was named.
  const std::string& unit_prefix() const { return unit_prefix_; }
  /// Units made from now on belong to another node that shares this engine.
  void name_units(std::string node) { unit_prefix_ = std::move(node); }
  /// Time of the event that runs, or ran last; later if time was let pass since.
  Time now() const { return wheel_.now(); }
  /// Time of the next event, hw::kNever when there is none.
  Time next_time() const { return wheel_.next_time(); }
  std::uint64_t events_run() const { return events_run_; }

  /// Calls unit.on_event(argument) at `at`, which must not be in the past.
  void schedule(Unit& unit, Time at, std::uint64_t argument = 0);
  /// The same for a time-out, of a task that runs. What it returns takes the event back.
  std::uint64_t schedule_time_out(Unit& unit, Time at, std::uint64_t argument);
  /// Takes a time-out back, if it is not about to come. Only while a task runs.
  void withdraw(std::uint64_t time_out) { wheel_.withdraw(time_out); }
  /// Lets time pass up to `time`, which is not behind the next event. Only while nothing runs.
  void advance_to(Time time) { wheel_.advance_to(time); }
  /// The same from another node or a foreign module: whoever limits this engine must look again.
  void schedule_from_outside(Unit& unit, Time at, std::uint64_t argument = 0);

  /// Runs the next event.
  void step() {
    const Event& event = wheel_.pop();
    ++events_run_;
    event.unit->on_event(event.argument);
  }
  /// Runs the next event, whenever it is, and then all before `limit`, or until interrupt() or
  /// request_stop().
  void run(Time limit) {
    limit_ = limit;
    do {
      step();
    } while (next_time() < limit_);
  }
  /// Makes run() return after the current event.
  void interrupt() { limit_ = std::numeric_limits<Time>::min(); }
  /// Runs all events before `limit`, or until a handler asks to stop. For tests of plain units.
  void run_before(Time limit) {
    clear_stop();
    if (next_time() < limit) run(limit);
  }

  /// Something went wrong that the node cannot go on after: nothing more of it runs.
  void abandon(std::exception_ptr error) {
    error_ = std::move(error);
    request_stop();
  }
  /// What abandon() was given; null while all is well.
  const std::exception_ptr& error() const { return error_; }

  /// Makes the run loop return to the kernel after the current event.
  void request_stop() {
    stop_ = true;
    interrupt();
  }
  bool stop_requested() const { return stop_; }
  void clear_stop() { stop_ = false; }

  /// True while this engine runs its events: what they schedule here is no news to anybody.
  void set_running(bool running) { running_ = running; }
  /// Called when an event came in from outside the node that is its next.
  void set_outside_hook(void (*hook)(void*), void* context) {
    outside_hook_ = hook;
    outside_context_ = context;
  }

  std::uint64_t next_rank() { return ranks_++; }

 private:
  std::uint64_t schedule_slowly(Unit& unit, Time at, std::uint64_t argument);

  std::string name_;
  std::string unit_prefix_;
  EventWheel wheel_;
  Time limit_ = 0;  // of the present run
  std::uint64_t events_run_ = 0;
  std::uint64_t ranks_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  bool running_ = false;
  void (*outside_hook_)(void*) = nullptr;
  void* outside_context_ = nullptr;
};

inline Time Unit::now() const {
  return engine_.now();
}
inline void Unit::schedule(Time at, std::uint64_t argument) {
  engine_.schedule(*this, at, argument);
}

}  // namespace hcasim::sim
