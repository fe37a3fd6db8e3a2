// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The cycle of the scoreboard, and what it checks of takes and answers.
#include "sim/cosim/scoreboard.hpp"

#include <algorithm>

#include "sim/cosim/scoreboard_observer.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

Scoreboard::Scoreboard(const hca::ReceiveQueueUnit& unit, ScoreboardObserver* observer)
    : unit_(unit),
      observer_(observer),
      p_(unit.parameters()),
      before_(unit.counters()),
      queues_(p_.queues),
      requests_(p_.tags) {
  if (observer_ != nullptr) observer_->begin(*this, p_);
}

void Scoreboard::check_bound(std::uint64_t dma_cycles) {
  dma_cycles_ = dma_cycles;
}

void Scoreboard::fault(const char* text) {
  if (faults_.size() < 10) faults_.push_back("cycle " + std::to_string(cycle_) + ": " + text);
}

void Scoreboard::fault(const char* text, std::uint64_t number) {
  if (faults_.size() < 10) fault((text + (' ' + std::to_string(number))).c_str());
}

void Scoreboard::cycle(hca::Cycle n, const Inputs& in, const Outputs& now, const Outputs& next) {
  cycle_ = n;
  const hca::ReceiveQueueCounters& after = unit_.counters();
  if (in.doorbell_valid && now.doorbell_ready) doorbells_.push_back(in.doorbell);
  if (in.cmd_valid && now.cmd_ready) commands_.push_back(in.cmd);
  const bool beat_known = in.dma_rsp_valid && in.dma_rsp.tag < p_.tags &&
                          requests_[in.dma_rsp.tag].used && !requests_[in.dma_rsp.tag].ended;
  check_command_answer(now, next);
  handshakes(in, now);
  take_rsp(in, now, next);
  if (next.dma_req_valid && (!now.dma_req_valid || in.dma_req_ready)) requested(next.dma_req);
  failed_events(after.fetch_error_events - before_.fetch_error_events);
  if (beat_known) beat(in.dma_rsp);
  accepted(after);
  if (in.take_valid && now.take_ready) take(in.take);
  events_entered_ += (after.bad_doorbells - before_.bad_doorbells) +
                     (after.fetch_error_events - before_.fetch_error_events);
  limits_entered_ += after.limit_events - before_.limit_events;
  before_ = after;
  check_ports(in, now, next);
  if (n % 64 == 0) check_lines();
}

void Scoreboard::handshakes(const Inputs& in, const Outputs& now) {
  if (now.cmd_rsp_valid && in.cmd_rsp_ready) command_.reset();
  if (now.event_valid && in.event_ready) {
    ++events_gone_;
    event(now.event);
  }
  if (now.dma_req_valid && in.dma_req_ready && now.dma_req.tag < p_.tags) {
    requests_[now.dma_req.tag].issued = true;
    requests_[now.dma_req.tag].issue_cycle = cycle_;
  }
}

// What the doorbell and the command stage took in this cycle, as the counters tell.
void Scoreboard::accepted(const hca::ReceiveQueueCounters& after) {
  if (by_handshake_) {
    for (; !doorbells_.empty(); doorbells_.pop_front()) doorbell(doorbells_.front());
    for (; !commands_.empty(); commands_.pop_front()) command(commands_.front());
    return;
  }
  const auto one = [this](std::uint64_t before, std::uint64_t now, bool any, const char* text) {
    return now != before && expect(any && now == before + 1, text);
  };
  if (one(before_.doorbells, after.doorbells, !doorbells_.empty(), "doorbells counted")) {
    doorbell(doorbells_.front());
    doorbells_.pop_front();
  }
  if (one(before_.commands, after.commands, !commands_.empty(), "commands counted")) {
    command(commands_.front());
    commands_.pop_front();
  }
}

// What is offered stays; ready of take follows the takes outstanding; an idle unit stays as it is.
void Scoreboard::check_ports(const Inputs& in, const Outputs& now, const Outputs& next) {
  const auto holds = [](bool valid, bool ready, bool still, bool same) {
    return !valid || ready || (still && same);
  };
  expect(
      holds(now.cmd_rsp_valid, in.cmd_rsp_ready, next.cmd_rsp_valid, now.cmd_rsp == next.cmd_rsp) &&
          holds(now.dma_req_valid, in.dma_req_ready, next.dma_req_valid,
                now.dma_req == next.dma_req) &&
          holds(now.take_rsp_valid, in.take_rsp_ready, next.take_rsp_valid,
                now.take_rsp == next.take_rsp) &&
          holds(now.event_valid, in.event_ready, next.event_valid, now.event == next.event),
      "an output that was not accepted did not stay");
  const std::size_t outstanding = waits_.size() + (answering_ ? 1U : 0U);
  expect(outstanding <= p_.takes, "rule 3: too many takes outstanding");
  expect(next.take_ready == (outstanding < p_.takes), "ready of take");
  if (now.idle && !in.cmd_valid && !in.doorbell_valid && !in.take_valid && !in.dma_rsp_valid) {
    expect(same_ports(now, next), "an idle unit changed");
  }
  if (next.idle) {
    for (const Wait& w : waits_) {
      expect(!w.verdict && queues_[w.take.queue].state != QueueState::kError,
             "idle with a take that has an answer");
    }
  }
}

void Scoreboard::take_rsp(const Inputs& in, const Outputs& now, const Outputs& next) {
  const bool accepted = now.take_rsp_valid && in.take_rsp_ready;
  if (accepted) answer_beat(now.take_rsp);
  const bool fresh =
      next.take_rsp_valid && (!now.take_rsp_valid || (accepted && now.take_rsp.last));
  if (fresh) judged(next.take_rsp);
}

