// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A plug-in of an interface that this program does not know.
#include <hcasim/hw/receive_queue_plugin.hpp>

extern "C" const hcasim::hw::rq::Plugin* hcasim_receive_queue_plugin() {
  static const hcasim::hw::rq::Plugin table{.version = hcasim::hw::rq::kPluginVersion + 1};
  return &table;
}
