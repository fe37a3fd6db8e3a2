// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/pool.hpp"
#include "sim/replay/work_item.hpp"

namespace hcasim::sim {

/// A work item in a list of them.
struct WaitingWork {
  WorkItem item;
  WaitingWork* next = nullptr;
};

using WaitingWorkStore = hca::Pool<WaitingWork>;

/// Work that waits for one queue, in order.
class WaitingWorkList {
 public:
  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  /// The first; the others follow it by `next`, as many as there are.
  const WaitingWork& front() const { return *list_.first; }

  void push(WaitingWork& work) {
    list_.push_back(work);
    ++size_;
  }
  WaitingWork& pop() {
    --size_;
    return list_.pop_front();
  }

 private:
  hca::PoolList<WaitingWork> list_;
  std::uint32_t size_ = 0;
};

}  // namespace hcasim::sim
