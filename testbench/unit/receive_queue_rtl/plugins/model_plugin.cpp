// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The model as a plug-in. A take with the tag of `kFaultTag` makes it report a fault.
#include <hcasim/hw/receive_queue_plugin.hpp>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace {

using namespace hcasim::hw::rq;  // NOLINT(google-build-using-namespace)
using hcasim::hca::ReceiveQueueModel;

constexpr std::uint32_t kFaultTag = 0xdead;

struct Unit {
  ReceiveQueueModel model{Parameters{}};
  hcasim::hca::Cycle next = 0;
};

Unit& held(void* unit) {
  return *static_cast<Unit*>(unit);
}

void* create(std::uint64_t, Outputs* out) {
  auto* unit = new Unit;
  *out = unit->model.outputs();
  return unit;
}

void destroy(void* unit) {
  delete &held(unit);
}

int reset(void*, Outputs*) {
  return 1;
}

int step(void* unit, const Inputs* in, Outputs* out) {
  if (in->take_valid && in->take.tag == kFaultTag) return 1;
  *out = held(unit).model.step(held(unit).next++, *in);
  return 0;
}

const char* error(void*) {
  return "a planted fault";
}

void counters(void* unit, Counters* out) {
  *out = held(unit).model.counters();
}

void snapshot(void* unit, std::uint32_t queue, Snapshot* out) {
  *out = held(unit).model.snapshot(queue);
}

}  // namespace

extern "C" const Plugin* hcasim_receive_queue_plugin() {
  static const Plugin table = [] {
    Plugin t;
    t.name = "model";
    t.backend = "plug-in";
    t.create = create;
    t.destroy = destroy;
    t.reset = reset;
    t.step = step;
    t.error = error;
    t.counters = counters;
    t.snapshot = snapshot;
    return t;
  }();
  return &table;
}
