// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/link_calls.hpp"

#include <algorithm>

namespace hcasim::fabric {

namespace {
sc_core::sc_process_b* process_of(const sim::EngineModule& node) {
  for (sc_core::sc_object* child : node.get_child_objects()) {
    if (auto* process = dynamic_cast<sc_core::sc_process_b*>(child)) return process;
  }
  return nullptr;
}
}  // namespace

SocketCalls::SocketCalls(sim::EngineModule& node)
    : Unit(node.engine(), "socket_calls"), node_(node), engine_process_(process_of(node)) {}

void SocketCalls::look_again() {
  const sim::Time kernel_now = sim::EngineModule::time_of(sc_core::SC_ZERO_TIME);
  engine().schedule_from_outside(*this, std::max(now(), kernel_now));
}

}  // namespace hcasim::fabric
