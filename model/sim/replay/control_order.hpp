// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/sim/name_table.hpp"

namespace hcasim::sim {

/// How far a node has come with its control lines, and which of them an object goes back to. The
/// control lines after set-up are numbered from 1 in the order of the trace and carried out in that
/// order, so whoever waits for a number waits for all up to it; 0 is no wait.
class ControlOrder {
 public:
  /// The next control line was read. Returns its number.
  std::uint32_t read() { return ++read_; }
  bool any() const { return read_ != 0; }
  /// The control line read last makes, changes or ends `object`.
  void touch(NameId object, bool ends) {
    if (object >= latest_.size()) latest_.resize(object + 1);
    latest_[object] = {read_, ends};
  }
  /// Number of the latest line that touched `object`.
  std::uint32_t latest(NameId object) const {
    return object < latest_.size() ? latest_[object].number : 0;
  }
  /// True when `object` does not exist behind that line.
  bool ended(NameId object) const { return object < latest_.size() && latest_[object].ended; }

  /// The line with this number, and with it all before, has been carried out.
  void carried_out(std::uint32_t number) { done_ = number; }
  bool reached(std::uint32_t number) const { return number <= done_; }

 private:
  struct Touch {
    std::uint32_t number = 0;
    bool ended = false;
  };

  std::uint32_t read_ = 0;
  std::uint32_t done_ = 0;
  std::vector<Touch> latest_;  // by object
};

}  // namespace hcasim::sim
