// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/difference.hpp"

namespace hcasim::sim::cosim {

std::string to_text(const Difference& d) {
  std::string text = "cycle " + std::to_string(d.cycle);
  if (d.port() == "rule" || d.port() == "assertion") {
    return text + ", " + d.side + ": " + d.where.actual;
  }
  text += ", " + d.where.port + (d.where.port == d.where.field ? "" : "." + d.where.field);
  if (d.queue) text += ", queue " + std::to_string(*d.queue);
  return text + ": expected " + d.where.expected + ", " + d.side + " has " + d.where.actual;
}

}  // namespace hcasim::sim::cosim
