// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "hcasim/hw/host_port.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::sim {

/// Tasks of a node: code that takes simulated time (control verbs, worker threads). Each is an
/// SC_THREAD; while one runs, the engine stands still at the time at which the task woke up.
class Tasks {
 public:
  explicit Tasks(Engine& engine);
  ~Tasks();

  /// Starts `body` as a task at the engine's present time.
  void start(std::function<void()> body);
  std::unique_ptr<hw::WaitPoint> make_wait_point();
  /// True when the caller is a task.
  bool inside_task() const;
  /// Lets simulated time pass. Tasks only.
  void sleep_until(Time when);

 private:
  class Impl;
  class CountedWaitPoint;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hcasim::sim
