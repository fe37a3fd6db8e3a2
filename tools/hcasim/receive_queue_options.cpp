// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "receive_queue_options.hpp"

#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/nearest.hpp>

#include <algorithm>
#include <array>

#include "own_rtl.hpp"

namespace hcasim::tools {
namespace {

constexpr char kOwnRtl[] = "receive_queue_rtl_1024.so";

const std::array<std::string, 3> kinds{"model", "rtl", "lockstep"};

sim::ReceiveQueueKind kind_of(const std::string& name) {
  const auto found = std::ranges::find(kinds, name);
  if (found == kinds.end()) {
    throw sim::InputError("--rq", 0, 0, "model, rtl or lockstep", name, sim::nearest(name, kinds));
  }
  return static_cast<sim::ReceiveQueueKind>(found - kinds.begin());
}

}  // namespace

std::string own_rtl() {
  if (const auto found = find_own_rtl(kOwnRtl)) return *found;
  throw sim::InputError("--rq", 0, 0, "--rtl FILE, since this program was built without its RTL",
                        "none");
}

sim::ReceiveQueueChoice receive_queue_choice(const std::string& kind,
                                             const std::vector<std::string>& libraries) {
  sim::ReceiveQueueChoice choice{kind_of(kind), libraries};
  const bool model = choice.kind == sim::ReceiveQueueKind::kModel;
  if (model && !libraries.empty()) {
    throw sim::InputError("--rtl", 0, 0, "--rq rtl or --rq lockstep beside it", "--rq model");
  }
  if (choice.kind == sim::ReceiveQueueKind::kRtl && libraries.size() > 1) {
    throw sim::InputError("--rtl", 0, 0, "one plug-in, or --rq lockstep",
                          std::to_string(libraries.size()));
  }
  if (!model && libraries.empty()) choice.libraries.push_back(own_rtl());
  return choice;
}

}  // namespace hcasim::tools
