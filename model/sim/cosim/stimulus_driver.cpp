// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Operations to inputs.
#include "sim/cosim/stimulus_driver.hpp"

#include <algorithm>
#include <bit>

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

CommandOp op_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kInit:
      return CommandOp::kInit;
    case OperationKind::kSetLimit:
      return CommandOp::kSetLimit;
    case OperationKind::kPause:
      return CommandOp::kPause;
    case OperationKind::kResume:
      return CommandOp::kResume;
    case OperationKind::kToError:
      return CommandOp::kToError;
    case OperationKind::kInvalidate:
      return CommandOp::kInvalidate;
    case OperationKind::kCommand:
      return static_cast<CommandOp>(operation.choice);
    default:
      return CommandOp::kQuery;
  }
}

constexpr std::uint16_t index(std::uint32_t value) {
  return static_cast<std::uint16_t>(value);
}

}  // namespace

StimulusDriver::StimulusDriver(const Parameters& parameters, const Scoreboard& scoreboard)
    : parameters_(parameters),
      scoreboard_(scoreboard),
      delays_(parameters.tags),
      paused_(parameters.tags) {}

void StimulusDriver::begin(const Outputs& now) {
  if (last_.take_ready) in_.take_valid = false;
  if (last_.doorbell_ready) in_.doorbell_valid = false;
  if (last_.cmd_ready) in_.cmd_valid = false;
  in_.dma_rsp_valid = false;
  beat_of_ = -1;
  last_ = now;
}

void StimulusDriver::apply(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kPost:
      return post(operation);
    case OperationKind::kDoorbell:
      if (in_.doorbell_valid) return;
      in_.doorbell_valid = true;
      in_.doorbell = {operation.queue, index(operation.head)};
      return;
    case OperationKind::kTake:
    case OperationKind::kPeek:
      if (in_.take_valid) return;
      in_.take_valid = true;
      // No two takes have the same tag, and all bits of it change.
      in_.take = {operation.queue, takes_++ * 0x9E3779B1U,
                  operation.kind == OperationKind::kPeek ? TakeKind::kPeek : TakeKind::kTake};
      return;
    case OperationKind::kReady:
      return ready(operation);
    case OperationKind::kMemory:
      memory_ = {operation.count, operation.gap, static_cast<MemoryOrder>(operation.choice)};
      return;
    case OperationKind::kFault:
      fault_ = static_cast<int>(operation.choice);
      return;
    case OperationKind::kBeat:
      beat_of_ = static_cast<int>(operation.count);
      return;
    case OperationKind::kWait:
      return;
    default:
      return command(operation);
  }
}

void StimulusDriver::command(const Operation& operation) {
  if (in_.cmd_valid) return;
  Command c;
  c.op = op_of(operation);
  c.queue = operation.queue;
  c.base = address(operation.queue, operation.offset);
  c.size = index(operation.size);
  c.stride = index(operation.stride);
  c.head = index(operation.head);
  c.tail = index(operation.tail);
  c.limit = index(operation.limit);
  c.arm = operation.arm;
  if (operation.kind == OperationKind::kResume && operation.queue < parameters_.queues) {
    // What is posted now stays posted, as far as the new ring has room for it.
    const Scoreboard::Queue& q = scoreboard_.queue(operation.queue);
    const unsigned posted = q.size == 0 ? 0 : Scoreboard::distance(q, q.tail, q.head);
    const unsigned kept = std::min(posted, operation.size == 0 ? 0 : operation.size - 1);
    c.head = index(operation.size == 0 ? 0 : (operation.tail + kept) % operation.size);
  }
  in_.cmd = c;
  in_.cmd_valid = true;
}

void StimulusDriver::post(const Operation& operation) {
  if (in_.doorbell_valid || operation.queue >= parameters_.queues) return;
  const Scoreboard::Queue& q = scoreboard_.queue(operation.queue);
  if (q.state != QueueState::kReady) return;
  // Doorbells that are on their way count: what they post is posted.
  unsigned head = q.head;
  for (const Doorbell& d : scoreboard_.buffered_doorbells()) {
    if (d.queue == operation.queue) head = d.head;
  }
  if (head >= q.size) return;
  const unsigned room = q.size - 1 - Scoreboard::distance(q, q.tail, head);
  in_.doorbell_valid = true;
  in_.doorbell = {operation.queue, index((head + std::min(room, operation.count)) % q.size)};
}

void StimulusDriver::ready(const Operation& operation) {
  const auto length = static_cast<unsigned>(std::bit_width(operation.pattern) - 1);
  ready_[operation.choice] = {operation.pattern, length, 0, operation.count};
}

