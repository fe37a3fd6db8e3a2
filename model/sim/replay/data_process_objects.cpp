// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Queues of a data process come and go with the objects of the trace.
#include "sim/replay/data_process.hpp"

namespace hcasim::sim {

void DataProcess::cq_created(NameId name, TraceCq& cq) {
  cq_poller_.add(name, cq);
}

void DataProcess::cq_destroyed(NameId name) {
  cq_poller_.remove(name);
}

TraceQueue& DataProcess::make_queue(NameId name, bool is_send) {
  TraceQueue& queue = queues_.make(name, is_send);
  if (source_ != nullptr) expect_posts(queue);
  return queue;
}

void DataProcess::expect_posts(TraceQueue& queue) {
  if (post_counts_ == nullptr) return;
  queue.unread = post_counts_->of(queue.qp_name, queue.is_send);
  if (queue.unread != 0) ++starving_;
}

void DataProcess::qp_created(NameId name, TraceQp& qp) {
  for (const bool is_send : {true, false}) {
    TraceQueue* const known = queues_.find(name, is_send);
    TraceQueue& queue = known != nullptr ? *known : make_queue(name, is_send);
    queues_.bind(queue, qp);
    list(queue);
  }
  if (recorder_ != nullptr) recorder_->qp_created(qp.qpn, objects_.text(name), qp.reliable());
  if (qp.srq == kNoName) return;
  queues_.share(*queues_.find(qp.srq, false), qp.qpn);
  if (recorder_ != nullptr) recorder_->qp_shares(qp.qpn);
}

// What was posted and has not completed never will; whoever waits for it goes on.
void DataProcess::empty(NameId name) {
  for (const bool is_send : {true, false}) empty(*queues_.find(name, is_send));
}

void DataProcess::empty(TraceQueue& queue) {
  while (!queue.posted.empty()) {
    const Posted gone = queue.posted.pop();
    if (gone.label != kNoInstance) complete_label(gone.label);
  }
  queue.posts = 0;
  list(queue);
}

void DataProcess::qp_reset(NameId name, const TraceQp& qp) {
  read_completions_of(qp);
  empty(name);
  if (recorder_ == nullptr) return;
  recorder_->qp_closed(qp.qpn, cpu_.now());
  recorder_->qp_created(qp.qpn, objects_.text(name), qp.reliable());
  if (qp.srq != kNoName) recorder_->qp_shares(qp.qpn);
}

void DataProcess::qp_destroyed(NameId name, const TraceQp& qp) {
  read_completions_of(qp);
  empty(name);
  queues_.release_qpn(qp.qpn);
  if (recorder_ != nullptr) recorder_->qp_closed(qp.qpn, cpu_.now());
}

// The driver has moved what the QP had completed into its own rings.
void DataProcess::read_completions_of(const TraceQp& gone) {
  for (auto batch = cq_poller_.poll_entered(); !batch.empty(); batch = cq_poller_.poll_entered()) {
    for (const rvt::ib_wc& wc : batch) {
      completed(wc, wc.qp == gone.qp ? gone.qpn : wc.qp->qp_num, cpu_.now());
    }
  }
}

}  // namespace hcasim::sim
