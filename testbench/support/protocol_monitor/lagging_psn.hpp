// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"

namespace hcasim::monitor {

/// A PSN that advances now and then, and where it was a while ago: at least `lag` ago, at most
/// about three times that.
class LaggingPsn {
 public:
  LaggingPsn(std::uint32_t psn, hw::Time lag)
      : lag_(lag), current_(psn), at_start_(psn), before_(psn) {}

  void advance(std::uint32_t psn, hw::Time at) {
    if (psn == current_) return;
    if (at - start_ > lag_) {
      before_ = at - start_ > 2 * lag_ ? current_ : at_start_;
      at_start_ = current_;
      start_ = at;
    }
    current_ = psn;
  }

  /// It goes back for good, whatever it was before.
  void set(std::uint32_t psn) { current_ = at_start_ = before_ = psn; }

  std::uint32_t earlier(hw::Time at) const {
    if (at - start_ > 2 * lag_) return current_;
    return at - start_ > lag_ ? at_start_ : before_;
  }

 private:
  hw::Time lag_;
  std::uint32_t current_;
  hw::Time start_ = 0;      // of a span of `lag` in which it advanced
  std::uint32_t at_start_;  // before the first advance of that span
  std::uint32_t before_;    // the same of the span before
};

}  // namespace hcasim::monitor
