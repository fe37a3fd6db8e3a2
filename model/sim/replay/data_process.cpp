// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/data_process.hpp"

#include <algorithm>

#include "hcasim/rvt/rdmavt_cq.hpp"

namespace hcasim::sim {

namespace {

constexpr std::uint32_t kPollBatch = 16;
constexpr std::uint32_t kNoQueue = 0xffff'ffff;

template <typename T>
void place(std::vector<T>& table, std::size_t index, T value, T empty) {
  if (index >= table.size()) table.resize(index + 1, empty);
  table[index] = value;
}

}  // namespace

DataProcess::DataProcess(NodeObjects& objects, ObjectDirectory& directory, NodeRecorder* recorder)
    : Unit(objects.node().engine(), "cpu"),
      objects_(objects),
      recorder_(recorder),
      cpu_(objects.node().host().cpu()),
      post_list_(objects, directory),
      poll_interval_(std::max(1u, objects.node().config().host.poll_interval_ns) * hw::kNanosecond),
      wcs_(kPollBatch) {
  objects.set_listener(*this);
}

void DataProcess::start(OperationSource& source, hw::Time epoch) {
  source_ = &source;
  epoch_ = epoch;
  wake(epoch);
}

// --- Objects
// --------------------------------------------------------------------------------------

void DataProcess::cq_created(NameId name, TraceCq& cq) {
  const auto index = static_cast<std::uint32_t>(cqs_.size());
  cqs_.push_back({this, name, &cq, index, true, false});
  ready_cqs_.push(index);
}

void DataProcess::cq_destroyed(NameId name) {
  for (PolledCq& cq : cqs_) {
    if (cq.name == name) cq.cq = nullptr;
  }
}

void DataProcess::qp_created(NameId name, TraceQp& qp) {
  for (const bool is_send : {true, false}) {
    TraceQueue& queue = queue_store_.emplace_back();
    queues_.push_back(&queue);
    queue.qp_name = name;
    queue.qp = &qp;
    queue.is_send = is_send;
    queue.depth = is_send ? qp.max_send_wr : qp.max_recv_wr;
    const auto index = static_cast<std::uint32_t>(queues_.size() - 1);
    queue.index = index;
    place(is_send ? send_queue_of_ : recv_queue_of_, name, index, kNoQueue);
    place<TraceQueue*>(is_send ? by_qpn_send_ : by_qpn_recv_, qp.qp->qp_num, &queue, nullptr);
  }
  if (recorder_ != nullptr) recorder_->qp_created(qp.qp->qp_num, objects_.text(name));
}

void DataProcess::qp_reset(NameId name) {
  TraceQp* qp = objects_.qp(name);
  for (const bool is_send : {true, false}) {
    TraceQueue& queue = *queues_[queue_of(name, is_send)];
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

std::uint32_t DataProcess::queue_of(NameId qp, bool is_send) const {
  const std::vector<std::uint32_t>& table = is_send ? send_queue_of_ : recv_queue_of_;
  return qp < table.size() ? table[qp] : kNoQueue;
}

// --- Reading
// --------------------------------------------------------------------------------------

// Reads until the window is full. What is read depends on this node's progress alone.
void DataProcess::read_ahead() {
  while (!source_ended_ && waiting_items_ < window_ && controls_.size() < window_) {
    const std::uint32_t index = items_.acquire();
    const Operation* operation = nullptr;
    const SourceItem kind = source_->next(items_[index], operation);
    if (kind == SourceItem::kWork) {
      WorkItem& work = items_[index];
      if (operation != nullptr) take_work(work, *operation);
      const std::uint32_t queue = queue_of(work.queue, work.is_send);
      if (queue == kNoQueue) fail("line " + std::to_string(work.line) + " posts to no queue pair");
      queues_[queue]->waiting.push(index);
      ++waiting_items_;
      list(*queues_[queue]);
      continue;
    }
    items_.release(index);
    if (kind == SourceItem::kControl) {
      take_control(*operation);
    } else {
      source_ended_ = true;
    }
  }
}

void DataProcess::take_work(WorkItem& work, const Operation& operation) {
  if (operation.after != kNoName) work.after = labels_.refer(operation.after);
  if (operation.label != kNoName) work.label = labels_.define(operation.label);
}

void DataProcess::take_control(const Operation& operation) {
  controls_.push_back(operation);
  if (!control_running_) {
    control_running_ = true;
    cpu_.start_task([this] { run_controls(); });
  }
}

// --- Whose turn it is
// -----------------------------------------------------------------------------

void DataProcess::list(TraceQueue& queue) {
  if (queue.listed || queue.waiting.empty()) return;
  queue.listed = true;
  listed_.push(queue.index);
}

// Operations of the list that begins at the head; 0 while its end has not been read.
std::uint32_t DataProcess::list_length(TraceQueue& queue) const {
  for (std::uint32_t i = 0; i < queue.waiting.size(); ++i) {
    if ((items_[queue.waiting[i]].flags & kMore) == 0) return i + 1;
  }
  return source_ended_ || queue.waiting.size() >= window_ ? queue.waiting.size() : 0;
}

// True when the item's time has come; arranges a wake-up otherwise.
bool DataProcess::due(TraceQueue& queue, const WorkItem& item) {
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
std::uint32_t DataProcess::runnable(TraceQueue& queue) {
  if (!due(queue, items_[queue.waiting.front()])) return 0;
  const std::uint32_t length = list_length(queue);
  // A list that can never fit is posted all the same, to be refused as in life.
  const std::uint32_t depth = std::max(queue.depth, 1u);
  return queue.posted.size() + std::min(length, depth) <= depth ? length : 0;
}

// --- Posting
// --------------------------------------------------------------------------------------

// Posts the next list that may be posted; false when there is none.
bool DataProcess::post_next() {
  while (!listed_.empty()) {
    TraceQueue& queue = *queues_[listed_.pop()];
    queue.listed = false;
    const std::uint32_t length = queue.waiting.empty() ? 0 : runnable(queue);
    if (length == 0) continue;
    post(queue, length);
    list(queue);
    return true;
  }
  return false;
}

void DataProcess::post(TraceQueue& queue, std::uint32_t count) {
  post_list_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const WorkItem& item = items_[queue.waiting[i]];
    post_list_.add(*queue.qp, item, item.wr_id_given ? item.wr_id : queue.posts + i);
  }
  const hw::Time at = cpu_.now();
  std::uint32_t accepted = 0;
  const int error = post_list_.post(*queue.qp, queue.is_send, accepted);
  for (std::uint32_t i = 0; i < accepted; ++i) {
    const std::uint32_t index = queue.waiting.pop();
    WorkItem& item = items_[index];
    if (recorder_ != nullptr) {
      const std::uint32_t qpn = queue.qp->qp->qp_num;
      if (queue.is_send) {
        const std::uint64_t bytes = item.bytes();
        recorder_->send_posted(qpn, static_cast<hw::WrOpcode>(item.opcode), bytes, at);
      } else {
        recorder_->receive_posted(qpn, at);
      }
    }
    posted(queue, item);
    forget(index);
  }
  if (error != 0) refused(queue, count - accepted);
}

void DataProcess::posted(TraceQueue& queue, WorkItem& item) {
  const bool signaled = !queue.is_send || queue.qp->sq_sig_all || (item.flags & kUnsignaled) == 0;
  queue.posted.push(
      {item.wr_id_given ? item.wr_id : queue.posts, queue.posts, item.label, signaled});
  ++queue.posts;
  ++posts_;
}

// The verb gave these back: they will not complete, and whoever waits for them goes on.
void DataProcess::refused(TraceQueue& queue, std::uint32_t count) {
  counters_.posts_refused += count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = queue.waiting.pop();
    if (items_[index].label != kNoInstance) complete_label(items_[index].label);
    forget(index);
  }
}

void DataProcess::forget(std::uint32_t index) {
  if (items_[index].after != kNoInstance) labels_.release(items_[index].after);
  items_.release(index);
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
bool DataProcess::poll_next() {
  while (!ready_cqs_.empty()) {
    const std::uint32_t index = ready_cqs_.front();
    PolledCq& cq = cqs_[index];
    if (cq.cq == nullptr) {
      ready_cqs_.pop();
      continue;
    }
    const int count = rvt::ib_poll_cq(cq.cq->cq, kPollBatch, wcs_.data());
    if (count > 0) {
      for (int i = 0; i < count; ++i) completed(wcs_[static_cast<std::size_t>(i)]);
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
  self.ready_cqs_.push(cq->index);
  // The polling loop looks at its next tick.
  const hw::Time idle = std::max<hw::Time>(0, self.now() - self.idle_since_);
  const hw::Time ticks = (idle + self.poll_interval_ - 1) / self.poll_interval_;
  self.wake(self.idle_since_ + ticks * self.poll_interval_);
}

void DataProcess::completed(const rvt::ib_wc& wc) {
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
    receive_completed(*queue, wc);
  } else {
    send_completed(*queue, wc);
  }
  list(*queues_[queue_of(queue->qp_name, queue->is_send)]);
}

// A completion also ends the unsignaled requests before its own.
void DataProcess::send_completed(TraceQueue& queue, const rvt::ib_wc& wc) {
  const bool success = wc.status == rvt::IB_WC_SUCCESS;
  while (!queue.posted.empty()) {
    const Posted ended = queue.posted.pop();
    if (ended.label != kNoInstance) complete_label(ended.label);
    const bool own = ended.wr_id == wc.wr_id && (ended.signaled || !success);
    if (!own) continue;
    if (recorder_ != nullptr) {
      recorder_->send_polled(queue.qp->qp->qp_num, ended.count,
                             static_cast<hw::WcStatus>(wc.status), cpu_.now());
    }
    return;
  }
  ++counters_.unexpected;
}

void DataProcess::receive_completed(TraceQueue& queue, const rvt::ib_wc& wc) {
  const Posted ended = queue.posted.pop();
  if (ended.wr_id != wc.wr_id) ++counters_.unexpected;
  if (recorder_ != nullptr) {
    recorder_->receive_polled(queue.qp->qp->qp_num, static_cast<hw::WcStatus>(wc.status),
                              wc.byte_len, cpu_.now());
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
    const Operation operation = controls_.front();
    controls_.pop_front();
    hw::Time at = operation.timing == Timing::kAt ? epoch_ + operation.time : 0;
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
    const WorkItem& item = items_[const_cast<TraceQueue&>(queue).waiting.front()];
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
