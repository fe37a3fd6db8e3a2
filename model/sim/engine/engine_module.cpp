// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Dynamic processes must be asked for before <systemc> comes in.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "sim/engine/engine_module.hpp"

#include <algorithm>

namespace hcasim::sim {

namespace {

Time kernel_now() {
  return static_cast<Time>(sc_core::sc_time_stamp().value());
}

// Time of the next thing that the kernel has to do on its own account.
Time kernel_pending() {
  if (sc_core::sc_pending_activity_at_current_time()) return kernel_now();
  if (!sc_core::sc_pending_activity_at_future_time()) return hw::kNever;
  return kernel_now() + static_cast<Time>(sc_core::sc_time_to_pending_activity().value());
}

}  // namespace

EngineModule::EngineModule(const sc_core::sc_module_name& name, Conductor& conductor)
    : sc_core::sc_module(name),
      engine_(static_cast<const char*>(name)),
      conductor_(conductor),
      index_(conductor.coupling_.add(engine_)),
      wake_("wake") {
  conductor.modules_.push_back(this);
  engine_.set_outside_hook(&Conductor::from_outside, &conductor);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&wake_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { activate(); }, "engine", &options);
}

EngineModule::~EngineModule() = default;

sc_core::sc_time EngineModule::delay_to(Time at) const {
  return sc_core::sc_time::from_value(static_cast<std::uint64_t>(at - kernel_now()));
}

Time EngineModule::time_of(const sc_core::sc_time& delay) {
  return kernel_now() + static_cast<Time>(delay.value());
}

// An exception must not pass through the kernel, which would make a report of its own of it.
void EngineModule::activate() {
  try {
    conductor_.run(*this);
  } catch (...) {
    engine_.abandon(std::current_exception());
  }
  if (engine_.error() != nullptr) conductor_.stop();
}

void Conductor::from_outside(void* conductor) {
  auto* self = static_cast<Conductor*>(conductor);
  if (self->turn_ != nullptr) {
    self->turn_->engine_.interrupt();
  } else {
    self->schedule_next();
  }
}

void Conductor::schedule_next() {
  if (modules_.empty() || task_runs_ || stopped_) return;  // the end of the task's step looks again
  for (EngineModule* module : modules_) module->wake_.cancel();
  EngineModule& next = *modules_[coupling_.earliest()];
  const Time at = next.engine_.next_time();
  if (at >= end_) return;
  next.wake_.notify(next.delay_to(std::max(at, kernel_now())));
}

Time Conductor::now() const {
  Time latest = 0;
  for (const EngineModule* module : modules_) latest = std::max(latest, module->engine_.now());
  return latest;
}

void Conductor::bring_to_one_time() {
  const Time time = std::min(now(), modules_[coupling_.earliest()]->engine_.next_time());
  for (EngineModule* module : modules_) {
    if (module->engine_.now() < time) module->engine_.advance_to(time);
  }
}

void EngineModule::note_foreign_peer() {
  conductor_.foreign_peers_ = true;
}

Time Conductor::limit_of(std::size_t index) const {
  if (!run_ahead_) return std::min(end_, modules_[index]->engine_.next_time() + 1);
  return std::min({end_, coupling_.horizon(index), pending_});
}

void Conductor::run(EngineModule& module) {
  ++activations_;
  if (module.engine_.error() != nullptr) return;  // a task failed
  if (task_runs_) {
    // The task may have left any events, or none: whose turn it is has to be found anew.
    task_runs_ = false;
    schedule_next();
    return;
  }
  pending_ = run_ahead_ ? kernel_pending() : 0;
  EngineModule& last = run_turns(module);
  if (last.engine_.stop_requested()) {
    // A task became runnable at the engine's time; it runs before any engine goes on.
    task_runs_ = true;
    last.wake_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  schedule_next();
}

// Runs one engine after the other, whose next event is the earliest, while no task and nothing of
// the kernel comes before it. Returns the one that ran last.
EngineModule& Conductor::run_turns(EngineModule& first) {
  EngineModule* turn = &first;
  for (;;) {
    run_events(*turn);
    if (turn->engine_.stop_requested() || foreign_peers_) return *turn;
    EngineModule* next = modules_[coupling_.earliest()];
    if (next->engine_.next_time() >= std::min(end_, pending_)) return *turn;
    turn = next;
  }
}

// The engine whose turn it is has the earliest event, so that event is always allowed. The run is
// interrupted when an event crossed nodes, for the limit may then be another.
void Conductor::run_events(EngineModule& module) {
  Engine& engine = module.engine_;
  Time limit = limit_of(module.index_);
  turn_ = &module;
  engine.clear_stop();
  engine.set_running(true);
  do {
    engine.run(limit);
    if (run_ahead_) limit = limit_of(module.index_);
  } while (!engine.stop_requested() && engine.next_time() < limit);
  engine.set_running(false);
  turn_ = nullptr;
}

}  // namespace hcasim::sim
