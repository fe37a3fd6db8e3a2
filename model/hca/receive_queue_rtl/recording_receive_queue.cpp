// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/recording_receive_queue.hpp"

#include <algorithm>
#include <utility>

namespace hcasim::hca {

namespace {

using hw::rq::Command;
using hw::rq::CommandOp;

// Longer than a unit at rest could need for anything, and short enough to be replayed.
constexpr Cycle kLongestSilence = 1000;
// What one `wait` may say.
constexpr Cycle kLongestWait = 1'000'000;

std::string field(const char* name, std::uint64_t value) {
  return ' ' + (name + ('=' + std::to_string(value)));
}

// Rings of a replay lie in 2 GiB of each queue: whole pages keep their borders.
std::uint64_t offset_of(std::uint64_t base) {
  return base & 0x7fffffffU;
}

std::string ring(const Command& c) {
  return field("queue", c.queue) + field("size", c.size) + field("stride", c.stride) +
         field("head", c.head);
}

// Commands that give a ring as it is are written in full.
std::string text_of(const Command& c) {
  switch (c.op) {
    case CommandOp::kInit:
      return "init" + ring(c) + field("offset", offset_of(c.base));
    case CommandOp::kSetLimit:
      return "set_limit" + field("queue", c.queue) + field("limit", c.limit) + field("arm", c.arm);
    case CommandOp::kPause:
      return "pause" + field("queue", c.queue);
    case CommandOp::kToError:
      return "to_error" + field("queue", c.queue);
    case CommandOp::kInvalidate:
      return "invalidate" + field("queue", c.queue);
    case CommandOp::kQuery:
      return "query" + field("queue", c.queue);
    default:
      return "command" + field("op", static_cast<unsigned>(c.op)) + ring(c) +
             field("tail", c.tail) + field("limit", c.limit) + field("arm", c.arm) +
             field("offset", offset_of(c.base));
  }
}

}  // namespace

std::string stimulus_head(const hw::rq::Parameters& p) {
  return "hcasim-receive-queue-stimulus 1\nparameters" + field("queues", p.queues) +
         field("takes", p.takes) + field("prefetch", p.prefetch) + field("tags", p.tags) +
         field("fetch_bytes", p.fetch_bytes) + field("lines", p.lines) + field("events", p.events) +
         "\n# Memory sends the beats that are named, and no others.\n" +
         "memory delay=1000000 gap=1000000 order=oldest\n";
}

RecordingReceiveQueue::RecordingReceiveQueue(std::unique_ptr<ReceiveQueueUnit> unit, Sink& sink)
    : unit_(std::move(unit)), sink_(sink) {}

const hw::rq::Outputs& RecordingReceiveQueue::step(Cycle cycle, const hw::rq::Inputs& inputs) {
  if (next_activity() == kNoCycle && cycle > stepped_ + kLongestSilence) {
    recorded_ += cycle - stepped_ - kLongestSilence;
  }
  if (hw::rq::any_valid(inputs)) {
    wait_until(cycle);
    record(inputs);
  }
  const hw::rq::Outputs& now = outputs();
  cmd_waits_ = inputs.cmd_valid && !now.cmd_ready;
  doorbell_waits_ = inputs.doorbell_valid && !now.doorbell_ready;
  take_waits_ = inputs.take_valid && !now.take_ready;
  stepped_ = cycle + 1;
  return unit_->step(cycle, inputs);
}

void RecordingReceiveQueue::wait_until(Cycle cycle) {
  while (recorded_ < cycle) {
    const Cycle cycles = std::min(cycle - recorded_, kLongestWait);
    sink_.line("wait" + field("cycles", cycles));
    recorded_ += cycles;
  }
}

// What waits since an earlier cycle was written down then.
void RecordingReceiveQueue::record(const hw::rq::Inputs& in) {
  if (in.cmd_valid && !cmd_waits_) {
    sink_.queue(in.cmd.queue);
    sink_.line(text_of(in.cmd));
  }
  if (in.doorbell_valid && !doorbell_waits_) {
    sink_.line("doorbell" + field("queue", in.doorbell.queue) + field("head", in.doorbell.head));
  }
  if (in.take_valid && !take_waits_) {
    const bool peek = in.take.kind == hw::rq::TakeKind::kPeek;
    sink_.line((peek ? "peek" : "take") + field("queue", in.take.queue));
  }
  if (in.dma_rsp_valid) {
    if (in.dma_rsp.error) sink_.line("fault kind=error");
    sink_.line("beat" + field("tag", in.dma_rsp.tag));
  }
}

}  // namespace hcasim::hca
