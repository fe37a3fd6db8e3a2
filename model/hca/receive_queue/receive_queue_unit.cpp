// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/receive_queue_unit.hpp"

namespace hcasim::hca {

Cycle ReceiveQueueUnit::run(Cycle& cycle, Cycle last, const hw::rq::Inputs& inputs) {
  static constexpr hw::rq::Inputs kNoInput;
  step(cycle, inputs);
  while (next_activity() <= last && !hw::rq::shows(outputs())) {
    cycle = next_activity();
    step(cycle, kNoInput);
  }
  return next_activity();
}

}  // namespace hcasim::hca