bool StimulusDriver::next_ready(OutputPort port) {
  Ready& r = ready_[static_cast<std::size_t>(port)];
  if (r.cycles == 0) return true;
  --r.cycles;
  const unsigned bit = r.length - 1 - r.at;
  r.at = (r.at + 1) % r.length;
  return (r.pattern >> bit & 1U) != 0;
}

const Inputs& StimulusDriver::finish(hca::Cycle n) {
  if (last_.dma_req_valid && !request_shown_ && last_.dma_req.tag < parameters_.tags) {
    delays_[last_.dma_req.tag] = memory_.delay;
    paused_[last_.dma_req.tag] = 0;
  }
  in_.cmd_rsp_ready = next_ready(OutputPort::kCmdRsp);
  in_.dma_req_ready = next_ready(OutputPort::kDmaReq);
  in_.take_rsp_ready = next_ready(OutputPort::kTakeRsp);
  in_.event_ready = next_ready(OutputPort::kEvent);
  request_shown_ = last_.dma_req_valid && !in_.dma_req_ready;
  memory(n);
  return in_;
}

// The scoreboard is as of the start of cycle n, so a request accepted in n is not yet answered.
bool StimulusDriver::due(unsigned tag, hca::Cycle n) const {
  const Scoreboard::Request& r = scoreboard_.requests()[tag];
  return r.used && r.issued && !r.ended && n > r.issue_cycle + delays_[tag] && n >= paused_[tag];
}

bool StimulusDriver::before(unsigned tag, unsigned other) const {
  const auto& requests = scoreboard_.requests();
  switch (memory_.order) {
    case MemoryOrder::kOldest:
      return requests[tag].issue_cycle < requests[other].issue_cycle;
    case MemoryOrder::kNewest:
      return requests[tag].issue_cycle > requests[other].issue_cycle;
    case MemoryOrder::kTurns:
      break;
  }
  const unsigned tags = parameters_.tags;
  return (tag + tags - turn_) % tags < (other + tags - turn_) % tags;
}

void StimulusDriver::memory(hca::Cycle n) {
  if (beat_of_ >= 0) {
    const auto tag = static_cast<unsigned>(beat_of_);
    const bool open = tag < parameters_.tags && scoreboard_.requests()[tag].used &&
                      scoreboard_.requests()[tag].issued && !scoreboard_.requests()[tag].ended;
    if (open) send_beat(tag, n);
    return;
  }
  if (fault_ == static_cast<int>(BeatFault::kUnknownTag)) return send_unknown();
  int chosen = -1;
  for (unsigned tag = 0; tag < parameters_.tags; ++tag) {
    if (!due(tag, n)) continue;
    if (chosen < 0 || before(tag, static_cast<unsigned>(chosen))) chosen = static_cast<int>(tag);
  }
  if (chosen >= 0) send_beat(static_cast<unsigned>(chosen), n);
}

void StimulusDriver::send_beat(unsigned tag, hca::Cycle n) {
  const Scoreboard::Request& r = scoreboard_.requests()[tag];
  DmaBeat& beat = in_.dma_rsp;
  in_.dma_rsp_valid = true;
  beat.tag = static_cast<std::uint8_t>(tag);
  beat.data = scoreboard_.read(r.address + std::uint64_t{r.received} * kBeatBytes);
  beat.last = r.received + 1 >= r.expected;
  beat.error = false;
  turn_ = (tag + 1) % parameters_.tags;
  paused_[tag] = n + memory_.gap + 1;
  if (fault_ < 0) return;
  const auto fault = static_cast<BeatFault>(fault_);
  fault_ = -1;
  beat.error = fault == BeatFault::kError || fault == BeatFault::kErrorLast;
  beat.last = fault == BeatFault::kErrorLast || fault == BeatFault::kShort;
}

// The highest tag that no request has, or one that can have none.
void StimulusDriver::send_unknown() {
  fault_ = -1;
  unsigned tag = parameters_.tags;
  for (unsigned i = parameters_.tags; i-- > 0 && tag == parameters_.tags;) {
    const Scoreboard::Request& r = scoreboard_.requests()[i];
    if (!r.used || r.ended) tag = i;
  }
  if (tag > 63) return;  // a tag has six bits
  in_.dma_rsp_valid = true;
  in_.dma_rsp.tag = static_cast<std::uint8_t>(tag);
  in_.dma_rsp.last = true;
  in_.dma_rsp.error = false;
  in_.dma_rsp.data.fill(0xDD);
}

void StimulusDriver::drain() {
  memory_ = {};
  fault_ = -1;
  ready_ = {};
  std::fill(delays_.begin(), delays_.end(), 0U);
}

}  // namespace hcasim::sim::cosim
