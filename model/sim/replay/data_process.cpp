// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/data_process.hpp"

#include <algorithm>

#include "hcasim/rvt/rdmavt_cq.hpp"

namespace hcasim::sim {

namespace {

void place(std::vector<TraceQueue*>& table, std::size_t index, TraceQueue& queue) {
  if (index >= table.size()) table.resize(index + 1, nullptr);
  table[index] = &queue;
}

std::uint64_t wr_id_of(const WorkItem& item, std::uint64_t number) {
  return item.wr_id_given ? item.wr_id : number;
}

}  // namespace

DataProcess::DataProcess(NodeObjects& objects, ObjectDirectory& directory, NodeRecorder* recorder)
    : Unit(objects.node().engine(), "cpu"),
      objects_(objects),
      recorder_(recorder),
      cpu_(objects.node().host().cpu()),
      post_list_(objects, directory),
      poll_interval_(std::max(1u, objects.node().config().host.poll_interval_ns) *
                     hw::kNanosecond) {
  objects.set_listener(*this);
}

void DataProcess::start(OperationSource& source, hw::Time epoch) {
  source_ = &source;
  window_ = source.read_ahead();
  epoch_ = epoch;
  wake(epoch);
}

// --- Objects
// --------------------------------------------------------------------------------------

void DataProcess::cq_created(NameId name, TraceCq& cq) {
  cqs_.push_back({this, name, &cq, true, false});
  ready_cqs_.push(&cqs_.back());
}

void DataProcess::cq_destroyed(NameId name) {
  for (PolledCq& cq : cqs_) {
    if (cq.name == name) cq.cq = nullptr;
  }
}

void DataProcess::qp_created(NameId name, TraceQp& qp) {
  for (const bool is_send : {true, false}) {
    TraceQueue& queue = queue_store_.emplace_back();
    queue.index = static_cast<std::uint32_t>(queues_.size());
    queues_.push_back(&queue);
    queue.qp_name = name;
    queue.qp = &qp;
    queue.qpn = qp.qp->qp_num;
    queue.is_send = is_send;
    queue.depth = is_send ? qp.max_send_wr : qp.max_recv_wr;
    place(is_send ? by_name_send_ : by_name_recv_, name, queue);
    place(is_send ? by_qpn_send_ : by_qpn_recv_, queue.qpn, queue);
  }
  if (recorder_ != nullptr) recorder_->qp_created(qp.qp->qp_num, objects_.text(name));
}

void DataProcess::qp_reset(NameId name) {
  TraceQp* qp = objects_.qp(name);
  for (const bool is_send : {true, false}) {
    TraceQueue& queue = *queue_of(name, is_send);
    while (!queue.posted.empty()) {
      const Posted gone = queue.posted.pop();
      if (gone.label != kNoInstance) complete_label(gone.label);
    }
    queue.posts = 0;
  }
  if (recorder_ != nullptr) {
    recorder_->qp_closed(qp->qp->qp_num, cpu_.now());
    recorder_->qp_created(qp->qp->qp_num, objects_.text(name));
  }
}

// --- Reading
// --------------------------------------------------------------------------------------

// Reads until the window is full. What is read depends on this node's progress alone.
inline void DataProcess::read_ahead() {
  while (!source_ended_ && waiting_items_ < window_ && controls_.size() < window_) {
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
    } else {
      source_ended_ = true;
    }
  }
}

inline void DataProcess::add(WaitingWork& work) {
  TraceQueue* const queue = queue_of(work.item.queue, work.item.is_send);
  if (queue == nullptr) fail_without_queue(work.item);
  queue->waiting.push(work);
  ++waiting_items_;
  list(*queue);
}

void DataProcess::take_work(WorkItem& work, const Operation& operation) {
  if (operation.after != kNoName) work.after = labels_.refer(operation.after);
  if (operation.label != kNoName) work.label = labels_.define(operation.label);
}

void DataProcess::take_control(const Operation& operation) {
  controls_.push(operation);
  if (!control_running_) {
    control_running_ = true;
    cpu_.start_task([this] { run_controls(); });
  }
}

