// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the README derives from the registers of the reference, and the way of a WQE into the lines.
#include <algorithm>
#include <cstring>

#include "support/receive_queue/reference_unit.hpp"

namespace hcasim::testbench {

using namespace hw::rq;

unsigned ReferenceUnit::distance(const Queue& q, unsigned from, unsigned to) const {
  return (to + q.size - from) % q.size;
}

unsigned ReferenceUnit::per_slot(const Queue& q) const {
  return std::max(1U, q.stride / 64);
}

std::vector<unsigned> ReferenceUnit::lines_of(std::uint32_t id, unsigned slot) const {
  std::vector<unsigned> found;
  for (unsigned part = 0; part < per_slot(queues_[id]); ++part) {
    for (unsigned i = 0; i < lines_.size(); ++i) {
      const Line& l = lines_[i];
      const bool live = l.used && !l.dead && !l.answering;
      if (live && l.queue == id && l.slot == slot && l.part == part) found.push_back(i);
    }
  }
  return found;
}

bool ReferenceUnit::complete(std::uint32_t id) const {
  const auto lines = lines_of(id, queues_[id].tail);
  return !lines.empty() &&
         std::all_of(lines.begin(), lines.end(), [this](unsigned i) { return lines_[i].filled; });
}

unsigned ReferenceUnit::held(std::uint32_t id) const {
  const Queue& q = queues_[id];
  const bool answering = out_.take_rsp_valid && answering_.wqe && answering_.queue == id;
  return distance(q, q.tail, q.fetch) + (answering ? 1U : 0U);
}

bool ReferenceUnit::eligible(std::uint32_t id) const {
  const Queue& q = queues_[id];
  return q.state == QueueState::kReady && q.fetch != q.head && held(id) < p_.prefetch;
}

bool ReferenceUnit::waits(std::uint32_t id) const {
  return std::any_of(waits_.begin(), waits_.end(), [id](const Wait& w) {
    return !w.verdict && w.take.kind == TakeKind::kTake && w.take.queue == id;
  });
}

bool ReferenceUnit::needy(std::uint32_t id) const {
  return eligible(id) && waits(id) && queues_[id].fetch == queues_[id].tail;
}

bool ReferenceUnit::answerable(std::size_t index) const {
  const Wait& w = waits_[index];
  if (w.verdict) return true;
  if (w.take.kind == TakeKind::kPeek) return true;
  const Queue& q = queues_[w.take.queue];
  if (q.state != QueueState::kReady) return false;
  for (std::size_t i = 0; i < index; ++i) {
    const Wait& other = waits_[i];
    if (!other.verdict && other.take.kind == TakeKind::kTake && other.take.queue == w.take.queue) {
      return false;
    }
  }
  return q.head == q.tail || complete(w.take.queue);
}

bool ReferenceUnit::fires(const Wait& w) const {
  if (w.verdict || w.take.kind == TakeKind::kPeek) return false;
  const Queue& q = queues_[w.take.queue];
  const unsigned posted = distance(q, q.tail, q.head);
  return posted != 0 && q.limit != 0 && posted - 1 < q.limit;
}

unsigned ReferenceUnit::free_lines() const {
  return static_cast<unsigned>(
      std::count_if(lines_.begin(), lines_.end(), [](const Line& l) { return !l.used; }));
}

std::optional<unsigned> ReferenceUnit::free_tag() const {
  for (unsigned i = 0; i < tags_.size(); ++i) {
    if (!tags_[i].used) return i;
  }
  return std::nullopt;
}

unsigned ReferenceUnit::requests_of(std::uint32_t id) const {
  return static_cast<unsigned>(std::count_if(
      tags_.begin(), tags_.end(), [id](const Tag& t) { return t.used && t.queue == id; }));
}

unsigned ReferenceUnit::earlier_takes() const {
  const auto waiting =
      std::count_if(waits_.begin(), waits_.end(), [](const Wait& w) { return w.counted; });
  return static_cast<unsigned>(waiting) + (out_.take_rsp_valid && answering_.counted ? 1U : 0U);
}

bool ReferenceUnit::quiet() const {
  if (command_->status != CommandStatus::kOk) return true;
  const CommandOp op = command_->command.op;
  const bool ends = op == CommandOp::kToError || op == CommandOp::kInvalidate;
  if (ends && earlier_takes() != 0) return false;
  return (!ends && op != CommandOp::kPause) || requests_of(command_->command.queue) == 0;
}

ReferenceUnit::FetchPlan ReferenceUnit::plan_fetch() const {
  for (const Wait& w : waits_) {
    if (w.verdict || w.take.kind == TakeKind::kPeek || !needy(w.take.queue)) continue;
    if (free_lines() >= per_slot(queues_[w.take.queue])) return plan_for(w.take.queue, false);
    const auto loser = victim();
    if (!loser) return {};
    return {FetchAct::kEvict, false, *loser, 0};
  }
  if (fifo_.empty()) return {};
  if (!eligible(fifo_.front())) return {FetchAct::kDrop, true, fifo_.front(), 0};
  return plan_for(fifo_.front(), true);
}

ReferenceUnit::FetchPlan ReferenceUnit::plan_for(std::uint32_t id, bool pop) const {
  const Queue& q = queues_[id];
  if (!free_tag() || free_lines() < per_slot(q)) return {};
  unsigned slots = 0;
  unsigned at = q.fetch;
  std::uint64_t address = q.base + std::uint64_t{at} * q.stride;
  // One slot more as long as nothing forbids it.
  while (at != q.head && held(id) + slots < p_.prefetch &&
         (slots + 1) * per_slot(q) <= free_lines() && (slots + 1) * q.stride <= p_.fetch_bytes) {
    ++slots;
    ++at;
    address += q.stride;
    if (at == q.size || address % 4096 == 0) break;
  }
  return {FetchAct::kFetch, pop, id, slots};
}

std::optional<std::uint32_t> ReferenceUnit::victim() const {
  const Line* best = nullptr;
  for (const Line& l : lines_) {
    if (!l.used || l.dead || l.answering) continue;
    const bool answering = out_.take_rsp_valid && answering_.wqe && answering_.queue == l.queue;
    if (waits(l.queue) || requests_of(l.queue) != 0 || answering) continue;
    if (best == nullptr || l.order < best->order) best = &l;
  }
  return best == nullptr ? std::nullopt : std::optional<std::uint32_t>(best->queue);
}

void ReferenceUnit::enter(std::uint32_t id) {
  const bool in_fifo = std::find(fifo_.begin(), fifo_.end(), id) != fifo_.end();
  if (!in_fifo && eligible(id)) fifo_.push_back(id);
}

void ReferenceUnit::do_fetch(const FetchPlan& plan) {
  if (plan.act == FetchAct::kNothing) return;
  if (plan.pop) fifo_.pop_front();
  Queue& q = queues_[plan.queue];
  if (plan.act == FetchAct::kFetch) {
    start_request(plan.queue, plan.slots);
  } else if (plan.act == FetchAct::kEvict) {
    ++counters_.evictions;
    counters_.wqes_evicted += distance(q, q.tail, q.fetch);
    for (Line& l : lines_) {
      if (l.used && !l.dead && !l.answering && l.queue == plan.queue) l = Line{};
    }
    q.fetch = q.tail;
  } else {
    ++counters_.fifo_drops;
  }
  enter(plan.queue);
}

void ReferenceUnit::start_request(std::uint32_t id, unsigned slots) {
  Queue& q = queues_[id];
  const unsigned tag = *free_tag();
  tags_[tag] = {true, false, id, q.fetch, slots, (slots * q.stride + 63) / 64, 0};
  ++order_;
  for (unsigned i = 0; i < slots; ++i) {
    for (unsigned part = 0; part < per_slot(q); ++part) {
      Line& line =
          *std::find_if(lines_.begin(), lines_.end(), [](const Line& l) { return !l.used; });
      line.used = line.in_flight = true;
      line.queue = id;
      line.slot = q.fetch + i;
      line.part = part;
      line.tag = tag;
      line.order = order_;
    }
  }
  out_.dma_req_valid = true;
  out_.dma_req = {static_cast<std::uint8_t>(tag), q.base + std::uint64_t{q.fetch} * q.stride,
                  slots * q.stride};
  q.fetch = (q.fetch + slots) % q.size;
  ++counters_.dma_requests;
  counters_.wqes_fetched += slots;
}

bool ReferenceUnit::beat_fails(const DmaBeat& beat) const {
  if (!known(beat.tag)) return false;
  const Tag& t = tags_[beat.tag];
  if (queues_[t.queue].state != QueueState::kReady) return false;
  return beat.error || (beat.last && t.received + 1 < t.expected);
}

bool ReferenceUnit::known(unsigned tag) const {
  return tag < tags_.size() && tags_[tag].used && !tags_[tag].failed;
}

void ReferenceUnit::dma(const DmaBeat& beat, bool is_known) {
  if (!is_known) {
    ++counters_.dma_beats_unknown;
    return;
  }
  ++counters_.dma_beats;
  Tag& t = tags_[beat.tag];
  Queue& q = queues_[t.queue];
  if (beat_fails(beat)) {
    t.failed = true;
    ++counters_.dma_requests_failed;
    leave(t.queue, QueueState::kError, beat.tag);
  } else if (q.state == QueueState::kReady && t.received < t.expected) {
    const unsigned k = t.received;
    if (q.stride >= 64) {
      const unsigned lines = per_slot(q);
      write_line(beat.tag, t.first + k / lines, k % lines, beat.data.data(), 64);
    } else {
      write_line(beat.tag, t.first + 2 * k, 0, beat.data.data(), 32);
      if (2 * k + 1 < t.slots) {
        write_line(beat.tag, t.first + 2 * k + 1, 0, beat.data.data() + 32, 32);
      }
    }
  }
  ++t.received;
  if (!beat.last && !beat.error) return;
  for (Line& l : lines_) {
    if (l.used && l.in_flight && l.tag == beat.tag) l = Line{};
  }
  if (!t.failed) t = Tag{};
}

void ReferenceUnit::write_line(unsigned tag, unsigned slot, unsigned part, const std::uint8_t* data,
                               unsigned bytes) {
  const auto wqe = lines_of(tags_[tag].queue, slot);
  Line& line = lines_[wqe[part]];
  line.data.fill(0);
  std::memcpy(line.data.data(), data, bytes);
  line.filled = true;
  if (part + 1 != wqe.size()) return;
  for (const unsigned i : wqe) lines_[i].in_flight = false;
}

void ReferenceUnit::leave(std::uint32_t id, QueueState next, std::optional<unsigned> failed_tag) {
  Queue& q = queues_[id];
  bool oldest = true;
  for (Wait& w : waits_) {
    if (next == QueueState::kPaused || w.verdict || w.take.queue != id) continue;
    w.verdict = TakeStatus::kFlushed;
    if (w.take.kind == TakeKind::kPeek) continue;
    if (oldest && failed_tag) {
      const Tag& t = tags_[*failed_tag];
      const bool inside = q.tail >= t.first && q.tail < t.first + t.slots;
      if (inside && !complete(id)) w.verdict = TakeStatus::kFetchError;
    }
    oldest = false;
  }
  for (Line& l : lines_) {
    if (!l.used || l.dead || l.answering || l.queue != id) continue;
    if (l.in_flight) {
      l.dead = true;
    } else {
      l = Line{};
    }
  }
  q.fetch = q.tail;
  q.state = next;
}

Snapshot ReferenceUnit::snapshot(std::uint32_t id) const {
  if (unknown(id) || queues_[id].state == QueueState::kInvalid) return {};
  const Queue& q = queues_[id];
  const auto narrow = [](unsigned value) { return static_cast<std::uint16_t>(value); };
  return {q.state,         narrow(q.size), narrow(q.head),
          narrow(q.fetch), narrow(q.tail), narrow(q.limit)};
}

void ReferenceUnit::command(const Command& c) {
  ++counters_.commands;
  command_ = CommandState{c, check(c)};
  if (command_->status == CommandStatus::kOk) execute(c);
}

CommandStatus ReferenceUnit::check(const Command& c) const {
  if (unknown(c.queue)) return CommandStatus::kBadQueue;
  if (c.op > CommandOp::kQuery) return CommandStatus::kBadArgument;
  // Rows: operations; columns: INVALID, READY, PAUSED, ERROR.
  static constexpr bool kAllowed[7][4] = {{true, false, false, false}, {false, true, true, false},
                                          {false, true, false, false}, {false, false, true, false},
                                          {false, true, true, true},   {true, true, true, true},
                                          {true, true, true, true}};
  const Queue& q = queues_[c.queue];
  if (!kAllowed[static_cast<int>(c.op)][static_cast<int>(q.state)]) return CommandStatus::kBadState;
  const bool init = c.op == CommandOp::kInit;
  if (!init && c.op != CommandOp::kResume) return CommandStatus::kOk;
  const unsigned stride = init ? c.stride : q.stride;
  const bool stride_good =
      stride == 32 || stride == 64 || stride == 128 || stride == 256 || stride == 512;
  const bool good = stride_good && c.size >= 1 && c.head < c.size &&
                    c.base % std::max(64U, stride) == 0 && (init || c.tail < c.size);
  return good ? CommandStatus::kOk : CommandStatus::kBadArgument;
}

void ReferenceUnit::execute(const Command& c) {
  Queue& q = queues_[c.queue];
  const bool ends = c.op == CommandOp::kToError || c.op == CommandOp::kInvalidate;
  if (ends) {
    for (Wait& w : waits_) w.counted = w.take.queue == c.queue;
    answering_.counted = answering_.queue == c.queue;
  }
  switch (c.op) {
    case CommandOp::kInit:
      q = {QueueState::kReady, c.base, c.size, c.stride, c.head, 0, 0, 0, 0};
      enter(c.queue);
      break;
    case CommandOp::kResume:
      q = {QueueState::kReady, c.base, c.size, q.stride, c.head, c.tail, c.tail, q.limit, q.arm};
      enter(c.queue);
      break;
    case CommandOp::kSetLimit:
      q.limit = c.limit;
      q.arm = c.arm;
      break;
    case CommandOp::kPause:
      leave(c.queue, QueueState::kPaused, std::nullopt);
      break;
    case CommandOp::kToError:
      leave(c.queue, QueueState::kError, std::nullopt);
      break;
    case CommandOp::kInvalidate:
      leave(c.queue, QueueState::kInvalid, std::nullopt);
      break;
    case CommandOp::kQuery:
      break;
  }
}

}  // namespace hcasim::testbench
