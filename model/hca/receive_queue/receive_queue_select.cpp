// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What a cycle decides from the state at its start: the take that is judged, the action of the
// fetch stage, the event that enters.
#include <algorithm>
#include <bit>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

// A take that fires stalls when its event cannot enter.
unsigned ReceiveQueueModel::choose_take(const Inputs& in) const {
  const unsigned oldest = waits_.oldest(waits_.answerable);
  const WaitEntry& entry = waits_[oldest];
  if (!fires(entry)) return oldest;
  const Arrivals a = look_at(in);
  const bool stalls =
      !a.event_room || (a.doorbell != nullptr && bad_after_judging(*a.doorbell, entry, in));
  return stalls ? kNone : oldest;
}

ReceiveQueueModel::FetchChoice ReceiveQueueModel::choose_fetch() const {
  if (waits_.needy != 0) {
    RqQueue& queue = *waits_[waits_.oldest(waits_.needy)].queue;
    if (lines_.free_count() >= queue.lines_per_slot()) return fetch_for(queue, false);
    RqQueue* const loser = victim();
    return {loser == nullptr ? FetchChoice::kNothing : FetchChoice::kEvict, false, 0, loser};
  }
  RqQueue& queue = fetch_fifo_.front();
  if (!eligible(queue)) return {FetchChoice::kDrop, true, 0, &queue};
  return fetch_for(queue, true);
}

ReceiveQueueModel::FetchChoice ReceiveQueueModel::fetch_for(RqQueue& queue, bool from_fifo) const {
  const unsigned fit = lines_.free_count() >> queue.lines_per_slot_log2();
  if (free_tags_ == 0 || fit == 0) return {};
  const std::uint64_t address = queue.base + (std::uint64_t{queue.fetch} << queue.stride_log2);
  const unsigned to_boundary = kDmaBoundary - static_cast<unsigned>(address % kDmaBoundary);
  unsigned slots = std::min(queue.distance(queue.fetch, queue.head), fit);
  slots = std::min(slots, parameters_.prefetch - held(queue));
  slots = std::min(slots, unsigned{queue.size} - queue.fetch);
  slots = std::min(slots, std::min(to_boundary, parameters_.fetch_bytes) >> queue.stride_log2);
  return {FetchChoice::kFetch, from_fifo, static_cast<std::uint16_t>(slots), &queue};
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
