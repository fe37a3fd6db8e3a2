// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What can be told of outputs before the cycles that make them are stepped.
#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

// Once its answer is accepted, a queue has room for another WQE and there are free lines.
bool ReceiveQueueModel::fetch_may_follow_answer() const {
  if (fetch_wanted()) return true;
  const RqQueue* const queue = answer_.wqe_queue;
  return queue != nullptr && queue->state == QueueState::kReady && queue->fetch != queue->head;
}

Cycle ReceiveQueueModel::next_output() const {
  if (out_.idle) return kNoCycle;
  const bool answer = waits_.answerable != 0 || (out_.take_rsp_valid && answer_.beats_left != 0);
  if (control_ || answer || fetch_possible()) return cycle_ + 1;
  return out_.take_rsp_valid && fetch_may_follow_answer() ? cycle_ + 2 : kNoCycle;
}

// A take behind others of its queue shows nothing before they do.
Cycle ReceiveQueueModel::output_delay(const Take& take) const {
  const RqQueue* const queue = find(take.queue);
  const bool behind = queue != nullptr && queue->first_wait != kNoEntry;
  return behind && take.kind == TakeKind::kTake ? kNoCycle : 1;
}

// A good doorbell shows by a fetch in the next cycle, unless the queue holds all that it may.
Cycle ReceiveQueueModel::output_delay(const Doorbell& doorbell) const {
  if (!doorbells_.empty()) return 0;
  const RqQueue* const queue = find(doorbell.queue);
  if (queue == nullptr || queue->state != QueueState::kReady) return 0;
  if (bad_head(*queue, queue->tail, doorbell.head)) return 0;
  const bool full = held(*queue) >= parameters_.prefetch && !out_.take_rsp_valid;
  return full ? kNoCycle : 1;
}

// Data shows when a take waits for it, or a fetch for its tag or lines.
Cycle ReceiveQueueModel::output_delay_of_beats(std::uint8_t tag) const {
  if (command_.busy || !commands_.empty()) return 1;
  if (fetch_wanted() && !fetch_possible()) return 1;
  const Request* const request = known(tag);
  if (request == nullptr || request->queue->first_wait == kNoEntry) return kNoCycle;
  return belongs(request->queue->tail, *request) ? 1 : kNoCycle;
}

}  // namespace hcasim::hca
