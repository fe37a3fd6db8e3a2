// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/data_process.hpp"

#include <algorithm>
#include <cstring>

#include "sim/replay/saturating_time.hpp"

namespace hcasim::sim {

namespace {

std::uint64_t wr_id_of(const WorkItem& item, std::uint64_t number) {
  return item.wr_id_given ? item.wr_id : number;
}

}  // namespace

DataProcess::DataProcess(NodeObjects& objects, ObjectDirectory& directory, NodeRecorder* recorder)
    : Unit(objects.node().engine(), "cpu"),
      objects_(objects),
      directory_(directory),
      recorder_(recorder),
      cpu_(objects.node().host().cpu()),
      post_list_(objects, directory),
      poll_interval_(std::max(1u, objects.node().config().host.poll_interval_ns) * hw::kNanosecond),
      cq_poller_(cpu_, *this),
      controls_(objects, labels_, *this) {
  objects.set_listener(*this);
}

void DataProcess::add_peer(std::uint32_t node, DataProcess& peer, hw::Time latency) {
  if (node >= peers_.size()) peers_.resize(node + 1);
  peers_[node].process = &peer;
  peers_[node].latency = latency;
}

void DataProcess::start(OperationSource& source, hw::Time epoch) {
  source_ = &source;
  window_ = source.read_ahead();
  farthest_ = kFarthestWindows * window_;
  epoch_ = epoch;
  controls_.set_epoch(epoch);
  default_mr_there_ = objects_.has_default_mr();
  own_index_ = objects_.index();
  for (Peer& peer : peers_) {
    if (peer.process != nullptr) peer.default_mr_there = peer.process->objects_.has_default_mr();
  }
  for (TraceQueue& queue : queues_) {
    queue.peer_node = queue.qp != nullptr ? queue.qp->peer_node : own_index_;
    expect_posts(queue);
  }
  wake(epoch);
}

void DataProcess::stop() {
  stopped_ = true;
  controls_.stop();
}

// --- Reading
// --------------------------------------------------------------------------------------

// Reads until the window is full. What is read depends on this node's progress alone.
inline void DataProcess::read_ahead() {
  while (!source_ended_ && room_to_read()) {
    WaitingWork& work = work_.acquire();
    const Operation* operation = nullptr;
    const SourceItem kind = source_->next(work.item, operation);
    if (kind == SourceItem::kWork) {
      if (operation != nullptr) take_work(work.item, *operation);
      add(work);
      continue;
    }
    work_.release(work);
    if (kind == SourceItem::kControl) {
      take_control(*operation);
    } else if (kind == SourceItem::kPeerControl) {
      take_peer_control(*operation);
    } else {
      source_ended_ = true;
    }
  }
}

inline void DataProcess::add(WaitingWork& work) {
  TraceQueue* queue = queues_.find(work.item.queue, work.item.is_send);
  if (queue == nullptr) {
    if (!own_order_.any()) fail_without_queue(work.item);
    queue = &make_queue(work.item.queue, work.item.is_send);
  }
  if (queue->unread != 0) {
    if (queue->waiting.empty()) --starving_;
    --queue->unread;
  }
  queue->waiting.push(work);
  ++waiting_items_;
  list(*queue);
}

void DataProcess::take_work(WorkItem& work, const Operation& operation) {
  if (operation.after != kNoName) work.after = labels_.refer(operation.after);
  if (operation.label != kNoName) work.label = labels_.define(operation.label);
  if (orders_matter_) find_objects(work);
}

void DataProcess::fail_without_queue(const WorkItem& item) {
  throw LineError(mishap(item.line, "posts to no queue pair"));
}

// --- Whose turn it is
// -----------------------------------------------------------------------------

// Operations of the list that begins at the head; 0 while its end has not been read.
inline std::uint32_t DataProcess::list_length(const TraceQueue& queue) const {
  const WaitingWork* work = &queue.waiting.front();
  for (std::uint32_t i = 0; i < queue.waiting.size(); ++i, work = work->next) {
    if ((work->item.flags & kMore) == 0) return i + 1;
  }
  return source_ended_ || queue.waiting.size() >= window_ ? queue.waiting.size() : 0;
}

// True when the item's time has come; arranges a wake-up otherwise.
bool DataProcess::time_has_come(TraceQueue& queue, const WorkItem& item) {
  hw::Time at = 0;
  if (item.timing == Timing::kAt) at = later(epoch_, item.time);
  if (item.after != kNoInstance) {
    if (!labels_.done(item.after)) {
      labels_.wait(item.after, queue.index);  // complete_label lists the queue again
      return false;
    }
    at = later(labels_.completed_at(item.after), item.time);
  }
  if (at <= now()) return true;
  if (queue.timed_at == at) return false;
  queue.timed_at = at;
  timed_.push(at, queue.index);
  set_timer(at);
  return false;
}

void DataProcess::set_timer(hw::Time at) {
  if (at >= next_timer_) return;
  next_timer_ = at;
  wake(at);
}

// Length of the list that may be posted now; 0 when none may.
inline std::uint32_t DataProcess::runnable(TraceQueue& queue) {
  if (!due(queue, queue.waiting.front().item)) return 0;
  // A list that can never fit is posted all the same, to be refused as in life.
  const std::uint32_t depth = std::max(queue.depth, 1u);
  if (queue.posted.size() >= depth) return 0;
  if (orders_matter_ && !objects_are_there(queue)) [[unlikely]]
    return 0;
  const std::uint32_t length = list_length(queue);
  return queue.posted.size() + std::min(length, depth) <= depth ? length : 0;
}

// --- Posting
// --------------------------------------------------------------------------------------

// Posts the next list that may be posted; false when there is none.
inline bool DataProcess::post_next() {
  while (!listed_.empty()) {
    TraceQueue& queue = *listed_.pop();
    queue.listed = false;
    const std::uint32_t length = queue.waiting.empty() ? 0 : runnable(queue);
    if (length == 0) continue;
    post(queue, length);
    list(queue);
    return true;
  }
  return false;
}

inline void DataProcess::post(TraceQueue& queue, std::uint32_t count) {
  post_list_.clear();
  const WaitingWork* work = &queue.waiting.front();
  for (std::uint32_t i = 0; i < count; ++i, work = work->next) {
    post_list_.add(queue.qp, work->item, wr_id_of(work->item, queue.posts + i));
  }
  const hw::Time at = cpu_.now();
  std::uint32_t accepted = 0;
  const int error = queue.qp != nullptr ? post_list_.post(*queue.qp, queue.is_send, accepted)
                                        : post_shared(queue, accepted);
  if (queue.qp != nullptr && recorder_ != nullptr && !queue.is_send && accepted != 0) {
    recorder_->receive_posted(queue.qpn, at, accepted);
  }
  for (std::uint32_t i = 0; i < accepted; ++i) take_posted(queue, at);
  if (error != 0) refused(queue, count - accepted, error);
  queue.posted_until = cpu_.now();
  if (controls_.waiting() != 0) controls_.advance();
}

inline void DataProcess::take_posted(TraceQueue& queue, hw::Time at) {
  WaitingWork& work = queue.waiting.pop();
  const WorkItem& item = work.item;
  if (recorder_ != nullptr && queue.is_send) {
    recorder_->send_posted(queue.qpn, static_cast<hw::WrOpcode>(item.opcode), item.bytes(), at);
  }
  const bool signaled = !queue.is_send || queue.qp->sq_sig_all || (item.flags & kUnsignaled) == 0;
  queue.posted.push({wr_id_of(item, queue.posts), item.line, item.label, signaled});
  ++queue.posts;
  ++posts_;
  forget(queue, work);
}

// The verb gave these back: they will not complete, and whoever waits for them goes on.
void DataProcess::refused(TraceQueue& queue, std::uint32_t count, int error) {
  counters_.posts_refused += count;
  if (refusals_.size() < kMishapsKept) {
    const char* const verb = verb_of(queue);
    refusals_.push_back(mishap(queue.waiting.front().item.line,
                               std::string(verb) + " was refused: " + std::strerror(-error)));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    WaitingWork& work = queue.waiting.pop();
    if (work.item.label != kNoInstance) complete_label(work.item.label);
    forget(queue, work);
  }
}

inline void DataProcess::forget(TraceQueue& queue, WaitingWork& work) {
  if (queue.waiting.empty() && queue.unread != 0) ++starving_;
  if (work.item.after != kNoInstance) labels_.release(work.item.after);
  work_.release(work);
  --waiting_items_;
}

// --- Completing
// -----------------------------------------------------------------------------------

void DataProcess::complete_label(LabelInstance label) {
  std::vector<std::uint32_t>& waiters = labels_.waiters(label);
  for (const std::uint32_t queue : waiters) list(queues_[queue]);
  waiters.clear();
  labels_.complete(label, cpu_.now());
  if (controls_.waiting() != 0) controls_.advance();
}

// False when there was nothing.
inline bool DataProcess::poll() {
  const std::span<const rvt::ib_wc> completions = cq_poller_.poll();
  const hw::Time at = cpu_.now();
  for (const rvt::ib_wc& wc : completions) completed(wc, wc.qp->qp_num, at);
  return !completions.empty();
}

// The polling loop looks at its next tick.
void DataProcess::completion_written() {
  const hw::Time idle = std::max<hw::Time>(0, now() - idle_since_);
  const hw::Time ticks = (idle + poll_interval_ - 1) / poll_interval_;
  wake(idle_since_ + ticks * poll_interval_);
}

// One that a post of this step made is polled in the next step anyway.
void DataProcess::completion_entered() {
  if (!stepping_) completion_written();
}

void DataProcess::completed(const rvt::ib_wc& wc, std::uint32_t qpn, hw::Time at) {
  ++completions_;
  const bool receive = (wc.opcode & rvt::IB_WC_RECV) != 0;
  TraceQueue* const queue = queues_.of_qpn(qpn, !receive);
  if (queue == nullptr || queue->posted.empty()) {
    ++counters_.unexpected;
    return;
  }
  if (receive) {
    receive_completed(*queue, wc, qpn, at);
  } else {
    send_completed(*queue, wc, at);
  }
  list(*queue);
}

// A completion also ends the unsignaled requests before its own.
inline void DataProcess::send_completed(TraceQueue& queue, const rvt::ib_wc& wc, hw::Time at) {
  const bool success = wc.status == rvt::IB_WC_SUCCESS;
  while (!queue.posted.empty()) {
    const std::uint64_t count = queue.posts - queue.posted.size();
    const Posted ended = queue.posted.pop();
    if (ended.label != kNoInstance) complete_label(ended.label);
    const bool own = ended.wr_id == wc.wr_id && (ended.signaled || !success);
    if (!own) continue;
    if (!success) note_failure(queue, ended.line, wc.status);
    if (recorder_ != nullptr) {
      recorder_->send_polled(queue.qpn, count, static_cast<hw::WcStatus>(wc.status), at);
    }
    return;
  }
  ++counters_.unexpected;
}

inline void DataProcess::receive_completed(TraceQueue& queue, const rvt::ib_wc& wc,
                                           std::uint32_t qpn, hw::Time at) {
  if (queue.posted.front().wr_id != wc.wr_id) [[unlikely]]
    out_of_turn(queue, wc.wr_id);
  const Posted ended = queue.posted.pop();
  if (recorder_ != nullptr) {
    recorder_->receive_polled(qpn, static_cast<hw::WcStatus>(wc.status), wc.byte_len, at);
  }
  if (ended.label != kNoInstance) complete_label(ended.label);
}

// --- The loop
// -------------------------------------------------------------------------------------

// Sees to it that the CPU looks around at `at`, or as soon as it is free.
void DataProcess::wake(hw::Time at) {
  at = std::max({at, free_at_, now()});
  if (next_step_ <= at) return;
  next_step_ = at;
  schedule(at, static_cast<std::uint64_t>(at));
}

void DataProcess::on_event(std::uint64_t argument) {
  if (static_cast<hw::Time>(argument) != next_step_) {  // an earlier look took its place
    if ((argument & kNewsBit) != 0) take_news(static_cast<std::uint32_t>(argument));
    return;
  }
  next_step_ = hw::kNever;
  if (stopped_) return;
  while (!timed_.empty() && timed_.earliest() <= now()) {
    TraceQueue& queue = queues_[timed_.pop()];
    queue.timed_at = hw::kNever;
    list(queue);
  }
  next_timer_ = hw::kNever;
  stepping_ = true;
  cpu_.begin_activity();
  const bool polled = poll();
  read_ahead();
  const bool posted = post_next();
  free_at_ = now() + cpu_.end_activity();
  stepping_ = false;
  if (!timed_.empty()) set_timer(timed_.earliest());
  if (polled || posted) last_activity_ = free_at_;
  if (polled || posted || !listed_.empty()) {
    wake(free_at_);
  } else {
    idle_since_ = free_at_;
  }
}

void DataProcess::widen(hw::Time at) {
  window_ = farthest_ *= 2;
  wake(at);
}

}  // namespace hcasim::sim
