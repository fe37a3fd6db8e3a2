// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Cover points of requests and their answers.
#include <algorithm>
#include <bit>

#include "sim/cosim/coverage_collector.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

void CoverageCollector::requested(const DmaRequest& request, std::uint32_t id, const Queue& queue) {
  const auto first = static_cast<unsigned>((request.address - queue.base) / queue.stride);
  const unsigned slots = request.bytes / queue.stride;
  now_.fetch = id;
  hit(CoverGroup::kFetchSlots, std::min(8U, slots) - 1);
  fetch_limit(request, queue, first, slots);
  const unsigned to_end = queue.size - first;
  if (to_end <= 8) hit(CoverGroup::kRingEnd, to_end - 1, slots == to_end ? 0 : 1);
  if (slots == to_end) hit(CoverGroup::kWrap, 1);
  if (queue.stride == kMinStride) {
    hit(CoverGroup::kHalfBeats, static_cast<unsigned>(request.address / kMinStride & 1U),
        slots & 1U);
  }
  const bool needy = oldest_take(id) != nullptr && first == queue.tail;
  if (needy) hit(CoverGroup::kFetchStage, 2);
}

// The lengths that the README takes the least of, with what held at the start of the cycle.
void CoverageCollector::fetch_limit(const DmaRequest& request, const Queue& queue, unsigned first,
                                    unsigned slots) {
  const bool moved = now_.judged_wqe && now_.judged == now_.fetch;
  const unsigned tail = moved ? (queue.tail + queue.size - 1) % queue.size : queue.tail;
  const unsigned on_port = start_wqe_queue_ == now_.fetch ? 1 : 0;
  const unsigned buffered = Scoreboard::distance(queue, tail, first) + on_port;
  const auto page = static_cast<unsigned>(kDmaBoundary - request.address % kDmaBoundary);
  const unsigned most[] = {Scoreboard::distance(queue, first, queue.head),
                           parameters_.prefetch - std::min(parameters_.prefetch, buffered),
                           queue.size - first, page / queue.stride,
                           parameters_.fetch_bytes / queue.stride};
  const auto least = *std::min_element(std::begin(most), std::end(most));
  if (buffered + slots >= parameters_.prefetch) hit(CoverGroup::kFull, 3);
  constexpr unsigned kLines = 4;
  if (slots < least) return hit(CoverGroup::kFetchLimit, kLines);
  if (std::count(std::begin(most), std::end(most), least) != 1) return;
  const auto which =
      static_cast<unsigned>(std::find(std::begin(most), std::end(most), least) - std::begin(most));
  hit(CoverGroup::kFetchLimit, which == 4 ? 5 : which);
}

void CoverageCollector::beat(const DmaBeat& beat, const Request& request, bool live, bool failed) {
  const Queue& queue = scoreboard_->queue(request.queue);
  constexpr unsigned kNewLife = 4;
  const unsigned state =
      live || queue.state != QueueState::kReady ? static_cast<unsigned>(queue.state) : kNewLife;
  const bool early = beat.last && request.received + 1 < request.expected;
  const bool extra = request.received >= request.expected;
  const unsigned kind = beat.error ? (beat.last ? 2 : 1) : early ? 3 : extra ? 4 : 0;
  hit(CoverGroup::kBeat, state, kind);
  if (beat.last || beat.error) now_.last_beat = request.queue;
  if (failed) {
    fetch_error(request, queue);
    const bool only = request.expected == 1;
    const bool last = request.received + 1 >= request.expected;
    hit(CoverGroup::kErrorAt, only ? 3 : request.received == 0 ? 0 : last ? 2 : 1);
  }
  for (const Request& other : scoreboard_->requests()) {
    const bool older =
        other.used && other.issued && !other.ended && other.issue_cycle < request.issue_cycle;
    if (older) hit(CoverGroup::kBeatOrder, 0);
  }
  if (unfinished_tag_ >= 0 && unfinished_tag_ != beat.tag) hit(CoverGroup::kBeatOrder, 1);
  unfinished_tag_ = beat.last || beat.error ? -1 : beat.tag;
}

void CoverageCollector::fetch_error(const Request& request, const Queue& queue) {
  if (oldest_take(request.queue) == nullptr) return hit(CoverGroup::kFetchError, 2);
  const bool inside = queue.tail >= request.first && queue.tail < request.first + request.slots &&
                      !queue.arrived[queue.tail];
  hit(CoverGroup::kFetchError, inside ? 0 : 1);
}

}  // namespace hcasim::sim::cosim
