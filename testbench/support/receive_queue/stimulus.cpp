// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random traffic for a receive-queue unit.
#include "support/receive_queue/stimulus.hpp"

#include <algorithm>

namespace hcasim::testbench {

using namespace hw::rq;

Stimulus::Stimulus(const StimulusProfile& profile, const Scoreboard& scoreboard, std::uint64_t seed)
    : profile_(profile), scoreboard_(scoreboard), random_(seed), delays_(profile.parameters.tags) {}

const Inputs& Stimulus::next(hca::Cycle n, const Outputs& now) {
  if (last_.take_ready) in_.take_valid = false;
  if (last_.doorbell_ready) in_.doorbell_valid = false;
  if (last_.cmd_ready) in_.cmd_valid = false;
  in_.dma_rsp_valid = false;
  if (!draining_) {
    if (!in_.take_valid && chance(profile_.take)) roll_take();
    if (!in_.doorbell_valid && chance(profile_.doorbell)) roll_doorbell();
    if (!in_.cmd_valid && chance(profile_.command)) roll_command();
  }
  if (draining_ || chance(profile_.dma_beat)) roll_dma(n);
  in_.cmd_rsp_ready = draining_ || chance(profile_.cmd_rsp_ready);
  in_.dma_req_ready = draining_ || chance(profile_.dma_req_ready);
  in_.take_rsp_ready = draining_ || chance(profile_.take_rsp_ready);
  in_.event_ready = draining_ || chance(profile_.event_ready);
  if (now.dma_req_valid) delays_[now.dma_req.tag] = below(profile_.dma_delay + 1);
  last_ = now;
  return in_;
}

std::uint32_t Stimulus::any_queue() {
  const std::uint32_t queues = profile_.parameters.queues;
  return chance(profile_.unknown_queue) ? queues + below(3) : below(queues);
}

void Stimulus::roll_take() {
  in_.take_valid = true;
  in_.take.queue = any_queue();
  in_.take.tag = next_take_++;
  in_.take.kind = chance(profile_.peek) ? TakeKind::kPeek : TakeKind::kTake;
}

void Stimulus::roll_doorbell() {
  const std::uint32_t id = any_queue();
  const bool bad = chance(profile_.bad_doorbell);
  if (!bad) {
    if (id >= profile_.parameters.queues) return;
    const Scoreboard::Queue& q = scoreboard_.queue(id);
    if (q.state != QueueState::kReady) return;
    const unsigned room = q.size - 1 - scoreboard_.distance(q, q.tail, q.head);
    // Half of them post as much as there is room for, some nothing.
    const unsigned posts = chance(50) ? room : below(room + 1);
    in_.doorbell.head = static_cast<std::uint16_t>((q.head + posts) % q.size);
  } else {
    in_.doorbell.head = static_cast<std::uint16_t>(below(profile_.largest_ring + 2));
  }
  in_.doorbell.queue = id;
  in_.doorbell_valid = true;
}

void Stimulus::roll_ring(Command& c, unsigned stride, unsigned posted) {
  const unsigned low = std::max(profile_.smallest_ring, posted + 1);
  const unsigned high = std::max(profile_.largest_ring, low);
  const unsigned alignment = std::max(kBeatBytes, stride);
  c.size = static_cast<std::uint16_t>(low + below(high - low + 1));
  c.tail = static_cast<std::uint16_t>(below(c.size));
  c.head = static_cast<std::uint16_t>((c.tail + posted) % c.size);
  c.base = (std::uint64_t{c.queue} + 1) << 32U;
  c.base += std::uint64_t{below(1U << 16U)} * alignment;
  if (chance(50)) c.base = c.base / kDmaBoundary * kDmaBoundary + kDmaBoundary - alignment;
}

void Stimulus::roll_command() {
  Command c;
  c.queue = any_queue();
  in_.cmd_valid = true;
  if (c.queue >= profile_.parameters.queues || chance(profile_.wild_command)) {
    c.op = static_cast<CommandOp>(below(8));
    c.stride = static_cast<std::uint16_t>(16U << below(7));
    c.size = static_cast<std::uint16_t>(below(4));
    c.head = static_cast<std::uint16_t>(below(4));
    c.tail = static_cast<std::uint16_t>(below(4));
    c.base = ((std::uint64_t{c.queue} + 1) << 32U) + std::uint64_t{below(64)} * 32;
    c.limit = static_cast<std::uint16_t>(below(5));
    in_.cmd = c;
    return;
  }
  const Scoreboard::Queue& q = scoreboard_.queue(c.queue);
  c.arm = below(1000);
  c.limit = static_cast<std::uint16_t>(below(q.size + 1));
  c.op = CommandOp::kQuery;
  switch (q.state) {
    case QueueState::kInvalid:
      c.op = CommandOp::kInit;
      c.stride = profile_.strides[below(static_cast<unsigned>(profile_.strides.size()))];
      roll_ring(c, c.stride, 0);
      c.head = static_cast<std::uint16_t>(below(c.size));
      break;
    case QueueState::kReady:
      if (chance(profile_.leave)) {
        static constexpr CommandOp kLeave[3] = {CommandOp::kPause, CommandOp::kToError,
                                                CommandOp::kInvalidate};
        c.op = kLeave[below(3)];
      } else if (chance(70)) {
        c.op = CommandOp::kSetLimit;
      }
      break;
    case QueueState::kPaused:
      if (chance(80)) {
        c.op = CommandOp::kResume;
        roll_ring(c, q.stride, scoreboard_.distance(q, q.tail, q.head));
      } else {
        c.op = chance(50) ? CommandOp::kSetLimit : CommandOp::kInvalidate;
      }
      break;
    case QueueState::kError:
      if (chance(80)) c.op = chance(20) ? CommandOp::kToError : CommandOp::kInvalidate;
      break;
  }
  in_.cmd = c;
}

void Stimulus::roll_dma(hca::Cycle n) {
  const auto& requests = scoreboard_.requests();
  const unsigned tags = profile_.parameters.tags;
  const unsigned start = profile_.dma_in_order ? 0 : below(tags);
  const Scoreboard::Request* chosen = nullptr;
  for (unsigned i = 0; i < tags; ++i) {
    const unsigned tag = (start + i) % tags;
    const Scoreboard::Request& r = requests[tag];
    if (!r.used || !r.issued || r.ended || n <= r.issue_cycle + delays_[tag]) continue;
    if (chosen != nullptr && (!profile_.dma_in_order || chosen->issue_cycle <= r.issue_cycle)) {
      continue;
    }
    chosen = &r;
    in_.dma_rsp.tag = static_cast<std::uint8_t>(tag);
  }
  in_.dma_rsp.error = false;
  if (chosen != nullptr) {
    in_.dma_rsp_valid = true;
    in_.dma_rsp.data =
        scoreboard_.read(chosen->address + std::uint64_t{chosen->received} * kBeatBytes);
    in_.dma_rsp.last = chosen->received + 1 >= chosen->expected;
    if (draining_ || below(1000) >= profile_.dma_error) return;
    // An error with or without last, an answer that is too short, or one beat too many.
    const unsigned kind = below(4);
    in_.dma_rsp.error = kind < 2;
    in_.dma_rsp.last = kind == 1 || kind == 2;
  } else if (profile_.dma_error != 0 && below(1000) < profile_.dma_error) {
    const auto tag = static_cast<std::uint8_t>(below(tags + 2));
    if (tag < tags && requests[tag].used && !requests[tag].ended) return;
    in_.dma_rsp_valid = true;
    in_.dma_rsp.tag = tag;
    in_.dma_rsp.last = chance(50);
  }
}

}  // namespace hcasim::testbench
