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
  out_.take_ready = true;
  --outstanding_takes_;
  if (answer_.counted) --command_.earlier_takes;
  RqQueue* const queue = answer_.wqe_queue;
  if (queue == nullptr) return;
  lines_.release(answer_.first_line, answer_.lines);
  answer_.wqe_queue = nullptr;
  if (queue->tail == queue->fetch) refresh(*queue);  // there is room to be needy now
  enter_fifo(*queue);
}

void ReceiveQueueModel::judge(unsigned index) {
  const WaitEntry& entry = waits_[index];
  const bool waited = (waits_.waited & WaitTable::bit(index)) != 0;
  waits_.remove(index);
  out_.take_rsp_valid = true;
  out_.take_rsp.tag = entry.tag;
  answer_.id = entry.id;
  answer_.counted = entry.counted;
  const bool good = entry.verdict == TakeStatus::kOk;
  if (good && entry.kind == TakeKind::kTake) {
    entry.queue->first_wait = entry.next;
    judge_take(*entry.queue);
    refresh(*entry.queue);
    if (!waited && out_.take_rsp.status == TakeStatus::kOk) ++counters_.takes_ok_at_once;
  } else if (good) {
    judge_peek(*entry.queue);
  } else {
    answer_without_wqe(entry.verdict);
  }
  count_answer(entry.kind, out_.take_rsp.status);
}

void ReceiveQueueModel::judge_take(RqQueue& queue) {
  if (queue.head == queue.tail) return answer_without_wqe(TakeStatus::kEmpty);
  const unsigned lines = queue.lines_per_slot();
  const std::uint16_t line = queue.first_line;
  TakeBeat& beat = out_.take_rsp;
  beat.status = TakeStatus::kOk;
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

  if (beat.remaining < queue.limit) {
    raise(queue.id, EventKind::kSrqLimit, queue.arm);
    queue.limit = 0;
  }
}

void ReceiveQueueModel::judge_peek(const RqQueue& queue) {
  if (queue.head == queue.tail) return answer_without_wqe(TakeStatus::kEmpty);
  answer_without_wqe(TakeStatus::kOk);
  out_.take_rsp.slot = queue.tail;
  out_.take_rsp.remaining = static_cast<std::uint16_t>(queue.posted());
}

void ReceiveQueueModel::answer_without_wqe(TakeStatus status) {
  TakeBeat& beat = out_.take_rsp;
  beat.status = status;
  beat.last = true;
  beat.slot = beat.remaining = 0;
  beat.wqe.fill(0);
  answer_.wqe_queue = nullptr;
  answer_.beats_left = 0;
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
  out_.take_ready = ++outstanding_takes_ < parameters_.takes;
  RqQueue* const queue = find(take.queue);
  const unsigned index = waits_.add(take, queue);
  if (queue == nullptr || queue->state == QueueState::kInvalid) {
    waits_.decide(index, TakeStatus::kBadQueue);
  } else if (queue->state == QueueState::kError) {
    waits_.decide(index, TakeStatus::kFlushed);
  } else if (take.kind == TakeKind::kPeek) {
    waits_.answerable |= WaitTable::bit(index);
  } else {
    line_up(*queue, static_cast<std::uint8_t>(index));
  }
}

void ReceiveQueueModel::line_up(RqQueue& queue, std::uint8_t place) {
  if (queue.first_wait == kNoEntry) {
    queue.first_wait = place;
    refresh_wait(queue);
  } else {
    waits_[queue.last_wait].next = place;
  }
  queue.last_wait = place;
}

// A queue fails or goes away: everything that waits for it is now answerable.
void ReceiveQueueModel::flush_takes(RqQueue& queue, const Request* failed) {
  if (queue.first_wait != kNoEntry && failed != nullptr) {
    if (belongs(queue.tail, *failed) && queue.tail != queue.fetch &&
        !lines_.complete(queue.first_line)) {
      waits_.decide(queue.first_wait, TakeStatus::kFetchError);
    }
  }
  for (std::uint64_t rest = waits_.used(); rest != 0; rest &= rest - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(rest));
    const WaitEntry& entry = waits_[index];
    if (entry.queue != &queue || entry.verdict != TakeStatus::kOk) continue;
    waits_.decide(index, TakeStatus::kFlushed);
  }
  queue.first_wait = kNoEntry;
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
