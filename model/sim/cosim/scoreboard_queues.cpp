// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The scoreboard's view of queues, requests, commands and host memory.
#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/cosim/scoreboard_observer.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

std::uint64_t Scoreboard::word(std::uint32_t id, unsigned slot, unsigned index) const {
  std::uint64_t x = (std::uint64_t{id} << 48U) ^ (std::uint64_t{slot} << 32U) ^
                    (std::uint64_t{queues_[id].generation[slot]} << 8U) ^ index;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

Beat Scoreboard::wqe_beat(std::uint32_t id, unsigned slot, unsigned beat) const {
  Beat data{};
  const unsigned bytes = std::min(queues_[id].stride, kBeatBytes);
  for (unsigned i = 0; i < bytes / 8; ++i) {
    const std::uint64_t value = word(id, slot, beat * 8 + i);
    std::memcpy(data.data() + 8 * std::size_t{i}, &value, 8);
  }
  return data;
}

Beat Scoreboard::read(std::uint64_t address) const {
  Beat data{};
  data.fill(0xEE);
  for (unsigned half = 0; half < 2; ++half, address += kMinStride) {
    const auto id = static_cast<std::uint32_t>((address >> 32U) - 1);
    if (!known(id)) continue;
    const Queue& q = queues_[id];
    const std::uint64_t offset = address - q.base;
    if (address < q.base || q.size == 0 || offset >= std::uint64_t{q.size} * q.stride) continue;
    const auto slot = static_cast<unsigned>(offset / q.stride);
    const auto first = static_cast<unsigned>(offset % q.stride) / 8;
    for (unsigned i = 0; i < kMinStride / 8; ++i) {
      const std::uint64_t value = word(id, slot, first + i);
      std::memcpy(data.data() + half * std::size_t{kMinStride} + 8 * std::size_t{i}, &value, 8);
    }
  }
  return data;
}

std::optional<std::uint32_t> Scoreboard::queue_at(std::uint64_t address) const {
  const auto holds = [&](std::uint32_t id) {
    const Queue& q = queues_[id];
    return q.state == QueueState::kReady && address >= q.base &&
           address - q.base < std::uint64_t{q.size} * q.stride;
  };
  // Where a stimulus puts them.
  const auto guess = static_cast<std::uint32_t>((address >> 32U) - 1);
  if (known(guess) && holds(guess)) return guess;
  for (std::uint32_t id = 0; !judge_data_ && id < queues_.size(); ++id) {
    if (holds(id)) return id;
  }
  return std::nullopt;
}

void Scoreboard::requested(const DmaRequest& r) {
  const auto found = queue_at(r.address);
  if (!expect(found.has_value(), "rules 2, 7: request of no READY queue's ring")) return;
  const std::uint32_t id = *found;
  Queue& q = queues_[id];
  if (!expect(r.tag < p_.tags && !requests_[r.tag].used, "rule 9: tag in use")) return;
  for (unsigned tag = 0; tag < r.tag; ++tag) {
    expect(requests_[tag].used, "rule 9: a lower tag was free");
  }
  const std::uint64_t offset = r.address - q.base;
  const bool inside = r.address >= q.base && offset % q.stride == 0 && r.bytes % q.stride == 0 &&
                      r.bytes != 0 && offset + r.bytes <= std::uint64_t{q.size} * q.stride;
  if (!expect(inside, "rule 2: request outside the ring")) return;
  const auto first = static_cast<unsigned>(offset / q.stride);
  const unsigned slots = r.bytes / q.stride;
  expect(r.address / kDmaBoundary == (r.address + r.bytes - 1) / kDmaBoundary, "rule 9: 4 KiB");
  expect(r.bytes <= p_.fetch_bytes, "rule 9: request too long");
  expect(first == q.fetch || first == q.tail, "rule 1: fetch out of order");
  // The request was chosen in this cycle, so what was posted and taken until the last one counts;
  // judging in this cycle moved the tail at most one slot on, maybe into the request.
  const bool posted = distance(q, first, q.head) >= slots;
  expect(posted, "rule 2: request beyond head");
  const unsigned from_tail = distance(q, q.tail, first) + slots;
  expect(from_tail + (answering_wqe_ && answering_->take.queue == id ? 1U : 0U) <= p_.prefetch,
         "rule 9: prefetch");
  if (observer_ != nullptr) observer_->requested(r, id, q);
  for (unsigned i = 0; i < slots; ++i) q.arrived[first + i] = false;
  q.fetch = (first + slots) % q.size;
  requests_[r.tag] = {true, false,     false, id, q.epoch, first, slots, (r.bytes + 63) / 64,
                      0,    r.address, 0};
}

void Scoreboard::failed_events(std::uint64_t count) {
  for (Request& r : requests_) {
    if (count == 0) return;
    if (!r.used || !r.ended) continue;
    r = Request{};
    --count;
  }
  expect(count == 0, "rule 6: more FETCH_ERROR events than failed requests");
}

void Scoreboard::beat(const DmaBeat& beat) {
  Request& r = requests_[beat.tag];
  Queue& q = queues_[r.queue];
  const bool live = q.state == QueueState::kReady && q.epoch == r.epoch;
  const bool failed = live && (beat.error || (beat.last && r.received + 1 < r.expected));
  if (observer_ != nullptr) observer_->beat(beat, r, live, failed);
  if (failed) {
    expected_events_.push_back({r.queue, EventKind::kFetchError, r.first});
    leave(r.queue, QueueState::kError, FlushCause::kFetchError, &r);
  } else if (live && r.received < r.expected) {
    arrive(r, q);
  }
  ++r.received;
  if (!beat.last && !beat.error) return;
  r.ended = failed;
  if (!failed) r = Request{};
}

void Scoreboard::arrive(Request& r, Queue& q) {
  const unsigned bytes = std::min((r.received + 1) * kBeatBytes, r.slots * q.stride);
  const unsigned before = r.received * kBeatBytes / q.stride;
  for (unsigned i = before; i < bytes / q.stride; ++i) q.arrived[r.first + i] = true;
}

void Scoreboard::leave(std::uint32_t id, QueueState next, FlushCause cause, const Request* failed) {
  Queue& q = queues_[id];
  bool oldest = true;
  for (Wait& w : waits_) {
    if (next == QueueState::kPaused || w.verdict || w.take.queue != id) continue;
    w.verdict = TakeStatus::kFlushed;
    w.cause = cause;
    if (w.take.kind == TakeKind::kPeek) continue;
    const bool inside = failed != nullptr && q.tail >= failed->first &&
                        q.tail < failed->first + failed->slots && !q.arrived[q.tail];
    if (oldest && inside) w.verdict = TakeStatus::kFetchError;
    oldest = false;
  }
  ++q.epoch;
  q.fetch = q.tail;
  q.arrived.assign(q.size, false);
  q.state = next;
}

DoorbellEffect Scoreboard::effect_of(const Doorbell& d) const {
  if (!known(d.queue)) return DoorbellEffect::kUnknown;
  const Queue& q = queues_[d.queue];
  switch (q.state) {
    case QueueState::kInvalid:
      return DoorbellEffect::kInvalid;
    case QueueState::kError:
      return DoorbellEffect::kError;
    case QueueState::kPaused:
      return DoorbellEffect::kPaused;
    case QueueState::kReady:
      break;
  }
  if (d.head >= q.size) return DoorbellEffect::kBeyondSize;
  if (d.head == q.head) return DoorbellEffect::kEqual;
  const bool good = distance(q, q.tail, d.head) > distance(q, q.tail, q.head);
  return good ? DoorbellEffect::kGood : DoorbellEffect::kOverRun;
}

bool Scoreboard::bad(const Doorbell& d) const {
  const DoorbellEffect effect = effect_of(d);
  return effect != DoorbellEffect::kGood && effect != DoorbellEffect::kEqual &&
         effect != DoorbellEffect::kError;
}

void Scoreboard::doorbell(const Doorbell& d) {
  const DoorbellEffect effect = effect_of(d);
  const auto bad = [&] { expected_events_.push_back({d.queue, EventKind::kBadDoorbell, d.head}); };
  if (observer_ != nullptr) {
    observer_->doorbell(d, effect, known(d.queue) ? &queues_[d.queue] : nullptr);
  }
  switch (effect) {
    case DoorbellEffect::kError:
    case DoorbellEffect::kEqual:
      return;
    case DoorbellEffect::kUnknown:
    case DoorbellEffect::kInvalid:
      return bad();
    case DoorbellEffect::kPaused:
    case DoorbellEffect::kBeyondSize:
    case DoorbellEffect::kOverRun:
      leave(d.queue, QueueState::kError, FlushCause::kDoorbell);
      return bad();
    case DoorbellEffect::kGood:
      break;
  }
  Queue& q = queues_[d.queue];
  for (; q.head != d.head; q.head = (q.head + 1) % q.size) ++q.generation[q.head];
}

bool Scoreboard::command_quiet() const {
  if (command_->status != CommandStatus::kOk) return true;
  const Command& c = command_->command;
  const bool ends = c.op == CommandOp::kToError || c.op == CommandOp::kInvalidate;
  if (!ends && c.op != CommandOp::kPause) return true;
  for (const Request& r : requests_) {
    if (r.used && r.queue == c.queue) return false;
  }
  if (!ends) return true;
  const bool waiting =
      std::any_of(waits_.begin(), waits_.end(), [](const Wait& w) { return w.counted; });
  return !waiting && !(answering_ && answering_->counted);
}

// Called before the actions of the cycle are noted, so what it sees is the start of the cycle.
void Scoreboard::check_command_answer(const Outputs& now, const Outputs& next) {
  const bool fresh = next.cmd_rsp_valid && !now.cmd_rsp_valid;
  const bool due = command_ && !answered_ && command_quiet();
  if (!expect(fresh == due, due ? "rule 8: a command's answer is late" : "answer too early"))
    return;
  if (!due) return;
  answered_ = true;
  const CommandAnswer& a = next.cmd_rsp;
  expect(a.status == command_->status, "status of a command");
  const std::uint32_t id = command_->command.queue;
  if (!known(id) || queues_[id].state == QueueState::kInvalid) {
    expect(a.snapshot == Snapshot{}, "snapshot of an INVALID queue");
    return;
  }
  const Queue& q = queues_[id];
  const Snapshot& s = a.snapshot;
  expect(s.state == q.state && s.size == q.size && s.head == q.head && s.tail == q.tail &&
             s.limit == q.limit && (s.fetch == q.fetch || s.fetch == q.tail),
         "snapshot");
}

CommandStatus Scoreboard::check(const Command& c) const {
  if (!known(c.queue)) return CommandStatus::kBadQueue;
  if (static_cast<unsigned>(c.op) > 6) return CommandStatus::kBadArgument;
  const Queue& q = queues_[c.queue];
  const bool ready = q.state == QueueState::kReady;
  const bool paused = q.state == QueueState::kPaused;
  const bool error = q.state == QueueState::kError;
  const bool init = c.op == CommandOp::kInit;
  const bool resume = c.op == CommandOp::kResume;
  const bool allowed = (init && !ready && !paused && !error) ||
                       (c.op == CommandOp::kSetLimit && (ready || paused)) ||
                       (c.op == CommandOp::kPause && ready) || (resume && paused) ||
                       (c.op == CommandOp::kToError && (ready || paused || error)) ||
                       c.op == CommandOp::kInvalidate || c.op == CommandOp::kQuery;
  if (!allowed) return CommandStatus::kBadState;
  if (!init && !resume) return CommandStatus::kOk;
  const unsigned stride = init ? c.stride : q.stride;
  const bool good = std::has_single_bit(stride) && stride >= 32 && stride <= 512 &&
                    c.head < c.size && c.base % std::max(64U, stride) == 0 &&
                    (init || c.tail < c.size);
  return good ? CommandStatus::kOk : CommandStatus::kBadArgument;
}

void Scoreboard::load(Queue& q, const Command& c, unsigned tail) {
  q.state = QueueState::kReady;
  q.base = c.base;
  q.size = c.size;
  q.head = c.head;
  q.tail = q.fetch = tail;
  // Numbers of earlier lives must not come back: stale data is to be seen.
  const std::uint32_t newest =
      q.generation.empty() ? 0 : *std::max_element(q.generation.begin(), q.generation.end());
  q.generation.assign(q.size, newest + 1);
  q.arrived.assign(q.size, false);
}

void Scoreboard::command(const Command& c) {
  expect(!command_, "two commands at a time");
  command_ = ActiveCommand{c, check(c)};
  answered_ = false;
  if (observer_ != nullptr) {
    observer_->command(c, command_->status, known(c.queue) ? &queues_[c.queue] : nullptr);
  }
  if (command_->status != CommandStatus::kOk) return;
  Queue& q = queues_[c.queue];
  const bool ends = c.op == CommandOp::kToError || c.op == CommandOp::kInvalidate;
  if (ends) {
    for (Wait& w : waits_) w.counted = w.take.queue == c.queue;
    if (answering_) answering_->counted = answering_->take.queue == c.queue;
  }
  if (c.op == CommandOp::kInit) {
    q.stride = c.stride;
    q.limit = 0;
    load(q, c, 0);
  } else if (c.op == CommandOp::kResume) {
    load(q, c, c.tail);
  } else if (c.op == CommandOp::kSetLimit) {
    q.limit = c.limit;
    q.arm = c.arm;
  } else if (c.op == CommandOp::kPause) {
    leave(c.queue, QueueState::kPaused, FlushCause::kPause);
  } else if (ends) {
    const bool to_error = c.op == CommandOp::kToError;
    leave(c.queue, to_error ? QueueState::kError : QueueState::kInvalid,
          to_error ? FlushCause::kToError : FlushCause::kInvalidate);
  }
}

void Scoreboard::check_lines() {
  unsigned lines = 0;
  for (std::uint32_t id = 0; id < queues_.size(); ++id) {
    const Queue& q = queues_[id];
    if (q.state != QueueState::kReady) continue;
    const Snapshot s = unit_.snapshot(id);
    lines += distance(q, s.tail, s.fetch) * std::max(1U, q.stride / kBeatBytes);
  }
  expect(lines <= p_.lines, "rule 9: more lines in use than there are");
}

}  // namespace hcasim::sim::cosim
