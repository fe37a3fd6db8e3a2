// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hca/pool.hpp"
#include "sim/replay/labels.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/replay/post_list.hpp"
#include "sim/replay/waiting_work.hpp"
#include "sim/replay/work_item.hpp"

namespace hcasim::sim {

/// A work request that was posted and has not completed.
struct Posted {
  std::uint64_t wr_id = 0;
  LabelInstance label = kNoInstance;
  bool signaled = true;
};

/// One direction of a queue pair: what waits to be posted, and what was posted.
struct TraceQueue {
  NameId qp_name = kNoName;
  TraceQp* qp = nullptr;
  std::uint32_t qpn = 0;
  std::uint32_t index = 0;
  bool is_send = false;
  WaitingWorkList waiting;
  hca::Fifo<Posted> posted;
  std::uint64_t posts = 0;
  std::uint32_t depth = 0;
  hw::Time timed_at = hw::kNever;  ///< a wake-up is arranged for it
  bool listed = false;             ///< among those to be looked at
};

/// The program of one node: posts what the trace says as soon as it may, polls the completion
/// queues, and does one thing at a time, each taking the CPU time that its verbs cost. When there
/// is nothing to do it waits for a completion, a time of the trace or a label, and polls at the
/// next tick of its polling loop; an empty poll is no event.
class DataProcess : public Unit, public ObjectListener {
 public:
  struct Counters {
    std::uint64_t posts_refused = 0;  ///< work requests that post_send or post_recv gave back
    std::uint64_t unexpected = 0;     ///< completions of nothing that was posted
    std::uint64_t late_controls = 0;  ///< control operations that began after their time
  };

  DataProcess(NodeObjects& objects, ObjectDirectory& directory, NodeRecorder* recorder);

  /// Reads further ahead: for when nothing that was read can go on.
  void widen();
  bool read_everything() const { return source_ended_; }
  /// Begins to carry out what `source` says at the epoch, t = 0 of the trace.
  void start(OperationSource& source, hw::Time epoch);
  /// True when everything of the trace was posted and has completed.
  bool finished() const;
  /// One line on what keeps the node from going on.
  std::string stuck_because() const;
  /// Work requests that completed so far, of both queues.
  std::uint64_t completions() const { return completions_; }
  std::uint64_t posts() const { return posts_; }
  /// The time of the trace that is waited for next, hw::kNever when none is.
  hw::Time next_timed() const { return next_timer_; }
  /// When the CPU ended its latest post or poll.
  hw::Time last_activity() const { return last_activity_; }
  const Counters& counters() const { return counters_; }

  void on_event(std::uint64_t argument) override;

  void cq_created(NameId name, TraceCq& cq) override;
  void cq_destroyed(NameId name) override;
  void qp_created(NameId name, TraceQp& qp) override;
  void qp_reset(NameId name) override;

 private:
  struct PolledCq {
    DataProcess* process = nullptr;
    NameId name = kNoName;
    TraceCq* cq = nullptr;
    bool ready = false;
    bool watching = false;
  };

  static constexpr std::uint32_t kPollBatch = 16;

  void read_ahead();
  void add(WaitingWork& work);
  [[noreturn]] void fail_without_queue(const WorkItem& item) const;
  void take_work(WorkItem& work, const Operation& operation);
  void take_control(const Operation& operation);
  void list(TraceQueue& queue) {
    if (queue.listed || queue.waiting.empty()) return;
    queue.listed = true;
    listed_.push(&queue);
  }
  std::uint32_t runnable(TraceQueue& queue);
  std::uint32_t list_length(const TraceQueue& queue) const;
  bool due(TraceQueue& queue, const WorkItem& item) {
    return item.timing == Timing::kAsap || time_has_come(queue, item);
  }
  bool time_has_come(TraceQueue& queue, const WorkItem& item);
  void set_timer(hw::Time at);
  bool post_next();
  void post(TraceQueue& queue, std::uint32_t count);
  void take_posted(TraceQueue& queue, hw::Time at);
  void refused(TraceQueue& queue, std::uint32_t count);
  void forget(WaitingWork& work);
  void complete_label(LabelInstance label);
  bool poll_next();
  void completed(const rvt::ib_wc& wc, hw::Time at);
  void send_completed(TraceQueue& queue, const rvt::ib_wc& wc, hw::Time at);
  void receive_completed(TraceQueue& queue, const rvt::ib_wc& wc, hw::Time at);
  void watch(PolledCq& cq);
  static void cq_written(void* context, std::uint64_t);
  void wake(hw::Time at);
  void run_controls();
  TraceQueue* queue_of(NameId qp, bool is_send) const {
    const std::vector<TraceQueue*>& table = is_send ? by_name_send_ : by_name_recv_;
    return qp < table.size() ? table[qp] : nullptr;
  }

  NodeObjects& objects_;
  OperationSource* source_ = nullptr;
  NodeRecorder* recorder_;
  host::CpuPort& cpu_;
  PostList post_list_;
  hw::Time poll_interval_;
  hw::Time epoch_ = 0;
  bool source_ended_ = false;

  Labels labels_;
  WaitingWorkStore work_;
  std::uint32_t waiting_items_ = 0;
  std::uint32_t window_ = 0;  ///< operations held ahead of their turn
  std::deque<TraceQueue> queue_store_;
  std::vector<TraceQueue*> queues_;
  std::vector<TraceQueue*> by_name_send_;  // by name of the QP
  std::vector<TraceQueue*> by_name_recv_;
  std::vector<TraceQueue*> by_qpn_send_;
  std::vector<TraceQueue*> by_qpn_recv_;
  hca::Fifo<TraceQueue*> listed_;  // queues whose head may be runnable

  struct TimedQueue {
    hw::Time at;
    std::uint32_t queue;
  };
  std::vector<TimedQueue> timed_;  // heap, earliest first
  hw::Time next_timer_ = hw::kNever;

  std::deque<PolledCq> cqs_;
  hca::Fifo<PolledCq*> ready_cqs_;
  std::array<rvt::ib_wc, kPollBatch> wcs_;

  hca::Fifo<Operation> controls_;
  bool control_running_ = false;

  hw::Time next_step_ = hw::kNever;
  hw::Time free_at_ = 0;  // the CPU is busy before
  hw::Time idle_since_ = 0;
  hw::Time last_activity_ = 0;
  std::uint64_t completions_ = 0;
  std::uint64_t posts_ = 0;
  Counters counters_;
};

}  // namespace hcasim::sim
