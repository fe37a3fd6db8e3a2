// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The table of functions that a plug-in exports, made from a class `Unit` with reset(), step(),
// counters(), snapshot() and at_rest().
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "receive_queue_build.hpp"

namespace hcasim::rtl_plugin {

/// A unit with the text of the fault that stopped it. Simulated RTL is in no state to go on after
/// one: only reset() helps.
template <class Unit>
class Guarded {
 public:
  explicit Guarded(std::uint64_t seed) : seed_(seed) {}

  int reset(hw::rq::Outputs& out) {
    fault_.clear();
    unit_.reset();
    return guard([&] {
      unit_ = std::make_unique<Unit>(seed_);
      unit_->reset(out);
    });
  }

  int step(const hw::rq::Inputs& in, hw::rq::Outputs& out) {
    if (!fault_.empty()) return 1;
    return guard([&] { unit_->step(in, out); });
  }

  Unit& unit() { return *unit_; }
  const char* fault() const { return fault_.c_str(); }

 private:
  template <typename Action>
  int guard(const Action& action) noexcept {
    try {
      action();
      return 0;
    } catch (const std::exception& error) {
      fault_ = error.what();
    } catch (...) {
      fault_ = "an exception of unknown kind";
    }
    return 1;
  }

  std::uint64_t seed_;
  std::unique_ptr<Unit> unit_;
  std::string fault_;
};

template <class Unit>
struct PluginFunctions {
  using Held = Guarded<Unit>;
  static Held& held(void* unit) { return *static_cast<Held*>(unit); }

  static void* create(std::uint64_t seed, hw::rq::Outputs* out) {
    auto unit = std::make_unique<Held>(seed);
    return unit->reset(*out) == 0 ? unit.release() : nullptr;
  }
  static void destroy(void* unit) { delete &held(unit); }
  static int reset(void* unit, hw::rq::Outputs* out) { return held(unit).reset(*out); }
  static int step(void* unit, const hw::rq::Inputs* in, hw::rq::Outputs* out) {
    return held(unit).step(*in, *out);
  }
  static const char* error(void* unit) { return held(unit).fault(); }
  static void counters(void* unit, hw::rq::Counters* out) { *out = held(unit).unit().counters(); }
  static void snapshot(void* unit, std::uint32_t queue, hw::rq::Snapshot* out) {
    *out = held(unit).unit().snapshot(queue);
  }
  static int at_rest(void* unit) { return held(unit).unit().at_rest() ? 1 : 0; }

  static hw::rq::Plugin table() {
    hw::rq::Plugin table;
    table.name = kName;
    table.backend = kToolVersion;
    table.parameters = kParameters;
    table.widths = kWidths;
    table.create = create;
    table.destroy = destroy;
    table.reset = reset;
    table.step = step;
    table.error = error;
    if constexpr (Unit::kCounts) table.counters = counters;
    if constexpr (Unit::kShowsQueues) table.snapshot = snapshot;
    if constexpr (Unit::kTellsRest) table.at_rest = at_rest;
    return table;
  }
};

}  // namespace hcasim::rtl_plugin

/// Exports the table of a plug-in made from `Unit`.
#define HCASIM_EXPORT_RECEIVE_QUEUE(Unit)                                         \
  extern "C" __attribute__((visibility("default"))) const hcasim::hw::rq::Plugin* \
  hcasim_receive_queue_plugin() {                                                 \
    static const hcasim::hw::rq::Plugin table =                                   \
        hcasim::rtl_plugin::PluginFunctions<Unit>::table();                       \
    return &table;                                                                \
  }
