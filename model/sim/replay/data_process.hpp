// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hca/pool.hpp"
#include "sim/replay/checked_trace.hpp"
#include "sim/replay/control_order.hpp"
#include "sim/replay/control_stream.hpp"
#include "sim/replay/cq_poller.hpp"
#include "sim/replay/labels.hpp"
#include "sim/replay/line_error.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/replay/post_list.hpp"
#include "sim/replay/timed_queues.hpp"
#include "sim/replay/trace_queues.hpp"

namespace hcasim::sim {

/// The program of one node: posts what the trace says as soon as it may, polls the completion
/// queues, and does one thing at a time, each taking the CPU time that its verbs cost. When there
/// is nothing to do it waits for a completion, a time of the trace or a label, and polls at the
/// next tick of its polling loop; an empty poll is no event.
///
/// The lines of a node are one ordered stream. A post waits for the control lines above it that
/// make, change or end an object that it names; a control line is ControlStream's, and waits for
/// the posts above it that name its object. News of a peer's control lines, of which remote names
/// may be, takes as long as a packet of no length. Every other node is a peer.
class DataProcess : public Unit, public ObjectListener, private ControlOwner, private PollingOwner {
 public:
  struct Counters {
    std::uint64_t posts_refused = 0;  ///< work requests that post_send or post_recv gave back
    std::uint64_t unexpected = 0;     ///< completions of nothing that was posted
  };

  DataProcess(NodeObjects& objects, ObjectDirectory& directory, NodeRecorder* recorder);

  /// Tells `peer`, the node of index `node`, of this one's control lines, `latency` later. To be
  /// called before start(), and for all other nodes.
  void add_peer(std::uint32_t node, DataProcess& peer, hw::Time latency);
  /// Posts of the trace, by queue, so that it reads further ahead for a queue that has nothing else
  /// to do. To be called before start().
  void set_post_counts(const PostCounts& counts) { post_counts_ = &counts; }
  /// Reads further ahead, at `at`: for when nothing that was read can go on.
  void widen(hw::Time at);
  /// Posts, polls and controls nothing any more.
  void stop();
  bool read_everything() const { return source_ended_; }
  /// Begins to carry out what `source` says at the epoch, t = 0 of the trace.
  void start(OperationSource& source, hw::Time epoch);
  /// True when everything of the trace was carried out, posted and has completed.
  bool finished() const;
  /// The same, or only sends are left that are not signaled and have none behind them that is.
  bool settled();
  /// What keeps the node from going on; line 0 when no line does.
  Mishap stuck_because();
  /// The first work request that failed by itself, or null.
  const Mishap* first_failure() const { return failures_.empty() ? nullptr : &failures_.front(); }
  /// The first work requests that the verbs gave back.
  const std::vector<Mishap>& refusals() const { return refusals_; }
  /// Work requests that completed so far, of both queues.
  std::uint64_t completions() const { return completions_; }
  std::uint64_t posts() const { return posts_; }
  /// Control lines carried out so far.
  std::uint64_t controls() const { return controls_carried_out_; }
  /// Control lines that began after the time that they give.
  std::uint64_t late_controls() const { return controls_.late(); }
  /// The time of the trace that is waited for next, hw::kNever when none is.
  hw::Time next_timed() const { return std::min(next_timer_, controls_.next_timed()); }
  /// When the CPU ended its latest post or poll.
  hw::Time last_activity() const { return last_activity_; }
  const Counters& counters() const { return counters_; }

  void on_event(std::uint64_t argument) override;

  void cq_created(NameId name, TraceCq& cq) override;
  void cq_destroyed(NameId name) override;
  void qp_created(NameId name, TraceQp& qp) override;
  void qp_reset(NameId name, const TraceQp& qp) override;
  void qp_destroyed(NameId name, const TraceQp& qp) override;
  void srq_created(NameId name, TraceSrq& srq) override;
  void srq_resized(NameId name, const TraceSrq& srq) override;
  void srq_destroyed(NameId name) override;
  void srq_limit_reached(NameId name) override;

 private:
  // What a peer tells: that its control line of this number has been carried out, or, for
  // connect, that its QP of this number is made.
  struct News {
    bool queue_pair = false;
    std::uint32_t number = 0;
  };
  struct Peer {
    DataProcess* process = nullptr;  // null: the node itself
    hw::Time latency = 0;
    ControlOrder order;
    bool default_mr_there = false;  // at the epoch
    hca::Fifo<News> news;           // on their way from it
  };

