// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/replay/work_item.hpp"

namespace hcasim::sim {

/// A work item in a list of them.
struct WaitingWork {
  WorkItem item;
  WaitingWork* next = nullptr;
};

/// Gives out waiting work and takes it back. Grows to its peak.
class WaitingWorkStore {
 public:
  /// One whose item still has the value of another that was here before.
  WaitingWork& acquire() {
    if (free_ == nullptr) [[unlikely]]
      grow();
    WaitingWork& work = *free_;
    free_ = work.next;
    return work;
  }
  void release(WaitingWork& work) {
    work.next = free_;
    free_ = &work;
  }

 private:
  static constexpr std::size_t kChunk = 64;

  void grow() {
    chunks_.push_back(std::make_unique<WaitingWork[]>(kChunk));
    for (std::size_t i = kChunk; i-- > 0;) release(chunks_.back()[i]);
  }

  std::vector<std::unique_ptr<WaitingWork[]>> chunks_;
  WaitingWork* free_ = nullptr;
};

/// Work that waits for one queue, in order.
class WaitingWorkList {
 public:
  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  /// The first; the others follow it by `next`, as many as there are.
  const WaitingWork& front() const { return *first_; }

  void push(WaitingWork& work) {
    (empty() ? first_ : last_->next) = &work;
    last_ = &work;
    ++size_;
  }
  WaitingWork& pop() {
    WaitingWork& work = *first_;
    first_ = work.next;
    --size_;
    return work;
  }

 private:
  WaitingWork* first_ = nullptr;
  WaitingWork* last_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace hcasim::sim
