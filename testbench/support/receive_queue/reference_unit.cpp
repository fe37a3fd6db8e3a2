// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The cycle of the reference: select from the start state, then act in the order of the README.
#include "support/receive_queue/reference_unit.hpp"

#include <algorithm>

namespace hcasim::testbench {

using namespace hw::rq;

ReferenceUnit::ReferenceUnit(const Parameters& parameters)
    : p_(parameters),
      queues_(parameters.queues),
      lines_(parameters.lines),
      tags_(parameters.tags) {}

const Outputs& ReferenceUnit::step(hca::Cycle cycle, const Inputs& in) {
  cycle_ = cycle;
  // The buffers pass through: the handshaken item stands behind what is held.
  if (in.cmd_valid && out_.cmd_ready) {
    const auto before = doorbells_.size() + (in.doorbell_valid && out_.doorbell_ready ? 1U : 0U);
    commands_.push_back({in.cmd, static_cast<unsigned>(before)});
  }
  if (in.doorbell_valid && out_.doorbell_ready) doorbells_.push_back(in.doorbell);

  // Selection.
  const bool take_rsp_free =
      !out_.take_rsp_valid || (in.take_rsp_ready && answering_.beats.empty());
  std::optional<std::size_t> judged;
  for (std::size_t i = 0; i < waits_.size() && take_rsp_free && !judged; ++i) {
    if (answerable(i)) judged = i;
  }
  FetchPlan plan;
  if (!out_.dma_req_valid || in.dma_req_ready) plan = plan_fetch();
  const bool slot = events_.size() < p_.events;
  const auto failed =
      std::find_if(tags_.begin(), tags_.end(), [](const Tag& tag) { return tag.failed; });
  const bool tag_event = slot && failed != tags_.end();
  const bool room = slot && !tag_event;
  if (judged && fires(waits_[*judged])) {
    bool stalls = !room;
    if (room && !doorbells_.empty()) {
      const Doorbell& d = doorbells_.front();
      const bool dies =
          in.dma_rsp_valid && beat_fails(in.dma_rsp) && tags_[in.dma_rsp.tag].queue == d.queue;
      if (!unknown(d.queue) && !dies) {
        const bool same = waits_[*judged].take.queue == d.queue;
        const Queue& q = queues_[d.queue];
        stalls = doorbell_bad(d, same ? (q.tail + 1) % q.size : q.tail);
      } else if (unknown(d.queue)) {
        stalls = true;
      }
    }
    if (stalls) judged.reset();
  }
  const bool beat_known = in.dma_rsp_valid && known(in.dma_rsp.tag);
  const bool command_free = !command_;
  const bool answer = command_ && !out_.cmd_rsp_valid && quiet();
  if (answer) {
    out_.cmd_rsp.status = command_->status;
    out_.cmd_rsp.snapshot = snapshot(command_->command.queue);
  }

  // Handshakes of outputs that hold nothing else back.
  if (out_.cmd_rsp_valid && in.cmd_rsp_ready) {
    out_.cmd_rsp_valid = false;
    command_.reset();
  }
  if (answer) out_.cmd_rsp_valid = true;
  if (out_.dma_req_valid && in.dma_req_ready) out_.dma_req_valid = false;
  if (out_.event_valid && in.event_ready) events_.pop_front();

  if (out_.take_rsp_valid && in.take_rsp_ready) accept_take_beat();
  if (judged) judge(*judged);
  do_fetch(plan);
  if (tag_event) {
    events_.push_back({failed->queue, EventKind::kFetchError, failed->first});
    ++counters_.fetch_error_events;
    *failed = Tag{};
  }
  if (in.dma_rsp_valid) dma(in.dma_rsp, beat_known);
  if (!doorbells_.empty() && doorbell(doorbells_.front(), room)) {
    doorbells_.pop_front();
    ++counters_.doorbells;
    for (PendingCommand& c : commands_) c.doorbells_before -= c.doorbells_before != 0 ? 1U : 0U;
  }
  if (command_free && !commands_.empty() && commands_.front().doorbells_before == 0) {
    const Command accepted = commands_.front().command;
    commands_.pop_front();
    command(accepted);
  }
  if (in.take_valid && out_.take_ready) take(in.take);
  finish_cycle();
  return out_;
}

void ReferenceUnit::finish_cycle() {
  out_.cmd_ready = commands_.size() < 2;
  out_.doorbell_ready = doorbells_.size() < 2;
  out_.take_ready = waits_.size() + (out_.take_rsp_valid ? 1U : 0U) < p_.takes;
  out_.event_valid = !events_.empty();
  if (out_.event_valid) out_.event = events_.front();
  bool active = !doorbells_.empty() || !commands_.empty() || command_ || out_.dma_req_valid ||
                out_.take_rsp_valid || out_.event_valid || !fifo_.empty();
  for (const Tag& tag : tags_) active = active || tag.failed;
  for (std::size_t i = 0; i < waits_.size(); ++i) active = active || answerable(i);
  out_.idle = !active;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    Wait& w = waits_[i];
    if (w.verdict || w.take.kind == TakeKind::kPeek || w.waited || answerable(i)) continue;
    if (queues_[w.take.queue].state != QueueState::kReady) continue;
    const bool first = std::none_of(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&w](const Wait& other) {
                                      return !other.verdict && other.take.kind == TakeKind::kTake &&
                                             other.take.queue == w.take.queue;
                                    });
    if (!first) continue;
    w.waited = true;
    ++counters_.takes_waited;
  }
}

