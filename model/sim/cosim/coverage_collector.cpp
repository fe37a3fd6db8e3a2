// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Cover points of commands, doorbells and takes.
#include "sim/cosim/coverage_collector.hpp"

#include <algorithm>
#include <bit>

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

constexpr unsigned kUnknownState = 4;

template <typename Enum>
constexpr unsigned number(Enum value) {
  return static_cast<unsigned>(value);
}

unsigned state_of(const Scoreboard::Queue* queue) {
  return queue == nullptr ? kUnknownState : number(queue->state);
}

}  // namespace

void CoverageCollector::begin(const Scoreboard& scoreboard, const Parameters& parameters) {
  scoreboard_ = &scoreboard;
  parameters_ = parameters;
  now_ = {};
  before_ = {};
  limit_survived_.assign(parameters.queues, false);
  start_wqe_queue_ = kNobody;
  start_failed_tag_ = start_events_full_ = false;
  held_up_ = start_held_up_ = evicted_before_ = false;
  unfinished_tag_ = -1;
  storm_length_ = equal_length_ = bad_length_ = 0;
  std::fill(std::begin(rate_), std::end(rate_), 0U);
}

const Scoreboard::Wait* CoverageCollector::oldest_take(std::uint32_t queue) const {
  for (const Scoreboard::Wait& w : scoreboard_->waits()) {
    if (w.take.queue == queue && w.take.kind == TakeKind::kTake && !w.verdict) return &w;
  }
  return nullptr;
}

void CoverageCollector::command(const Command& c, CommandStatus status, const Queue* queue) {
  hit(CoverGroup::kCommand, std::min(7U, number(c.op)), state_of(queue), number(status));
  now_.command = c.queue;
  now_.op = c.op;
  if (queue == nullptr) return;
  if (status == CommandStatus::kBadArgument) wrong_argument(c, *queue);
  if (status != CommandStatus::kOk) return;
  switch (c.op) {
    case CommandOp::kInit:
    case CommandOp::kResume:
      return ring(c, *queue);
    case CommandOp::kSetLimit:
      return set_limit(c, *queue);
    case CommandOp::kPause:
    case CommandOp::kToError:
    case CommandOp::kInvalidate:
      return leaving(c, *queue);
    case CommandOp::kQuery:
      return;
  }
}

void CoverageCollector::wrong_argument(const Command& c, const Queue& queue) {
  const bool init = c.op == CommandOp::kInit;
  if (!init && c.op != CommandOp::kResume) return;
  const unsigned stride = init ? c.stride : queue.stride;
  const bool stride_wrong =
      !std::has_single_bit(stride) || stride < kMinStride || stride > kMaxStride;
  const bool size_wrong = c.size == 0;
  const bool base_wrong = !stride_wrong && c.base % std::max(kBeatBytes, stride) != 0;
  const bool head_wrong = !size_wrong && c.head >= c.size;
  const bool tail_wrong = !init && !size_wrong && c.tail >= c.size;
  const bool wrong[] = {size_wrong, stride_wrong, base_wrong, head_wrong, tail_wrong};
  if (std::count(std::begin(wrong), std::end(wrong), true) != 1) return;
  const auto which = static_cast<unsigned>(std::find(std::begin(wrong), std::end(wrong), true) -
                                           std::begin(wrong));
  // The labels: size, stride, base, head of INIT; size, base, head, tail of RESUME.
  hit(CoverGroup::kArgument, init ? which : which == 0 ? 4 : which + 3);
}

void CoverageCollector::leaving(const Command& c, const Queue& queue) {
  const unsigned op = c.op == CommandOp::kPause ? 0 : c.op == CommandOp::kToError ? 1 : 2;
  now_.leaves = true;
  bool takes = scoreboard_->answering() && scoreboard_->answering()->take.queue == c.queue;
  if (takes) hit(CoverGroup::kLeave, op, 2);
  for (const Scoreboard::Wait& w : scoreboard_->waits()) {
    if (w.take.queue != c.queue) continue;
    takes = true;
    if (!w.verdict) hit(CoverGroup::kLeave, op, 3);
  }
  bool requests = false;
  for (const Scoreboard::Request& r : scoreboard_->requests()) {
    if (!r.used || r.queue != c.queue) continue;
    requests = true;
    hit(CoverGroup::kLeave, op, r.issued ? 1 : 0);
  }
  const bool buffered =
      queue.state == QueueState::kReady &&
      std::find(queue.arrived.begin(), queue.arrived.end(), true) != queue.arrived.end();
  if (buffered) hit(CoverGroup::kLeave, op, 4);
  const bool waits_for_takes = takes && c.op != CommandOp::kPause;
  hit(CoverGroup::kQuiet, op, (requests ? 1U : 0U) + (waits_for_takes ? 2U : 0U));
}

void CoverageCollector::ring(const Command& c, const Queue& queue) {
  const bool resume = c.op == CommandOp::kResume;
  hit(CoverGroup::kRing, resume ? 1 : 0, std::min(4U, unsigned{c.size}) - 1);
  if (!resume) {
    limit_survived_[c.queue] = false;
    return;
  }
  limit_survived_[c.queue] = queue.limit != 0;
  const unsigned posted = (c.head + c.size - c.tail) % c.size;
  if (c.size != queue.size) hit(CoverGroup::kResume, 0);
  if (c.tail != queue.tail) hit(CoverGroup::kResume, 1);
  if (posted == 0) hit(CoverGroup::kResume, 2);
  if (posted != 0 && posted + 1 == c.size) hit(CoverGroup::kResume, 3);
  if (oldest_take(c.queue) != nullptr) hit(CoverGroup::kResume, 4);
}

