// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cosim/coverage_groups.hpp"

namespace hcasim::sim::cosim {

/// How often each cover point was hit. A point is named by its group and its labels:
/// `doorbell.over_run`, `command.init.ready.bad_state`.
class Coverage {
 public:
  Coverage();

  /// Counts a hit. Labels are given by their place in the group's lists.
  void hit(CoverGroup group, unsigned first, unsigned second = 0, unsigned third = 0) {
    ++hits_[begin_[static_cast<std::size_t>(group)] + index_in(group, first, second, third)];
  }

  void add(const Coverage& other);

  struct Point {
    std::string name;
    std::uint64_t hits = 0;
  };
  /// All points that can be hit, in the order of the groups.
  std::vector<Point> points() const;
  /// Hits of combinations that the table of groups calls impossible.
  std::vector<Point> impossible_hits() const;

  std::size_t holes() const;
  /// Points that were hit, in percent of all; 100 only if there is no hole.
  double percent() const;

  /// A table: what was reached in all, holes, then the other points, the rarest first.
  std::string table() const;

 private:
  static std::size_t index_in(CoverGroup group, unsigned first, unsigned second, unsigned third);
  std::vector<Point> collect(bool possible) const;

  std::vector<std::size_t> begin_;
  std::vector<std::uint64_t> hits_;
};

}  // namespace hcasim::sim::cosim
