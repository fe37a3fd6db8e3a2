// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What can be told of outputs before the cycles that make them are stepped.
#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

// Once its answer is accepted, a queue has room for another WQE and there are free lines.
bool ReceiveQueueModel::fetch_may_follow_answer() const {
  if (!fetch_fifo_.empty() || waits_.needy != 0) return true;
  const RqQueue* const queue = answer_.wqe_queue;
  return queue != nullptr && queue->state == QueueState::kReady && queue->fetch != queue->head;
}

Cycle ReceiveQueueModel::next_output() const {
  if (out_.idle) return kNoCycle;
  const bool control = command_.busy || !commands_.empty() || !doorbells_.empty() ||
                       failed_tags_ != 0 || out_.event_valid;
  const bool answer = waits_.answerable != 0 || (out_.take_rsp_valid && answer_.beats_left != 0);
  if (control || answer || next_fetch().kind != FetchChoice::kNothing) return cycle_ + 1;
  return out_.take_rsp_valid && fetch_may_follow_answer() ? cycle_ + 2 : kNoCycle;
}

Cycle ReceiveQueueModel::output_delay(const Take&) const {
  return 1;
}

// A good doorbell shows by a fetch in the next cycle, unless the queue holds all that it may.
Cycle ReceiveQueueModel::output_delay(const Doorbell& doorbell) const {
  if (!doorbells_.empty()) return 0;
  const RqQueue* const queue =
      doorbell.queue < parameters_.queues ? queues_.find(doorbell.queue) : nullptr;
  if (queue == nullptr || queue->state != QueueState::kReady) return 0;
  if (bad_head(*queue, queue->tail, doorbell.head)) return 0;
  const bool full = held(*queue) >= parameters_.prefetch && !out_.take_rsp_valid;
  return full && queue->first_wait == kNoEntry ? kNoCycle : 1;
}

// Data shows when a take waits for it, or a fetch for its tag.
Cycle ReceiveQueueModel::output_delay_of_beats() const {
  const bool nobody_waits = waits_.used() == 0 && fetch_fifo_.empty() && !out_.take_rsp_valid;
  return nobody_waits && !command_.busy && commands_.empty() ? kNoCycle : 1;
}

}  // namespace hcasim::hca
