// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hcasim/hw/wire/psn.hpp"

namespace hcasim::sim {

/// A PSN on a line that does not wrap: its low 24 bits are the PSN.
using LinePsn = std::int64_t;

/// Turns the PSNs of one flow into places on a line, by their distance from the highest so far.
class PsnLine {
 public:
  /// PSNs further apart than this belong to two uses of the same queue-pair number.
  static constexpr std::int64_t kFar = 1 << 18;

  bool started() const { return highest_ >= 0; }
  LinePsn highest() const { return highest_; }

  /// Where `psn` lies; does not move the highest.
  LinePsn place(std::uint32_t psn) const {
    if (!started()) return psn + kOrigin;
    return highest_ + hw::psn_distance(static_cast<std::uint32_t>(highest_), psn);
  }
  bool is_far(std::uint32_t psn) const {
    return started() && std::abs(place(psn) - highest_) > kFar;
  }
  void raise(LinePsn to) { highest_ = std::max(highest_, to); }

 private:
  static constexpr LinePsn kOrigin = LinePsn{1} << 32;  // room to go back from the first

  LinePsn highest_ = -1;
};

/// The set of PSNs seen so far, as ranges without gaps.
class SeenPsns {
 public:
  /// Adds a PSN. @return false when it was in the set
  bool insert(LinePsn psn) {
    auto after = std::ranges::upper_bound(ranges_, psn, {}, &Range::first);
    const bool has_before = after != ranges_.begin();
    if (has_before && std::prev(after)->last >= psn) return false;
    const bool joins_before = has_before && std::prev(after)->last == psn - 1;
    const bool joins_after = after != ranges_.end() && after->first == psn + 1;
    if (joins_before && joins_after) {
      std::prev(after)->last = after->last;
      ranges_.erase(after);
    } else if (joins_before) {
      std::prev(after)->last = psn;
    } else if (joins_after) {
      after->first = psn;
    } else {
      ranges_.insert(after, {psn, psn});
    }
    return true;
  }

  /// True when all of first..last were seen.
  bool covers(LinePsn first, LinePsn last) const {
    const auto after = std::ranges::upper_bound(ranges_, first, {}, &Range::first);
    return after != ranges_.begin() && std::prev(after)->last >= last;
  }

 private:
  struct Range {
    LinePsn first;
    LinePsn last;
  };
  std::vector<Range> ranges_;  // sorted, apart from each other
};

}  // namespace hcasim::sim
