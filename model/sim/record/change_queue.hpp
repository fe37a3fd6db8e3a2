// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// Changes of a queue's filling in order of time. Takes them nearly in order at little cost, and
/// grows to its peak.
class ChangeQueue {
 public:
  struct Change {
    hw::Time at;
    std::int64_t entries;
  };

  ChangeQueue();

  bool empty() const { return first_ == last_; }
  /// True when make_room() has to come before the next insert().
  bool full() const { return last_ == end_; }
  void make_room();

  void insert(hw::Time at, std::int64_t entries) {
    Change& newest = last_[-1];
    if (at > newest.at) {
      *last_++ = {at, entries};
    } else if (at == newest.at) {
      newest.entries += entries;
    } else {
      insert_among_others({at, entries});
    }
  }

  /// Removes all changes up to and including `limit` and hands them to `visit`, in order.
  template <typename F>
  void take_until(hw::Time limit, F&& visit) {
    const Change* next = first_;
    const Change* const last = last_;
    for (; next != last && next->at <= limit; ++next) visit(*next);
    first_ += next - first_;
    if (empty()) first_ = last_ = begin();
  }

 private:
  static constexpr std::size_t kFirstSize = 64;

  // Before the first change stands one of long ago, so that insert() need not ask whether there is
  // one.
  Change* begin() { return store_.get() + 1; }
  void insert_among_others(Change change);

  std::unique_ptr<Change[]> store_ = std::make_unique<Change[]>(kFirstSize);
  Change* first_;
  Change* last_;
  Change* end_;
};

}  // namespace hcasim::sim