void DataProcess::fail_without_queue(const WorkItem& item) const {
  fail("line " + std::to_string(item.line) + " posts to no queue pair");
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
  if (item.timing == Timing::kAt) at = epoch_ + item.time;
  if (item.after != kNoInstance) {
    if (!labels_.done(item.after)) {
      labels_.wait(item.after, queue.index);  // complete_label lists the queue again
      return false;
    }
    at = labels_.completed_at(item.after) + item.time;
  }
  if (at <= now()) return true;
  if (queue.timed_at == at) return false;
  queue.timed_at = at;
  timed_.push_back({at, queue.index});
  std::push_heap(timed_.begin(), timed_.end(),
                 [](const TimedQueue& a, const TimedQueue& b) { return a.at > b.at; });
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
    post_list_.add(*queue.qp, work->item, wr_id_of(work->item, queue.posts + i));
  }
  const hw::Time at = cpu_.now();
  std::uint32_t accepted = 0;
  const int error = post_list_.post(*queue.qp, queue.is_send, accepted);
  if (recorder_ != nullptr && !queue.is_send && accepted != 0) {
    recorder_->receive_posted(queue.qpn, at, accepted);
  }
  for (std::uint32_t i = 0; i < accepted; ++i) take_posted(queue, at);
  if (error != 0) refused(queue, count - accepted);
}

inline void DataProcess::take_posted(TraceQueue& queue, hw::Time at) {
  WaitingWork& work = queue.waiting.pop();
  const WorkItem& item = work.item;
  if (recorder_ != nullptr && queue.is_send) {
    recorder_->send_posted(queue.qpn, static_cast<hw::WrOpcode>(item.opcode), item.bytes(), at);
  }
  const bool signaled = !queue.is_send || queue.qp->sq_sig_all || (item.flags & kUnsignaled) == 0;
  queue.posted.push({wr_id_of(item, queue.posts), item.label, signaled});
  ++queue.posts;
  ++posts_;
  forget(work);
}

// The verb gave these back: they will not complete, and whoever waits for them goes on.
void DataProcess::refused(TraceQueue& queue, std::uint32_t count) {
  counters_.posts_refused += count;
  for (std::uint32_t i = 0; i < count; ++i) {
    WaitingWork& work = queue.waiting.pop();
    if (work.item.label != kNoInstance) complete_label(work.item.label);
    forget(work);
  }
}

inline void DataProcess::forget(WaitingWork& work) {
  if (work.item.after != kNoInstance) labels_.release(work.item.after);
  work_.release(work);
  --waiting_items_;
}

// --- Completing
// -----------------------------------------------------------------------------------

void DataProcess::complete_label(LabelInstance label) {
  std::vector<std::uint32_t>& waiters = labels_.waiters(label);
  for (const std::uint32_t queue : waiters) list(*queues_[queue]);
  waiters.clear();
  labels_.complete(label, cpu_.now());
}

// Polls a completion queue that has something; false when none has.
inline bool DataProcess::poll_next() {
  while (!ready_cqs_.empty()) {
    PolledCq& cq = *ready_cqs_.front();
    if (cq.cq == nullptr) {
      ready_cqs_.pop();
      continue;
    }
    const int count = rvt::ib_poll_cq(cq.cq->cq, kPollBatch, wcs_.data());
    if (count > 0) {
      const hw::Time at = cpu_.now();
      for (int i = 0; i < count; ++i) completed(wcs_[static_cast<std::size_t>(i)], at);
      return true;
    }
    ready_cqs_.pop();
    cq.ready = false;
    watch(cq);
  }
  return false;
}

void DataProcess::watch(PolledCq& cq) {
  if (cq.watching) return;
  cq.watching = true;
  const rvt::rvt_cq* rvt_cq = rvt::ibcq_to_rvtcq(cq.cq->cq);
  cpu_.watch(rvt_cq->ring + std::uint64_t{sizeof(hw::Cqe)} * rvt_cq->index, sizeof(hw::Cqe),
             {&DataProcess::cq_written, &cq, 0});
}

void DataProcess::cq_written(void* context, std::uint64_t) {
  auto* cq = static_cast<PolledCq*>(context);
  DataProcess& self = *cq->process;
  cq->watching = false;
  if (cq->ready || cq->cq == nullptr) return;
  cq->ready = true;
  self.ready_cqs_.push(cq);
  // The polling loop looks at its next tick.
  const hw::Time idle = std::max<hw::Time>(0, self.now() - self.idle_since_);
  const hw::Time ticks = (idle + self.poll_interval_ - 1) / self.poll_interval_;
  self.wake(self.idle_since_ + ticks * self.poll_interval_);
}