  static constexpr std::uint32_t kFarthestWindows = 16;
  static constexpr std::uint64_t kNewsBit = std::uint64_t{1} << 63;  // of an event's argument
  static constexpr std::size_t kMishapsKept = 3;

  void read_ahead();
  void add(WaitingWork& work);
  [[noreturn]] void fail_without_queue(const WorkItem& item);
  void take_work(WorkItem& work, const Operation& operation);
  void take_control(const Operation& operation);
  void take_peer_control(const Operation& operation);
  void touch_connected(const ConnectSide& own);
  void note_peer_control(std::uint32_t node, NameId object, bool ends);
  void touch_default_mr(ControlOrder& order, bool there);
  void await_object(std::uint64_t object, PendingControl& control);
  void set_destination(const Operation& operation, PendingControl& control);
  void set_peer_of(NameId qp, std::uint32_t node);
  ControlOrder& order_of(std::uint32_t node) {
    return node == own_index_ ? own_order_ : peers_[node].order;
  }
  void find_objects(WorkItem& work);
  bool objects_are_there(TraceQueue& queue);
  void look_at_queues_that_await_control();
  bool may_begin(const PendingControl& control, hw::Time& from) override;
  bool may_begin_on_qp(const Operation& operation, hw::Time& from) const;
  bool may_begin_on_mr(const Operation& operation);
  void queue_pair_made(std::uint32_t peer, std::uint32_t qpn) override;
  void control_ended(const PendingControl& control, const ControlResult& result) override;
  void tell(std::uint32_t peer, News news);
  void take_news(std::uint32_t from);
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
  void refused(TraceQueue& queue, std::uint32_t count, int error);
  void forget(TraceQueue& queue, WaitingWork& work);
  bool room_to_read() const {
    const std::uint32_t window = starving_ == 0 ? window_ : farthest_;
    return waiting_items_ < window && controls_.waiting() < window;
  }
  void complete_label(LabelInstance label);
  bool poll();
  void completed(const rvt::ib_wc& wc, std::uint32_t qpn, hw::Time at);
  void read_completions_of(const TraceQp& gone);
  void empty(NameId name);
  void empty(TraceQueue& queue);
  int post_shared(TraceQueue& queue, std::uint32_t& accepted);
  void out_of_turn(TraceQueue& queue, std::uint64_t wr_id);
  void await_limit(const PendingControl& control);
  void end_wait_for_limit(TraceQueue& queue);
  void note_failure(const TraceQueue& queue, std::uint64_t line, rvt::ib_wc_status status);
  void send_completed(TraceQueue& queue, const rvt::ib_wc& wc, hw::Time at);
  void receive_completed(TraceQueue& queue, const rvt::ib_wc& wc, std::uint32_t qpn, hw::Time at);
  void completion_written() override;
  void completion_entered() override;
  void wake(hw::Time at);
  TraceQueue& make_queue(NameId qp, bool is_send);
  void expect_posts(TraceQueue& queue);
  Mishap mishap(std::uint64_t line, std::string why);

  NodeObjects& objects_;
  ObjectDirectory& directory_;
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
  std::uint32_t window_ = 0;    ///< operations held ahead of their turn, ...
  std::uint32_t farthest_ = 0;  ///< ... and while a queue has nothing of its own among them
  std::uint32_t starving_ = 0;  ///< queues with nothing in the window and something behind it
  const PostCounts* post_counts_ = nullptr;
  TraceQueues queues_;
  hca::Fifo<TraceQueue*> listed_;  // queues whose head may be runnable
  TimedQueues timed_;
  hw::Time next_timer_ = hw::kNever;
  CqPoller cq_poller_;

  ControlOrder own_order_;
  bool orders_matter_ = false;     // a control line of any node has been read
  bool default_mr_there_ = false;  // at the epoch
  ControlStream controls_;
  std::uint64_t controls_carried_out_ = 0;
  std::vector<TraceQueue*> awaiting_control_;
  TraceQueue* blocker_ = nullptr;   // holds a post that the next control line waits for, ...
  std::uint64_t blocker_line_ = 0;  // ... on this line

  std::uint32_t own_index_ = 0;
  std::vector<Peer> peers_;  // by node

  hw::Time next_step_ = hw::kNever;
  hw::Time free_at_ = 0;  // the CPU is busy before
  hw::Time idle_since_ = 0;
  hw::Time last_activity_ = 0;
  std::uint64_t completions_ = 0;
  std::uint64_t posts_ = 0;
  Counters counters_;
  std::vector<Mishap> failures_;
  std::vector<Mishap> refusals_;
  bool stepping_ = false;  // inside on_event
  bool stopped_ = false;
};

}  // namespace hcasim::sim
