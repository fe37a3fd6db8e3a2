// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "sim/engine/coupling.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::sim {

class Conductor;

/// The one SC_METHOD of a node. It runs the engine's events up to the horizon and hands on to the
/// engine that is due next.
class EngineModule : public sc_core::sc_module {
 public:
  EngineModule(const sc_core::sc_module_name& name, Conductor& conductor);
  ~EngineModule() override;

  Engine& engine() { return engine_; }
  std::size_t index() const { return index_; }
  /// Engine time as the delay of a TLM call made inside a handler: how far it is ahead of the
  /// kernel.
  sc_core::sc_time delay_to(Time at) const;
  /// Time at which a TLM call with this delay takes effect.
  static Time time_of(const sc_core::sc_time& delay);
  /// A socket of this node has a foreign peer, which may look at the kernel's time.
  void note_foreign_peer();

 private:
  friend class Conductor;
  void activate();

  Engine engine_;
  Conductor& conductor_;
  std::size_t index_;
  sc_core::sc_event wake_;
};

/// Lets the engines of a simulation take turns. At most one engine has a wake-up pending in the
/// kernel, so while an engine runs, everything else that the kernel has pending is foreign, and its
/// time is a bound for the run. Up to it engines hand over to each other without the kernel, unless
/// a foreign module is bound to one of them, which must find the kernel's time near the engine's.
class Conductor {
 public:
  /// `run_ahead` off: an engine runs the events of one time step an activation.
  explicit Conductor(bool run_ahead) : run_ahead_(run_ahead) {}

  Coupling& coupling() { return coupling_; }
  /// Wakes the engine that is due next, when the kernel's time has come to its next event.
  void schedule_next();
  /// Wakes nobody any more: the engines are about to go.
  void stop() { stopped_ = true; }
  /// The latest time that any engine has reached.
  Time now() const;
  /// Lets all engines come to that time, as far as their events allow: what somebody asks of one
  /// of them next is then in no other's past. Between runs only.
  void bring_to_one_time();
  /// Number of kernel activations of all engines.
  std::uint64_t activations() const { return activations_; }
  /// No engine runs events at or after this time; the simulation then has nothing left to do.
  void set_end(Time end) { end_ = end; }

 private:
  friend class EngineModule;
  void run(EngineModule& module);
  EngineModule& run_turns(EngineModule& first);
  void run_events(EngineModule& module);
  Time limit_of(std::size_t index) const;
  static void from_outside(void* conductor);

  bool run_ahead_;
  Coupling coupling_;
  std::vector<EngineModule*> modules_;
  std::uint64_t activations_ = 0;
  Time end_ = hw::kNever;
  Time pending_ = hw::kNever;  // what the kernel has to do next, as of this activation
  bool foreign_peers_ = false;
  EngineModule* turn_ = nullptr;  // whose events run
  bool stopped_ = false;
  bool task_runs_ = false;  // from the request to stop to the next delta cycle
};

}  // namespace hcasim::sim
