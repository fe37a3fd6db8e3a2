// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A side of the cross-check as a plug-in.
#pragma once

#include <hcasim/hw/receive_queue_plugin.hpp>
#include <memory>

#include "sim/cosim/side.hpp"

namespace hcasim::testbench {

struct PluginUnit {
  std::unique_ptr<hca::ReceiveQueueUnit> unit;
  hca::Cycle next = 0;
};

inline PluginUnit& held(void* unit) {
  return *static_cast<PluginUnit*>(unit);
}

/// The table of a plug-in whose units are those of `make_side()`.
template <sim::cosim::Side (*make_side)()>
const hw::rq::Plugin* plugin_of_side(const char* name) {
  static hw::rq::Plugin table;
  table.name = name;
  table.backend = "test";
  table.create = [](std::uint64_t, hw::rq::Outputs* out) -> void* {
    auto* const unit = new PluginUnit{make_side().make({})};
    *out = unit->unit->outputs();
    return unit;
  };
  table.destroy = [](void* unit) { delete &held(unit); };
  table.reset = [](void*, hw::rq::Outputs*) { return 1; };
  table.step = [](void* unit, const hw::rq::Inputs* in, hw::rq::Outputs* out) {
    *out = held(unit).unit->step(held(unit).next++, *in);
    return 0;
  };
  table.error = [](void*) -> const char* { return "none"; };
  table.counters = [](void* unit, hw::rq::Counters* out) { *out = held(unit).unit->counters(); };
  table.snapshot = [](void* unit, std::uint32_t queue, hw::rq::Snapshot* out) {
    *out = held(unit).unit->snapshot(queue);
  };
  return &table;
}

}  // namespace hcasim::testbench