inline void DataProcess::completed(const rvt::ib_wc& wc, hw::Time at) {
  ++completions_;
  const bool receive = (wc.opcode & rvt::IB_WC_RECV) != 0;
  const std::vector<TraceQueue*>& table = receive ? by_qpn_recv_ : by_qpn_send_;
  const std::uint32_t qpn = wc.qp->qp_num;
  TraceQueue* queue = qpn < table.size() ? table[qpn] : nullptr;
  if (queue == nullptr || queue->posted.empty()) {
    ++counters_.unexpected;
    return;
  }
  if (receive) {
    receive_completed(*queue, wc, at);
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
    if (recorder_ != nullptr) {
      recorder_->send_polled(queue.qpn, count, static_cast<hw::WcStatus>(wc.status), at);
    }
    return;
  }
  ++counters_.unexpected;
}

inline void DataProcess::receive_completed(TraceQueue& queue, const rvt::ib_wc& wc, hw::Time at) {
  const Posted ended = queue.posted.pop();
  if (ended.wr_id != wc.wr_id) ++counters_.unexpected;
  if (recorder_ != nullptr) {
    recorder_->receive_polled(queue.qpn, static_cast<hw::WcStatus>(wc.status), wc.byte_len, at);
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
  if (static_cast<hw::Time>(argument) != next_step_) return;  // an earlier look took its place
  next_step_ = hw::kNever;
  while (!timed_.empty() && timed_.front().at <= now()) {
    TraceQueue& queue = *queues_[timed_.front().queue];
    queue.timed_at = hw::kNever;
    std::pop_heap(timed_.begin(), timed_.end(),
                  [](const TimedQueue& a, const TimedQueue& b) { return a.at > b.at; });
    timed_.pop_back();
    list(queue);
  }
  next_timer_ = hw::kNever;
  cpu_.begin_activity();
  const bool polled = poll_next();
  read_ahead();
  const bool posted = post_next();
  free_at_ = now() + cpu_.end_activity();
  if (!timed_.empty()) set_timer(timed_.front().at);
  if (polled || posted) last_activity_ = free_at_;
  if (polled || posted || !listed_.empty()) {
    wake(free_at_);
  } else {
    idle_since_ = free_at_;
  }
}

void DataProcess::run_controls() {
  while (!controls_.empty()) {
    const Operation operation = controls_.pop();
    const hw::Time at = operation.timing == Timing::kAt ? epoch_ + operation.time : 0;
    if (at > now()) {
      objects_.node().host().tasks().sleep_until(at);
    } else if (at != 0 && at < now()) {
      ++counters_.late_controls;
    }
    const ControlResult result = objects_.execute(operation);
    if (result.error != 0) {
      fail("line " + std::to_string(operation.line) + ": " + result.verb + " failed with errno " +
           std::to_string(-result.error));
    }
    wake(now());
  }
  control_running_ = false;
}

void DataProcess::widen() {
  window_ *= 2;
  wake(now());
}

bool DataProcess::finished() const {
  if (!source_ended_ || waiting_items_ != 0 || !controls_.empty()) return false;
  return std::ranges::all_of(
      queue_store_, [](const TraceQueue& queue) { return !queue.is_send || queue.posted.empty(); });
}

std::string DataProcess::stuck_because() const {
  for (const TraceQueue& queue : queue_store_) {
    if (queue.waiting.empty()) continue;
    const WorkItem& item = queue.waiting.front().item;
    const bool waits = item.after != kNoInstance && !labels_.done(item.after);
    return "line " + std::to_string(item.line) +
           (waits ? " waits for a label whose operation does not complete"
                  : " waits for room in its queue");
  }
  for (const TraceQueue& queue : queue_store_) {
    if (!queue.is_send || queue.posted.empty()) continue;
    return std::to_string(queue.posted.size()) + " work requests of " +
           objects_.text(queue.qp_name) + " do not complete";
  }
  return "nothing";
}

}  // namespace hcasim::sim
