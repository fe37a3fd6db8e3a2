// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

using hw::Time;

class Engine;

/// A run that cannot go on: at which simulated time, in which unit, and why.
class SimulationError : public std::runtime_error {
 public:
  SimulationError(Time at, const std::string& unit, const std::string& why);
};

/// A part of a node that reacts to events of the node's engine. Units are registered in a fixed
/// order, which is their rank: of two events at one time, that of the lower rank comes first.
class Unit {
 public:
  /// Named after the node that the engine names units of.
  Unit(Engine& engine, std::string name);
  virtual ~Unit() = default;
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  virtual void on_event(std::uint64_t argument) = 0;

  const std::string& name() const { return name_; }
  std::uint64_t rank() const { return rank_; }

 protected:
  Engine& engine() const { return engine_; }
  Time now() const;
  void schedule(Time at, std::uint64_t argument = 0);
  [[noreturn]] void fail(const std::string& why) const;

 private:
  Engine& engine_;
  std::string name_;
  std::uint64_t rank_;
};

}  // namespace hcasim::sim
