// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/engine.hpp"

#include <fmt/format.h>

namespace hcasim::sim {

SimulationError::SimulationError(Time at, const std::string& unit, const std::string& why)
    : std::runtime_error(
          fmt::format("at {}.{:03} ns, in {}: {}", at / 1000, at % 1000, unit, why)) {}

Unit::Unit(Engine& engine, std::string name)
    : engine_(engine),
      name_(engine.unit_prefix() + "." + std::move(name)),
      rank_(engine.next_rank()) {}

void Unit::fail(const std::string& why) const {
  throw SimulationError(now(), name_, why);
}

void Engine::schedule(Unit& unit, Time at, std::uint64_t argument) {
  if (wheel_.takes(at)) [[likely]] {
    wheel_.push_near(at, unit, argument);
  } else {
    schedule_slowly(unit, at, argument);
  }
}

std::uint64_t Engine::schedule_time_out(Unit& unit, Time at, std::uint64_t argument) {
  return schedule_slowly(unit, at, argument);
}

// An event behind all that anybody knows of this engine changes nothing for him.
void Engine::schedule_from_outside(Unit& unit, Time at, std::uint64_t argument) {
  const bool news = at <= next_time() && !running_;
  schedule(unit, at, argument);
  if (news && outside_hook_ != nullptr) outside_hook_(outside_context_);
}

std::uint64_t Engine::schedule_slowly(Unit& unit, Time at, std::uint64_t argument) {
  if (at < now()) {
    throw SimulationError(now(), unit.name(),
                          fmt::format("an event was asked for {} ps in the past", now() - at));
  }
  return wheel_.push(at, unit, argument);
}

}  // namespace hcasim::sim
