// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The way of a take: accepted into the wait table, judged, answered beat by beat.
#include <bit>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

void ReceiveQueueModel::accept_take_beat() {
  if (answer_.beats_left != 0) {
    answer_.line = lines_.next(answer_.line);
    out_.take_rsp.wqe = lines_.data(answer_.line);
    out_.take_rsp.last = --answer_.beats_left == 0;
    return;
  }
  out_.take_rsp_valid = false;
  --outstanding_takes_;
  if (answer_.counted) --command_.earlier_takes;
  RqQueue* const queue = answer_.wqe_queue;
  if (queue == nullptr) return;
  lines_.release(answer_.first_line, answer_.lines);
  answer_.wqe_queue = nullptr;
  refresh(*queue);
  enter_fifo(*queue);
}

void ReceiveQueueModel::judge(unsigned index) {
  const WaitEntry& entry = waits_[index];
  TakeBeat& beat = out_.take_rsp;
  out_.take_rsp_valid = true;
  beat.tag = entry.tag;
  beat.status = entry.verdict;
  beat.last = true;
  beat.slot = beat.remaining = 0;
  answer_ = Answer{};
  answer_.id = entry.id;
  answer_.counted = entry.counted;
  if (entry.verdict == TakeStatus::kOk) {
    if (entry.kind == TakeKind::kTake) {
      judge_take(entry);
    } else {
      judge_peek(*entry.queue);
    }
  }
  if (answer_.wqe_queue == nullptr) beat.wqe.fill(0);
  count_answer(entry.kind, beat.status);
  waits_.remove(index);
  if (entry.verdict == TakeStatus::kOk && entry.kind == TakeKind::kTake) refresh(*entry.queue);
}

void ReceiveQueueModel::judge_take(const WaitEntry& entry) {
  RqQueue& queue = *entry.queue;
  queue.first_wait = entry.next;
  if (entry.next == kNoEntry) queue.last_wait = kNoEntry;
  TakeBeat& beat = out_.take_rsp;
  if (queue.head == queue.tail) {
    beat.status = TakeStatus::kEmpty;
    return;
  }
  const unsigned lines = queue.lines_per_slot();
  const std::uint16_t line = queue.first_line;
  beat.slot = queue.tail;
  queue.tail = queue.advance(queue.tail, 1);
  beat.remaining = static_cast<std::uint16_t>(queue.posted());
  beat.wqe = lines_.data(line);
  beat.last = lines == 1;
  answer_.wqe_queue = &queue;
  answer_.first_line = answer_.line = line;
  answer_.lines = static_cast<std::uint8_t>(lines);
  answer_.beats_left = static_cast<std::uint8_t>(lines - 1);

  lines_.forget(line);
  const bool more = queue.tail != queue.fetch;
  queue.first_line = more ? lines_.skip(line, lines) : kNoLine;
  if (!more) queue.last_line = kNoLine;

  if (queue.limit != 0 && beat.remaining < queue.limit) {
    raise(queue.id, EventKind::kSrqLimit, queue.arm);
    queue.limit = 0;
  }
}

void ReceiveQueueModel::judge_peek(const RqQueue& queue) {
  TakeBeat& beat = out_.take_rsp;
  if (queue.head == queue.tail) {
    beat.status = TakeStatus::kEmpty;
    return;
  }
  beat.slot = queue.tail;
  beat.remaining = static_cast<std::uint16_t>(queue.posted());
}

void ReceiveQueueModel::count_answer(TakeKind kind, TakeStatus status) {
  const bool peek = kind == TakeKind::kPeek;
  ReceiveQueueCounters& c = counters_;
  switch (status) {
    case TakeStatus::kOk:
      ++(peek ? c.peeks_ok : c.takes_ok);
      break;
    case TakeStatus::kEmpty:
      ++(peek ? c.peeks_empty : c.takes_empty);
      break;
    case TakeStatus::kFlushed:
      ++(peek ? c.peeks_flushed : c.takes_flushed);
      break;
    case TakeStatus::kBadQueue:
      ++(peek ? c.peeks_bad_queue : c.takes_bad_queue);
      break;
    case TakeStatus::kFetchError:
      ++c.takes_fetch_error;
      break;
  }
}

void ReceiveQueueModel::accept_take(const Take& take) {
  ++outstanding_takes_;
  const unsigned index = waits_.add();
  WaitEntry& entry = waits_[index];
  entry.id = take.queue;
  entry.tag = take.tag;
  entry.kind = take.kind;
  entry.queue = find(take.queue);
  RqQueue* const queue = entry.queue;
  if (queue == nullptr || queue->state == QueueState::kInvalid) {
    entry.verdict = TakeStatus::kBadQueue;
  } else if (queue->state == QueueState::kError) {
    entry.verdict = TakeStatus::kFlushed;
  }
  if (entry.verdict != TakeStatus::kOk || take.kind == TakeKind::kPeek) {
    waits_.answerable |= WaitTable::bit(index);
    return;
  }
  const auto place = static_cast<std::uint8_t>(index);
  if (queue->first_wait == kNoEntry) {
    queue->first_wait = place;
    refresh(*queue);
  } else {
    waits_[queue->last_wait].next = place;
  }
  queue->last_wait = place;
}

// A queue fails or goes away: everything that waits for it is now answerable.
void ReceiveQueueModel::flush_takes(RqQueue& queue, const Request* failed) {
  if (queue.first_wait != kNoEntry && failed != nullptr) {
    if (belongs(queue.tail, *failed) && queue.tail != queue.fetch &&
        !lines_.complete(queue.first_line)) {
      waits_[queue.first_wait].verdict = TakeStatus::kFetchError;
      waits_.clear(queue.first_wait);
      waits_.answerable |= WaitTable::bit(queue.first_wait);
    }
  }
  for (std::uint64_t rest = waits_.used(); rest != 0; rest &= rest - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(rest));
    WaitEntry& entry = waits_[index];
    if (entry.queue != &queue || entry.verdict != TakeStatus::kOk) continue;
    entry.verdict = TakeStatus::kFlushed;
    waits_.clear(index);
    waits_.answerable |= WaitTable::bit(index);
  }
  queue.first_wait = queue.last_wait = kNoEntry;
}

void ReceiveQueueModel::refresh_wait(const RqQueue& queue) {
  const std::uint64_t bit = WaitTable::bit(queue.first_wait);
  waits_.answerable &= ~bit;
  waits_.needy &= ~bit;
  waits_.waiting &= ~bit;
  if (queue.state != QueueState::kReady) return;
  const bool fetched = queue.tail != queue.fetch;
  if (queue.head == queue.tail || (fetched && lines_.complete(queue.first_line))) {
    waits_.answerable |= bit;
    return;
  }
  waits_.waiting |= bit;
  if (!fetched && held(queue) < parameters_.prefetch) waits_.needy |= bit;
}

void ReceiveQueueModel::note_waits() {
  for (std::uint64_t fresh = waits_.waiting & ~waits_.waited; fresh != 0; fresh &= fresh - 1) {
    ++counters_.takes_waited;
  }
  waits_.waited |= waits_.waiting;
}

}  // namespace hcasim::hca
