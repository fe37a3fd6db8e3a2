// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What a cycle decides from the state at its start: the take that is judged, the action of the
// fetch stage, the event that enters.
#include <algorithm>
#include <bit>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

bool ReceiveQueueModel::quiet() const {
  const bool requests =
      command_.needs_requests_quiet && command_.queue != nullptr && command_.queue->requests != 0;
  return !requests && command_.earlier_takes == 0;
}

bool ReceiveQueueModel::fires(const WaitEntry& entry) const {
  if (entry.verdict != TakeStatus::kOk || entry.kind != TakeKind::kTake) return false;
  const RqQueue& queue = *entry.queue;
  return queue.limit != 0 && queue.posted() != 0 && queue.posted() - 1 < queue.limit;
}

bool ReceiveQueueModel::take_rsp_free(const Inputs& in) const {
  return !out_.take_rsp_valid || (in.take_rsp_ready && answer_.beats_left == 0);
}

ReceiveQueueModel::Selection ReceiveQueueModel::select(const Inputs& in,
                                                       const Doorbell* doorbell) const {
  Selection s;
  s.command_free = !command_.busy;
  if (!out_.dma_req_valid || in.dma_req_ready) s.fetch = next_fetch();
  if (waits_.answerable != 0 && take_rsp_free(in)) s.judged = waits_.oldest(waits_.answerable);

  if (!events_.full()) {
    if (failed_tags_ != 0) {
      s.failed_tag = static_cast<unsigned>(std::countr_zero(failed_tags_));
    } else {
      s.event_room = true;
    }
  }
  if (s.judged == kNone || !fires(waits_[s.judged])) return s;
  const bool stalls =
      !s.event_room || (doorbell != nullptr && bad_after_judging(*doorbell, waits_[s.judged], in));
  if (stalls) s.judged = kNone;
  return s;
}

ReceiveQueueModel::FetchChoice ReceiveQueueModel::choose_fetch() const {
  if (waits_.needy != 0) {
    RqQueue& queue = *waits_[waits_.oldest(waits_.needy)].queue;
    if (lines_.free_count() >= queue.lines_per_slot()) return fetch_for(queue, false);
    RqQueue* const loser = victim();
    return {loser == nullptr ? FetchChoice::kNothing : FetchChoice::kEvict, false, 0, loser};
  }
  if (fetch_fifo_.empty()) return {};
  RqQueue& queue = fetch_fifo_.front();
  if (!eligible(queue)) return {FetchChoice::kDrop, true, 0, &queue};
  return fetch_for(queue, true);
}

ReceiveQueueModel::FetchChoice ReceiveQueueModel::fetch_for(RqQueue& queue, bool from_fifo) const {
  const unsigned fit = lines_.free_count() / queue.lines_per_slot();
  if (free_tags_ == 0 || fit == 0) return {};
  const std::uint64_t address = queue.base + std::uint64_t{queue.fetch} * queue.stride();
  const unsigned to_boundary = kDmaBoundary - static_cast<unsigned>(address % kDmaBoundary);
  const unsigned slots =
      std::min({queue.distance(queue.fetch, queue.head), parameters_.prefetch - held(queue),
                static_cast<unsigned>(queue.size - queue.fetch), to_boundary >> queue.stride_log2,
                fit, parameters_.fetch_bytes >> queue.stride_log2});
  return {FetchChoice::kFetch, from_fifo, slots, &queue};
}

RqQueue* ReceiveQueueModel::victim() const {
  for (std::uint16_t slot = lines_.oldest(); slot != kNoLine; slot = lines_.newer(slot)) {
    RqQueue& owner = lines_.owner(slot);
    if (owner.first_wait == kNoEntry && owner.requests == 0 && answer_.wqe_queue != &owner) {
      return &owner;
    }
  }
  return nullptr;
}

const ReceiveQueueModel::Request* ReceiveQueueModel::known(std::uint8_t tag) const {
  if (tag >= parameters_.tags || (((free_tags_ | failed_tags_) >> tag) & 1U) != 0) return nullptr;
  return &requests_[tag];
}

bool ReceiveQueueModel::fails(const Request& request, const DmaBeat& beat) const {
  return beat.error || (beat.last && request.received + 1U < request.expected);
}

bool ReceiveQueueModel::bad_head(const RqQueue& queue, unsigned tail, unsigned head) {
  if (head >= queue.size) return true;
  if (head == queue.head) return false;
  if (tail <= queue.head) return head >= tail && head < queue.head;
  return head >= tail || head < queue.head;
}

// Only asked when the take would fire: whether the doorbell of the cycle, seen after the take and
// after the DMA beat, claims the event for itself.
bool ReceiveQueueModel::bad_after_judging(const Doorbell& doorbell, const WaitEntry& judged,
                                          const Inputs& in) const {
  const RqQueue* queue = find(doorbell.queue);
  if (queue == nullptr || queue->state == QueueState::kInvalid) return true;
  if (queue->state != QueueState::kReady) return queue->state == QueueState::kPaused;
  if (in.dma_rsp_valid) {
    const Request* request = known(in.dma_rsp.tag);
    if (request != nullptr && request->queue == queue && fails(*request, in.dma_rsp)) return false;
  }
  const unsigned tail =
      judged.queue == queue ? queue->advance(queue->tail, 1) : unsigned{queue->tail};
  return bad_head(*queue, tail, doorbell.head);
}

}  // namespace hcasim::hca
