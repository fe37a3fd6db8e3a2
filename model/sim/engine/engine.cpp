// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/engine.hpp"

#include <fmt/format.h>

namespace hcasim::sim {

SimulationError::SimulationError(Time at, const std::string& unit, const std::string& why)
    : std::runtime_error(
          fmt::format("at {}.{:03} ns, in {}: {}", at / 1000, at % 1000, unit, why)) {}

Unit::Unit(Engine& engine, std::string name)
    : engine_(engine), name_(engine.name() + "." + std::move(name)), rank_(engine.next_rank()) {}

void Unit::fail(const std::string& why) const {
  throw SimulationError(now(), name_, why);
}

void Engine::schedule(Unit& unit, Time at, std::uint64_t argument) {
  if (at < now_) report_past(unit, at);
  wheel_.push(at, unit.rank() << kRankShift | inserted_++, unit, argument);
}

void Engine::schedule_from_outside(Unit& unit, Time at, std::uint64_t argument) {
  schedule(unit, at, argument);
  if (!running_ && outside_hook_ != nullptr) outside_hook_(outside_context_);
}

void Engine::report_past(const Unit& unit, Time at) const {
  throw SimulationError(now_, unit.name(),
                        fmt::format("an event was asked for {} ps in the past", now_ - at));
}

}  // namespace hcasim::sim
