// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/link_state.hpp"

namespace hcasim::fabric {

namespace {
// Event arguments.
constexpr std::uint64_t kBegins = 0;
constexpr std::uint64_t kEnds = 1;
}  // namespace

LinkState::LinkState(sim::Engine& engine, const std::string& name, LinkListener& listener)
    : Unit(engine, name), listener_(listener) {}

// Beginnings first, so that two outages of which one follows the other at once are one.
void LinkState::expect(const LinkOutage& in, const LinkOutage& out) {
  const auto plan = [this](Time at, std::uint64_t change) {
    engine().schedule_from_outside(*this, at, change);
  };
  const Time heard = in.at + in.latency;
  const Time told = out.at + out.latency + in.latency;  // the far end has to hear of it first
  if (in.length != 0) plan(heard, kBegins);
  if (out.length != 0) plan(told, kBegins);
  if (in.length != 0) plan(heard + in.length, kEnds);
  if (out.length != 0) plan(told + out.length, kEnds);
}

void LinkState::on_event(std::uint64_t change) {
  if (change == kBegins) {
    if (outages_++ == 0) listener_.on_link(false);
  } else if (--outages_ == 0) {
    listener_.on_link(true);
  }
}

}  // namespace hcasim::fabric