void CoverageCollector::set_limit(const Command& c, const Queue& queue) {
  if (c.limit >= queue.size) hit(CoverGroup::kLimit, 6);
  if (queue.state == QueueState::kPaused) hit(CoverGroup::kLimit, 7);
  if (c.limit != 0 && queue.limit != 0) hit(CoverGroup::kLimit, 9);
  limit_survived_[c.queue] = false;
}

void CoverageCollector::doorbell(const Doorbell& d, DoorbellEffect effect, const Queue* queue) {
  hit(CoverGroup::kDoorbell, number(effect));
  now_.doorbell = d.queue;
  now_.bad_doorbell = effect != DoorbellEffect::kGood && effect != DoorbellEffect::kEqual &&
                      effect != DoorbellEffect::kError;
  storms(effect, d.queue);
  if (effect != DoorbellEffect::kGood) return;
  if (d.head == 0) hit(CoverGroup::kDoorbellHead, 0);
  if (d.head + 1U == queue->size) hit(CoverGroup::kDoorbellHead, 1);
  if (Scoreboard::distance(*queue, queue->tail, d.head) + 1 == queue->size) {
    hit(CoverGroup::kDoorbellHead, 2);
  }
  if (Scoreboard::distance(*queue, queue->head, d.head) == 1) hit(CoverGroup::kDoorbellHead, 3);
  if (d.head < queue->head) hit(CoverGroup::kWrap, 0);
}

// Four in a row are a storm of equal or bad ones, eight one of any.
void CoverageCollector::storms(DoorbellEffect effect, std::uint32_t queue) {
  storm_one_queue_ = storm_length_ == 0 || (storm_one_queue_ && queue == storm_queue_);
  storm_queue_ = queue;
  ++storm_length_;
  equal_length_ = effect == DoorbellEffect::kEqual ? equal_length_ + 1 : 0;
  bad_length_ = now_.bad_doorbell ? bad_length_ + 1 : 0;
  if (storm_length_ >= 8) hit(CoverGroup::kStorm, storm_one_queue_ ? 0 : 1);
  if (equal_length_ >= 4) hit(CoverGroup::kStorm, 2);
  if (bad_length_ >= 4) hit(CoverGroup::kStorm, 3);
}

void CoverageCollector::take(const Take& take, const Queue* queue) {
  hit(CoverGroup::kTake, number(take.kind), state_of(queue));
  now_.take = take.queue;
  if (take.kind != TakeKind::kTake || queue == nullptr) return;
  if (queue->state == QueueState::kPaused) return hit(CoverGroup::kWait, 3);
  if (queue->state != QueueState::kReady) return;
  if (oldest_take(take.queue) != nullptr) return hit(CoverGroup::kWait, 4);
  if (queue->head == queue->tail || queue->arrived[queue->tail]) {
    return hit(CoverGroup::kWait, 0);
  }
  const auto& requests = scoreboard_->requests();
  const bool under_way = std::any_of(requests.begin(), requests.end(), [&](const Request& r) {
    return r.used && r.queue == take.queue && r.epoch == queue->epoch && queue->tail >= r.first &&
           queue->tail < r.first + r.slots;
  });
  hit(CoverGroup::kWait, under_way ? 1 : 2);
}

void CoverageCollector::judged(const Scoreboard::Wait& wait, const TakeBeat& beat,
                               const Queue* queue, unsigned limit) {
  now_.judged = wait.take.queue;
  now_.judged_wqe = false;
  held_up_ = false;
  hit(CoverGroup::kAnswer, number(wait.take.kind), std::min(4U, number(beat.status)));
  if (beat.status == TakeStatus::kFlushed) {
    constexpr unsigned kLabels[] = {0, 0, 1, 2, 3, 4};
    hit(CoverGroup::kFlushed, number(wait.take.kind), kLabels[number(wait.cause)]);
  }
  const auto& waits = scoreboard_->waits();
  if (!waits.empty() && waits.front().accepted < wait.accepted && !waits.front().verdict) {
    const bool same = waits.front().take.queue == wait.take.queue;
    if (!same) hit(CoverGroup::kPass, 1);
    if (same && wait.take.kind == TakeKind::kPeek) hit(CoverGroup::kPass, 0);
  }
  const bool wqe = beat.status == TakeStatus::kOk && wait.take.kind == TakeKind::kTake;
  if (wqe && queue != nullptr) judged_ok(wait, beat, *queue, limit);
}

void CoverageCollector::judged_ok(const Scoreboard::Wait& wait, const TakeBeat& beat,
                                  const Queue& queue, unsigned limit) {
  now_.judged_wqe = true;
  hit(CoverGroup::kRemaining, std::min(2U, unsigned{beat.remaining}));
  if (beat.slot + 1U == queue.size) hit(CoverGroup::kWrap, 2);
  limit_after(wait.take.queue, limit, beat.remaining);
}

void CoverageCollector::limit_after(std::uint32_t id, unsigned limit, unsigned remaining) {
  if (limit == 0) return hit(CoverGroup::kLimit, 5);
  if (remaining == limit) return hit(CoverGroup::kLimit, 3);
  if (remaining > limit) return hit(CoverGroup::kLimit, 4);
  if (remaining == 0 && limit == 1) hit(CoverGroup::kLimit, 0);
  if (remaining + 1 == limit && limit > 1) hit(CoverGroup::kLimit, 1);
  if (remaining + 1 < limit) hit(CoverGroup::kLimit, 2);
  if (limit_survived_[id]) hit(CoverGroup::kLimit, 8);
  limit_survived_[id] = false;
}

}  // namespace hcasim::sim::cosim
