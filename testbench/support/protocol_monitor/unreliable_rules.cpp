// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/unreliable_rules.hpp"

#include <string>

#include "hcasim/hw/wire/psn.hpp"

namespace hcasim::monitor {

void UnreliableRules::sent(const Observation& seen) {
  judge_.expect(seen.packet.psn == next_, Rule::kPsnOrder, seen,
                [&] { return "PSN " + std::to_string(next_); });
  next_ = hw::psn_add(seen.packet.psn, 1);
  if (const auto rule = form_.broken_by(seen.packet)) {
    judge_.expect(false, *rule, seen, [] { return "the next packet of a message"; });
  }
  form_.take(seen.packet);
}

}  // namespace hcasim::monitor
