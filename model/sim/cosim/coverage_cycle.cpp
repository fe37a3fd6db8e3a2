// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Cover points of what meets in one cycle.
#include <algorithm>
#include <bit>

#include "sim/cosim/coverage_collector.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

void CoverageCollector::cycle(hca::Cycle, const Inputs& in, const Outputs& now,
                              const hca::ReceiveQueueUnit& unit, const Scoreboard&) {
  if (now_.doorbell == kNobody) storm_length_ = equal_length_ = bad_length_ = 0;
  held(in, now);
  answers(in, now);
  event_stalls(unit.outputs());
  resources(now);
  meetings();
  idle(in, now);
  rates(in, now);
  from_counters(unit.counters());
  end_of_cycle();
}

void CoverageCollector::held(const Inputs& in, const Outputs& now) {
  const unsigned outputs = (now.cmd_rsp_valid && !in.cmd_rsp_ready ? 1U : 0U) +
                           (now.dma_req_valid && !in.dma_req_ready ? 2U : 0U) +
                           (now.take_rsp_valid && !in.take_rsp_ready ? 4U : 0U) +
                           (now.event_valid && !in.event_ready ? 8U : 0U);
  hit(CoverGroup::kHeld, outputs);
  const unsigned inputs = (in.cmd_valid && !now.cmd_ready ? 1U : 0U) +
                          (in.doorbell_valid && !now.doorbell_ready ? 2U : 0U) +
                          (in.take_valid && !now.take_ready ? 4U : 0U);
  hit(CoverGroup::kInputHeld, inputs);
}

// An answer that is judged in this cycle has reset held_up_ already, so the one of the cycle's
// start is that of the answer on the port.
void CoverageCollector::answers(const Inputs& in, const Outputs& now) {
  if (!now.take_rsp_valid) return;
  const bool last = now.take_rsp.last && in.take_rsp_ready;
  if (!in.take_rsp_ready) held_up_ = true;
  if (last && start_wqe_queue_ != kNobody) {
    const unsigned stride = std::max(kMinStride, scoreboard_->queue(start_wqe_queue_).stride);
    hit(CoverGroup::kStride, std::min(4U, static_cast<unsigned>(std::bit_width(stride)) - 6),
        start_held_up_ ? 1 : 0);
  }
}

// A take that would fire its limit, in a cycle in which one could have been judged and none was.
bool CoverageCollector::limit_candidate(const Outputs& next) const {
  if (next.take_rsp_valid) return false;
  for (const Scoreboard::Wait& w : scoreboard_->waits()) {
    if (w.verdict || w.take.kind != TakeKind::kTake || w.take.queue >= parameters_.queues) continue;
    const Queue& q = scoreboard_->queue(w.take.queue);
    if (q.state != QueueState::kReady || q.head == q.tail || !q.arrived[q.tail]) continue;
    if (Scoreboard::distance(q, q.tail, q.head) - 1 < q.limit) return true;
  }
  return false;
}

void CoverageCollector::event_stalls(const Outputs& next) {
  const auto& buffered = scoreboard_->buffered_doorbells();
  const bool doorbell = !buffered.empty() && scoreboard_->bad(buffered.front());
  const bool blocked = start_events_full_ || start_failed_tag_ || now_.bad_doorbell;
  if (!blocked) return;
  const bool limit = limit_candidate(next);
  if (start_events_full_) {
    if (start_failed_tag_) hit(CoverGroup::kEventStall, 0);
    if (doorbell) hit(CoverGroup::kEventStall, 1);
    if (limit) hit(CoverGroup::kEventStall, 2);
  } else if (start_failed_tag_) {
    if (doorbell) hit(CoverGroup::kEventStall, 3);
    if (limit) hit(CoverGroup::kEventStall, 4);
  } else if (limit) {
    hit(CoverGroup::kEventStall, 5);
  }
}

void CoverageCollector::resources(const Outputs& now) {
  const auto& requests = scoreboard_->requests();
  if (std::all_of(requests.begin(), requests.end(), [](const Request& r) { return r.used; })) {
    hit(CoverGroup::kFull, 0);
  }
  if (!now.take_ready) hit(CoverGroup::kFull, 1);
  if (start_events_full_) hit(CoverGroup::kFull, 2);
  if (!now.doorbell_ready) hit(CoverGroup::kFull, 4);
  if (!now.cmd_ready) hit(CoverGroup::kFull, 5);
}

