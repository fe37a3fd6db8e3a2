// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Shared receive queues: queues of their own name, whose receives complete with the queue pairs
// that took them.
#include <algorithm>
#include <utility>

#include "sim/replay/data_process.hpp"

namespace hcasim::sim {

void DataProcess::srq_created(NameId name, TraceSrq& srq) {
  TraceQueue* const known = queues_.find(name, false);
  TraceQueue& queue = known != nullptr ? *known : make_queue(name, false);
  queue.qp = nullptr;  // an earlier one of this name
  queue.srq = &srq;
  queue.posts = 0;
  srq_resized(name, srq);
}

void DataProcess::srq_resized(NameId name, const TraceSrq& srq) {
  TraceQueue& queue = *queues_.find(name, false);
  queue.depth = srq.max_wr;
  list(queue);
}

void DataProcess::srq_destroyed(NameId name) {
  TraceQueue& queue = *queues_.find(name, false);
  if (recorder_ != nullptr) recorder_->shared_receives_gone(cpu_.now(), queue.posted.size());
  end_wait_for_limit(queue);
  empty(queue);
  queue.srq = nullptr;
}

int DataProcess::post_shared(TraceQueue& queue, std::uint32_t& accepted) {
  const hw::Time at = cpu_.now();
  const int error = post_list_.post(*queue.srq, accepted);
  if (recorder_ != nullptr && accepted != 0) recorder_->shared_receive_posted(at, accepted);
  return error;
}

// Queue pairs end their messages at different times: moves the receive that has ended before those
// that were posted earlier.
[[gnu::noinline]] void DataProcess::out_of_turn(TraceQueue& queue, std::uint64_t wr_id) {
  hca::Fifo<Posted>& posted = queue.posted;
  std::uint32_t found = 0;
  while (found < posted.size() && posted[found].wr_id != wr_id) ++found;
  if (queue.srq == nullptr || found == posted.size()) {
    ++counters_.unexpected;
    return;
  }
  for (; found != 0; --found) std::swap(posted[found], posted[found - 1]);
}

// --- The limit
// ------------------------------------------------------------------------------------

// The label of a line that sets a limit completes at its event, which may have come already.
void DataProcess::await_limit(const PendingControl& control) {
  TraceQueue& queue = *queues_.find(control.operation.object, false);
  end_wait_for_limit(queue);
  queue.at_limit = control.label;
  if (!queue.srq->armed()) end_wait_for_limit(queue);
}

// Whoever waits goes on, be it that no event will come any more.
void DataProcess::end_wait_for_limit(TraceQueue& queue) {
  const LabelInstance label = std::exchange(queue.at_limit, kNoInstance);
  if (label != kNoInstance) complete_label(label);
}

void DataProcess::srq_limit_reached(NameId name) {
  TraceQueue* const queue = queues_.find(name, false);
  // The event of a limit that was set anew meanwhile.
  if (queue == nullptr || queue->srq == nullptr || queue->srq->armed()) return;
  end_wait_for_limit(*queue);
  wake(now());
}

}  // namespace hcasim::sim
