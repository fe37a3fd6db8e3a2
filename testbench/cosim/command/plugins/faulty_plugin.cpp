// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "plugin_of_side.hpp"
#include "support/receive_queue/faulty_units.hpp"

extern "C" const hcasim::hw::rq::Plugin* hcasim_receive_queue_plugin() {
  using namespace hcasim::testbench;
  return plugin_of_side<wrong_remaining_at_wrap>("faulty");
}