void CoverageCollector::meetings() {
  const auto meet = [this](std::uint32_t left, std::uint32_t right, unsigned label) {
    if (left != kNobody && left == right) hit(CoverGroup::kSameCycle, label);
  };
  const Happenings& h = now_;
  const std::uint32_t leave = h.leaves ? h.command : kNobody;
  const auto op = [&h](CommandOp wanted) { return h.op == wanted ? h.command : kNobody; };
  meet(h.take, h.doorbell, 0);
  meet(h.take, op(CommandOp::kInit), 1);
  meet(h.take, leave, 2);
  meet(h.take, op(CommandOp::kResume), 3);
  meet(h.doorbell, h.command, 4);
  meet(h.last_beat, h.doorbell, 5);
  meet(h.last_beat, leave, 6);
  meet(h.judged, h.doorbell, 7);
  meet(h.judged, leave, 8);
  meet(h.judged, h.fetch, 9);
  meet(h.fetch, h.doorbell, 10);
  meet(h.fetch, leave, 11);
}

void CoverageCollector::idle(const Inputs& in, const Outputs& now) {
  if (!now.idle) return;
  const auto& requests = scoreboard_->requests();
  if (std::any_of(requests.begin(), requests.end(), [](const Request& r) { return r.used; })) {
    hit(CoverGroup::kIdle, 0);
  }
  for (const Scoreboard::Wait& w : scoreboard_->waits()) {
    const bool known = w.take.queue < parameters_.queues;
    if (known && scoreboard_->queue(w.take.queue).state == QueueState::kPaused) {
      hit(CoverGroup::kIdle, 1);
    }
  }
  if (in.cmd_valid) hit(CoverGroup::kIdle, 2);
  if (in.doorbell_valid) hit(CoverGroup::kIdle, 3);
  if (in.dma_rsp_valid) hit(CoverGroup::kIdle, 4);
  if (in.take_valid) hit(CoverGroup::kIdle, 5);
}

void CoverageCollector::rates(const Inputs& in, const Outputs& now) {
  const bool moves[] = {now.take_rsp_valid && in.take_rsp_ready,
                        in.doorbell_valid && now.doorbell_ready, in.dma_rsp_valid};
  for (unsigned i = 0; i < 3; ++i) {
    rate_[i] = moves[i] ? rate_[i] + 1 : 0;
    if (rate_[i] >= 16) hit(CoverGroup::kFullRate, i);
  }
  if (now.event_valid && in.event_ready) {
    hit(CoverGroup::kEvent, std::min(2U, static_cast<unsigned>(now.event.kind)));
  }
}

void CoverageCollector::from_counters(const hca::ReceiveQueueCounters& after) {
  if (after.dma_beats_unknown != before_.dma_beats_unknown) hit(CoverGroup::kBeatOrder, 2);
  if (after.fifo_drops != before_.fifo_drops) hit(CoverGroup::kFetchStage, 1);
  const bool evicted = after.evictions != before_.evictions;
  if (evicted) {
    const std::uint64_t wqes = after.wqes_evicted - before_.wqes_evicted;
    hit(CoverGroup::kEvict, wqes <= 1 ? 0 : wqes <= 3 ? 1 : 2);
    if (evicted_before_) hit(CoverGroup::kFetchStage, 0);
  }
  evicted_before_ = evicted;
  before_ = after;
}

void CoverageCollector::end_of_cycle() {
  now_ = {};
  const auto& requests = scoreboard_->requests();
  start_wqe_queue_ = scoreboard_->answering() && scoreboard_->answering_wqe()
                         ? scoreboard_->answering()->take.queue
                         : kNobody;
  start_held_up_ = held_up_;
  start_failed_tag_ = std::any_of(requests.begin(), requests.end(),
                                  [](const Request& r) { return r.used && r.ended; });
  start_events_full_ = scoreboard_->events_held() >= parameters_.events;
}

}  // namespace hcasim::sim::cosim
