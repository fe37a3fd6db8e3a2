// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The way of a WQE from host memory into the buffer: requests, their beats, eviction.
#include <algorithm>
#include <bit>
#include <cstring>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

void ReceiveQueueModel::fetch_stage(const FetchChoice& choice) {
  RqQueue& queue = *choice.queue;
  if (choice.from_fifo) fetch_fifo_.pop();
  if (choice.kind == FetchChoice::kFetch) {
    start_request(queue, choice.slots);
    if (waits_.needy != 0) refresh(queue);  // it is not needy any more
  } else if (choice.kind == FetchChoice::kEvict) {
    evict(queue);
  } else {
    ++counters_.fifo_drops;
  }
  enter_fifo(queue);
}

void ReceiveQueueModel::start_request(RqQueue& queue, unsigned slots) {
  const auto tag = static_cast<unsigned>(std::countr_zero(free_tags_));
  free_tags_ &= free_tags_ - 1;
  ++queue.requests;
  const unsigned bytes = slots << queue.stride_log2;
  Request& request = requests_[tag];
  request.queue = &queue;
  request.first_slot = queue.fetch;
  request.slots = static_cast<std::uint16_t>(slots);
  request.expected = static_cast<std::uint16_t>((bytes + kBeatBytes - 1) / kBeatBytes);
  request.received = 0;
  request.lines_in_flight = static_cast<std::uint16_t>(slots * queue.lines_per_slot());
  request.line = request.slot = lines_.allocate(queue, slots, queue.lines_per_slot());

  out_.dma_req_valid = true;
  out_.dma_req.tag = static_cast<std::uint8_t>(tag);
  out_.dma_req.address = queue.base + (std::uint64_t{queue.fetch} << queue.stride_log2);
  out_.dma_req.bytes = bytes;
  queue.fetch = queue.advance(queue.fetch, slots);
  ++counters_.dma_requests;
  counters_.wqes_fetched += slots;
}

void ReceiveQueueModel::evict(RqQueue& queue) {
  ++counters_.evictions;
  counters_.wqes_evicted += queue.distance(queue.tail, queue.fetch);
  drop_buffered(queue);
}

// Frees the lines of the buffered WQEs. Those in flight leave the queue too, and belong to their
// request alone until its last beat.
void ReceiveQueueModel::drop_buffered(RqQueue& queue) {
  const unsigned per_slot = queue.lines_per_slot();
  std::uint16_t slot = queue.first_line;
  for (unsigned left = queue.distance(queue.tail, queue.fetch); left != 0; --left) {
    const std::uint16_t next = lines_.skip(slot, per_slot);
    lines_.forget(slot);
    if (lines_.complete(slot)) lines_.release(slot, per_slot);
    slot = next;
  }
  queue.first_line = queue.last_line = kNoLine;
  queue.fetch = queue.tail;
}

void ReceiveQueueModel::accept_beat(const DmaBeat& beat, bool is_known) {
  if (!is_known) {
    ++counters_.dma_beats_unknown;
    return;
  }
  ++counters_.dma_beats;
  Request& request = requests_[beat.tag];
  const bool ready = request.queue->state == QueueState::kReady;
  const bool failed = ready && fails(request, beat);
  if (failed) {
    ++counters_.dma_requests_failed;
    leave(*request.queue, QueueState::kError, &request);
  } else if (ready && request.received < request.expected) {
    store_beat(request, beat.data);
  }
  if (request.received < request.expected) ++request.received;
  if (beat.last || beat.error) end_request(beat.tag, failed);
}

void ReceiveQueueModel::store_beat(Request& request, const Beat& data) {
  if (request.queue->stride() >= kBeatBytes) {
    lines_.data(request.line) = data;
    count_line(request);
    return;
  }
  store_half(request, data.data());
  if (request.lines_in_flight != 0) store_half(request, data.data() + kMinStride);
}

void ReceiveQueueModel::store_half(Request& request, const std::uint8_t* data) {
  std::uint8_t* const line = lines_.data(request.line).data();
  std::memcpy(line, data, kMinStride);
  std::memset(line + kMinStride, 0, kBeatBytes - kMinStride);
  count_line(request);
}

void ReceiveQueueModel::count_line(Request& request) {
  request.line = lines_.next(request.line);
  if (!lines_.fill(request.slot)) return;
  if (request.slot == request.queue->first_line) refresh(*request.queue);
  request.lines_in_flight =
      static_cast<std::uint16_t>(request.lines_in_flight - request.queue->lines_per_slot());
  request.slot = request.line;
}

void ReceiveQueueModel::end_request(unsigned tag, bool failed) {
  Request& request = requests_[tag];
  if (request.lines_in_flight != 0) lines_.release(request.slot, request.lines_in_flight);
  request.lines_in_flight = 0;
  if (failed) {
    failed_tags_ |= std::uint64_t{1} << tag;
    control_ = true;
    return;
  }
  free_tags_ |= std::uint64_t{1} << tag;
  --request.queue->requests;
}

void ReceiveQueueModel::enter_failed_event(unsigned tag) {
  Request& request = requests_[tag];
  raise(request.queue->id, EventKind::kFetchError, request.first_slot);
  failed_tags_ &= ~(std::uint64_t{1} << tag);
  free_tags_ |= std::uint64_t{1} << tag;
  --request.queue->requests;
}

}  // namespace hcasim::hca