void ReferenceUnit::accept_take_beat() {
  if (!answering_.beats.empty()) {
    out_.take_rsp.wqe = lines_[answering_.beats.front()].data;
    answering_.beats.pop_front();
    out_.take_rsp.last = answering_.beats.empty();
    return;
  }
  out_.take_rsp_valid = false;
  const bool wqe = answering_.wqe;
  answering_.wqe = false;
  if (!wqe) return;
  for (Line& line : lines_) {
    if (line.answering) line = Line{};
  }
  enter(answering_.queue);
}

void ReferenceUnit::judge(std::size_t index) {
  const Wait wait = waits_[index];
  const bool peek = wait.take.kind == TakeKind::kPeek;
  TakeBeat beat;
  beat.tag = wait.take.tag;
  beat.last = true;
  answering_ = {wait.take.queue, false, wait.counted, {}};
  if (wait.verdict) {
    beat.status = *wait.verdict;
  } else if (Queue& q = queues_[wait.take.queue]; q.head == q.tail) {
    beat.status = TakeStatus::kEmpty;
  } else if (peek) {
    beat.slot = static_cast<std::uint16_t>(q.tail);
    beat.remaining = static_cast<std::uint16_t>(distance(q, q.tail, q.head));
  } else {
    beat.slot = static_cast<std::uint16_t>(q.tail);
    const auto lines = lines_of(wait.take.queue, q.tail);
    for (const unsigned line : lines) lines_[line].answering = true;
    answering_.wqe = true;
    if (!wait.waited) ++counters_.takes_ok_at_once;
    answering_.beats.assign(lines.begin() + 1, lines.end());
    beat.wqe = lines_[lines.front()].data;
    beat.last = lines.size() == 1;
    const bool event = fires(wait);
    q.tail = (q.tail + 1) % q.size;
    beat.remaining = static_cast<std::uint16_t>(distance(q, q.tail, q.head));
    if (event) {
      events_.push_back({wait.take.queue, EventKind::kSrqLimit, q.arm});
      ++counters_.limit_events;
      q.limit = 0;
    }
  }
  std::uint64_t* const by_status[2][5] = {
      {&counters_.takes_ok, &counters_.takes_empty, &counters_.takes_flushed,
       &counters_.takes_bad_queue, &counters_.takes_fetch_error},
      {&counters_.peeks_ok, &counters_.peeks_empty, &counters_.peeks_flushed,
       &counters_.peeks_bad_queue, nullptr}};
  ++*by_status[peek ? 1 : 0][static_cast<std::size_t>(beat.status)];
  out_.take_rsp = beat;
  out_.take_rsp_valid = true;
  waits_.erase(waits_.begin() + static_cast<std::ptrdiff_t>(index));
}

void ReferenceUnit::take(const Take& take) {
  Wait wait{take, std::nullopt, false, false};
  if (unknown(take.queue) || queues_[take.queue].state == QueueState::kInvalid) {
    wait.verdict = TakeStatus::kBadQueue;
  } else if (queues_[take.queue].state == QueueState::kError) {
    wait.verdict = TakeStatus::kFlushed;
  }
  waits_.push_back(wait);
}

bool ReferenceUnit::doorbell_bad(const Doorbell& d) const {
  return unknown(d.queue) || doorbell_bad(d, queues_[d.queue].tail);
}

bool ReferenceUnit::doorbell_bad(const Doorbell& d, unsigned tail) const {
  const Queue& q = queues_[d.queue];
  if (q.state == QueueState::kError) return false;
  if (q.state != QueueState::kReady || d.head >= q.size) return true;
  if (d.head == q.head) return false;
  for (unsigned i = tail; i != q.head; i = (i + 1) % q.size) {
    if (i == d.head) return true;
  }
  return false;
}

bool ReferenceUnit::doorbell(const Doorbell& d, bool room) {
  if (doorbell_bad(d)) {
    if (!room) return false;
    const bool moves = !unknown(d.queue) && queues_[d.queue].state != QueueState::kInvalid;
    if (moves) leave(d.queue, QueueState::kError, std::nullopt);
    events_.push_back({d.queue, EventKind::kBadDoorbell, d.head});
    ++counters_.bad_doorbells;
  } else if (queues_[d.queue].state == QueueState::kReady) {
    queues_[d.queue].head = d.head;
    enter(d.queue);
  }
  return true;
}

}  // namespace hcasim::testbench
