// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "hca/pool.hpp"
#include "sim/replay/labels.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/replay/waiting_work.hpp"

namespace hcasim::sim {

/// A work request that was posted and has not completed.
struct Posted {
  std::uint64_t wr_id = 0;
  std::uint64_t line = 0;
  LabelInstance label = kNoInstance;
  bool signaled = true;
};

/// One direction of a queue pair, by name: what waits to be posted, and what was posted. It
/// outlives a queue pair that is destroyed, for the next one of its name.
struct TraceQueue {
  NameId qp_name = kNoName;
  TraceQp* qp = nullptr;  ///< null until it is made
  std::uint32_t qpn = 0;
  std::uint32_t index = 0;
  bool is_send = false;
  WaitingWorkList waiting;
  hca::Fifo<Posted> posted;
  std::uint64_t posts = 0;
  std::uint32_t depth = 0;
  hw::Time timed_at = hw::kNever;  ///< a wake-up is arranged for it
  hw::Time posted_until = 0;       ///< end of the latest post
  std::uint64_t unread = 0;        ///< posts that have not been read yet, where that is known
  bool listed = false;             ///< among those to be looked at
  bool awaits_control = false;     ///< until the next control line has been carried out
  bool peer_is_self = false;       ///< remote names behind the lines read so far are the node's own
};

/// The queues of a node, by name and by QPN.
class TraceQueues {
 public:
  /// @return null when there is none yet
  TraceQueue* find(NameId qp, bool is_send) const {
    return at(is_send ? by_name_send_ : by_name_recv_, qp);
  }
  /// @return null when no queue pair has this number now
  TraceQueue* of_qpn(std::uint32_t qpn, bool is_send) const {
    return at(is_send ? by_qpn_send_ : by_qpn_recv_, qpn);
  }
  TraceQueue& operator[](std::uint32_t index) { return queues_[index]; }

  TraceQueue& make(NameId qp, bool is_send) {
    TraceQueue& queue = queues_.emplace_back();
    queue.index = static_cast<std::uint32_t>(queues_.size() - 1);
    queue.qp_name = qp;
    queue.is_send = is_send;
    place(is_send ? by_name_send_ : by_name_recv_, qp, &queue);
    return queue;
  }
  /// The queue's QP is this one from now on.
  void bind(TraceQueue& queue, TraceQp& qp) {
    queue.qp = &qp;
    queue.qpn = qp.qpn;
    queue.depth = queue.is_send ? qp.max_send_wr : qp.max_recv_wr;
    queue.posts = 0;
    place(queue.is_send ? by_qpn_send_ : by_qpn_recv_, qp.qpn, &queue);
  }
  /// No queue has this number any more.
  void release_qpn(std::uint32_t qpn) { by_qpn_send_[qpn] = by_qpn_recv_[qpn] = nullptr; }

  auto begin() { return queues_.begin(); }
  auto end() { return queues_.end(); }
  auto begin() const { return queues_.begin(); }
  auto end() const { return queues_.end(); }

 private:
  using Table = std::vector<TraceQueue*>;

  static TraceQueue* at(const Table& table, std::size_t index) {
    return index < table.size() ? table[index] : nullptr;
  }
  static void place(Table& table, std::size_t index, TraceQueue* queue) {
    if (index >= table.size()) table.resize(index + 1, nullptr);
    table[index] = queue;
  }

  std::deque<TraceQueue> queues_;
  Table by_name_send_, by_name_recv_, by_qpn_send_, by_qpn_recv_;
};

}  // namespace hcasim::sim
