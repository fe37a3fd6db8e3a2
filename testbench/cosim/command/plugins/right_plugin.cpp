// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/receive_queue_model.hpp"
#include "plugin_of_side.hpp"

namespace {

hcasim::sim::cosim::Side right_side() {
  return {"right", [](const hcasim::hw::rq::Parameters& parameters) {
            return std::make_unique<hcasim::hca::ReceiveQueueModel>(parameters);
          }};
}

}  // namespace

extern "C" const hcasim::hw::rq::Plugin* hcasim_receive_queue_plugin() {
  return hcasim::testbench::plugin_of_side<right_side>("right");
}
