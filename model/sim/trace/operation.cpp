// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include <hcasim/sim/trace_operation.hpp>

namespace hcasim::sim {

// The values of absent arguments and the SGEs beyond the count are never looked at, so they stay.
void Operation::reset(Verb new_verb) {
  verb = new_verb;
  opcode = SendOpcode::kSend;
  timing = Timing::kAsap;
  flags = 0;
  node = object = peer_node = peer_object = label = after = kNoName;
  time = 0;
  line = 0;
  present_ = 0;
  sge_count_ = 0;
}

bool Operation::same_as(const Operation& other) const {
  const auto head = [](const Operation& it) {
    return std::tuple(it.verb, it.opcode, it.timing, it.flags, it.node, it.object, it.peer_node,
                      it.peer_object, it.label, it.after, it.time, it.present_);
  };
  if (head(*this) != head(other) || !std::ranges::equal(sges(), other.sges())) return false;
  for (std::size_t i = 0; i < kArgs; ++i) {
    const auto arg = static_cast<Arg>(i);
    if (has(arg) && value(arg) != other.value(arg)) return false;
  }
  return true;
}

}  // namespace hcasim::sim