void Scoreboard::answer_beat(const TakeBeat& beat) {
  if (expect(answering_.has_value() && answer_beats_ < answer_data_.size(), "beat too many")) {
    expect(!judge_data_ || beat.wqe == answer_data_[answer_beats_], "rule 1: wrong data for take",
           beat.tag);
    expect(beat.tag == answering_->take.tag, "rule 12: beats not contiguous");
    ++answer_beats_;
    expect(beat.last == (answer_beats_ == answer_data_.size()), "last beat");
  }
  if (!beat.last || !answering_) return;
  check_wait();
  answering_.reset();
  answering_wqe_ = false;
}

void Scoreboard::check_wait() {
  const std::uint64_t waited = cycle_ - answering_->accepted;
  longest_wait_ = std::max(longest_wait_, waited);
  if (!dma_cycles_) return;
  const std::uint64_t beats = std::uint64_t{p_.takes} * 8;
  const std::uint64_t bound = p_.takes * (2 * *dma_cycles_ + 8 * (beats + 1) + beats + 8) +
                              2 * (events_entered_ - answering_->events_before);
  expect(waited <= bound, "rule 8: a take waited too long");
}

void Scoreboard::judged(const TakeBeat& beat) {
  const auto found = std::find_if(waits_.begin(), waits_.end(),
                                  [&beat](const Wait& w) { return w.take.tag == beat.tag; });
  if (!expect(found != waits_.end(), "rule 8: an answer without a take")) return;
  const Wait wait = *found;
  const bool peek = wait.take.kind == TakeKind::kPeek;
  for (auto other = waits_.begin(); other != found && !peek; ++other) {
    expect(other->take.queue != wait.take.queue || other->take.kind == TakeKind::kPeek,
           "rule 3: takes of a queue out of order");
  }
  waits_.erase(found);
  answering_ = wait;
  answer_beats_ = 0;
  answer_data_.assign(1, Beat{});
  Queue* const queue = known(wait.take.queue) ? &queues_[wait.take.queue] : nullptr;
  const unsigned limit = queue != nullptr ? queue->limit : 0;
  answered(beat);
  if (observer_ != nullptr) observer_->judged(wait, beat, queue, limit);
}

void Scoreboard::answered(const TakeBeat& beat) {
  const Wait& wait = *answering_;
  TakeStatus expected = TakeStatus::kOk;
  if (wait.verdict) {
    expected = *wait.verdict;
  } else if (queues_[wait.take.queue].head == queues_[wait.take.queue].tail) {
    expected = TakeStatus::kEmpty;
  }
  if (!expect(beat.status == expected, "status of take", beat.tag)) return;
  if (expected != TakeStatus::kOk) {
    expect(beat.slot == 0 && beat.remaining == 0, "slot or remaining not 0");
    return;
  }
  judged_ok(wait, beat);
}

void Scoreboard::judged_ok(const Wait& wait, const TakeBeat& beat) {
  Queue& q = queues_[wait.take.queue];
  expect(beat.slot == q.tail, "rule 1: wrong slot");
  if (wait.take.kind == TakeKind::kPeek) {
    expect(beat.remaining == distance(q, q.tail, q.head), "rule 3: remaining of a peek");
    return;
  }
  expect(q.state == QueueState::kReady, "OK from a queue that is not READY");
  expect(q.arrived[q.tail], "rule 2: slot delivered before it came");
  const unsigned beats = std::max(1U, q.stride / kBeatBytes);
  answer_data_.clear();
  for (unsigned i = 0; i < beats; ++i) {
    answer_data_.push_back(wqe_beat(wait.take.queue, q.tail, i));
  }
  q.arrived[q.tail] = false;
  q.tail = (q.tail + 1) % q.size;
  answering_wqe_ = true;
  const unsigned remaining = distance(q, q.tail, q.head);
  expect(beat.remaining == remaining, "rule 4: remaining");
  if (q.limit != 0 && remaining < q.limit) {
    expected_events_.push_back({wait.take.queue, EventKind::kSrqLimit, q.arm});
    q.limit = 0;
  }
}

void Scoreboard::take(const Take& take) {
  Wait wait{take, std::nullopt, FlushCause::kState, false, cycle_, events_entered_};
  if (observer_ != nullptr) {
    observer_->take(take, known(take.queue) ? &queues_[take.queue] : nullptr);
  }
  if (!known(take.queue) || queues_[take.queue].state == QueueState::kInvalid) {
    wait.verdict = TakeStatus::kBadQueue;
  } else if (queues_[take.queue].state == QueueState::kError) {
    wait.verdict = TakeStatus::kFlushed;
  }
  waits_.push_back(wait);
}

void Scoreboard::event(const Event& event) {
  const auto found = std::find(expected_events_.begin(), expected_events_.end(), event);
  if (expect(found != expected_events_.end(), "an event that nothing caused")) {
    expected_events_.erase(found);
  }
}

void Scoreboard::finish() {
  check_lines();
  expect(expected_events_.empty(), "an event is missing");
  expect(!answering_ && !command_ && commands_.empty() && doorbells_.empty(), "not at rest");
  for (const Request& r : requests_) expect(!r.used, "rule 8: a request was left");
  for (const Wait& w : waits_) {
    expect(!w.verdict && queues_[w.take.queue].state == QueueState::kPaused,
           "rule 8: never answered: take", w.take.tag);
  }
}

}  // namespace hcasim::sim::cosim
