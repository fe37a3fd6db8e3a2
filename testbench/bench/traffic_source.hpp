// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/replay/work_item.hpp"
#include "workload.hpp"

namespace hcasim::bench {

/// The operations of one node of a workload.
class TrafficSource : public sim::OperationSource {
 public:
  struct Template {
    sim::WorkItem item;
    std::vector<sim::NameId> queues;
  };

  /// @param on_send called with the number of sends given out before each, and after the last
  TrafficSource(const Workload& workload, const NodeTraffic& traffic, Template send,
                Template receive, std::function<void(std::uint64_t)> on_send)
      : workload_(workload),
        traffic_(traffic),
        send_{std::move(send), traffic.sends},
        receive_{std::move(receive), traffic.receives},
        on_send_(std::move(on_send)) {}

  sim::SourceItem next(sim::WorkItem& work, const sim::Operation*& operation) override {
    operation = nullptr;
    if (list_left_ == 0) begin_list();
    if (list_left_ == 0) {
      if (on_send_) on_send_(send_.made);
      return sim::SourceItem::kEnd;
    }
    if (list_is_send_ && on_send_) on_send_(send_.made);
    --list_left_;
    make(list_is_send_ ? send_ : receive_, work);
    return sim::SourceItem::kWork;
  }

  std::uint32_t read_ahead() const override { return workload_.read_ahead; }
  bool sends() const { return traffic_.sends != 0; }

 private:
  struct Side {
    Template what;
    std::uint64_t total = 0;
    std::uint64_t made = 0;
    std::size_t queue = 0;

    std::uint64_t left() const { return total - made; }
  };

  // Sends and receives in turn, once the receives that are due ahead have been made.
  void begin_list() {
    const bool receives_turn = list_is_send_ || receive_.made < traffic_.receives_ahead;
    if (receive_.left() != 0 && (receives_turn || send_.left() == 0)) {
      start(receive_, false);
    } else if (send_.left() != 0) {
      start(send_, true);
    }
  }

  void start(Side& side, bool is_send) {
    list_is_send_ = is_send;
    list_left_ =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(workload_.post_list, side.left()));
    side.queue = (side.queue + 1) % side.what.queues.size();
  }

  void make(Side& side, sim::WorkItem& work) {
    work = side.what.item;
    work.queue = side.what.queues[side.queue];
    work.line = ++side.made;
    if (list_left_ != 0) work.flags |= sim::kMore;
    const bool signaled = side.made % workload_.cq_moderation == 0 || side.left() == 0;
    if (list_is_send_ && !signaled) work.flags |= sim::kUnsignaled;
  }

  const Workload& workload_;
  const NodeTraffic& traffic_;
  Side send_;
  Side receive_;
  std::function<void(std::uint64_t)> on_send_;
  std::uint32_t list_left_ = 0;
  bool list_is_send_ = false;
};

}  // namespace hcasim::bench
