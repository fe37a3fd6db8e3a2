// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/srq_control.hpp"

#include "hca/receive_queue_port.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::hca {

namespace {

using hw::rq::CommandOp;
using hw::rq::kMaxRingSlots;

hw::CommandStatus status_of(hw::rq::CommandStatus status) {
  switch (status) {
    case hw::rq::CommandStatus::kOk:
      return hw::CommandStatus::kOk;
    case hw::rq::CommandStatus::kBadState:
      return hw::CommandStatus::kBadState;
    case hw::rq::CommandStatus::kBadQueue:
      return hw::CommandStatus::kBadObject;
    case hw::rq::CommandStatus::kBadArgument:
      break;
  }
  return hw::CommandStatus::kBadParameter;
}

// The fields fit into those of the unit, which checks the rest.
bool fits(const hw::SrqContext& context) {
  return context.size <= kMaxRingSlots && context.head <= kMaxRingSlots &&
         context.tail <= kMaxRingSlots && context.limit <= kMaxRingSlots &&
         context.stride <= hw::rq::kMaxStride;
}

hw::rq::Command ring(CommandOp op, const hw::SrqContext& context) {
  hw::rq::Command command;
  command.op = op;
  command.base = context.base;
  command.size = static_cast<std::uint16_t>(context.size);
  command.stride = static_cast<std::uint16_t>(context.stride);
  command.head = static_cast<std::uint16_t>(context.head);
  command.tail = static_cast<std::uint16_t>(context.tail);
  return command;
}

hw::rq::Command limit(const hw::SrqContext& context) {
  hw::rq::Command command;
  command.op = CommandOp::kSetLimit;
  command.limit = static_cast<std::uint16_t>(context.limit);
  command.arm = context.arm_number;
  return command;
}

hw::rq::Command plain(CommandOp op) {
  hw::rq::Command command;
  command.op = op;
  return command;
}

}  // namespace

hw::CommandStatus SrqControl::create(const hw::SrqContext& context) {
  const std::uint32_t number = context.srqn & hw::bar::kNumberMask;
  if (context.srqn != (number | hw::bar::kSrqBit) || !fits(context)) {
    return hw::CommandStatus::kBadParameter;
  }
  if (core_.contexts.srqs.size() >= core_.parameters.device.max_srq) {
    return hw::CommandStatus::kNoResources;
  }
  SharedQueue* srq = core_.contexts.srqs.create(number);
  if (srq == nullptr) return hw::CommandStatus::kBadObject;
  srq->context = context;
  core_.receive_queue->open(*srq);
  then_.reset();
  if (context.limit != 0) then_ = limit(context);
  core_.receive_queue->command(*srq, ring(CommandOp::kInit, context));
  return hw::CommandStatus::kPending;
}

hw::CommandStatus SrqControl::modify(std::uint32_t srqn, const hw::SrqContext& context,
                                     std::uint32_t mask) {
  SharedQueue* srq = core_.contexts.srq(srqn);
  if (srq == nullptr) return hw::CommandStatus::kBadObject;
  then_.reset();
  if (mask == hw::kSrqPause) {
    core_.receive_queue->command(*srq, plain(CommandOp::kPause));
    return hw::CommandStatus::kPending;
  }
  constexpr std::uint32_t kBoth = hw::kSrqRing | hw::kSrqLimit;
  if (mask == 0 || (mask & ~kBoth) != 0 || !fits(context)) return hw::CommandStatus::kBadParameter;
  if (mask == kBoth) then_ = limit(context);
  core_.receive_queue->command(
      *srq, (mask & hw::kSrqRing) != 0 ? ring(CommandOp::kResume, context) : limit(context));
  return hw::CommandStatus::kPending;
}

hw::CommandStatus SrqControl::query(std::uint32_t srqn) {
  SharedQueue* srq = core_.contexts.srq(srqn);
  if (srq == nullptr) return hw::CommandStatus::kBadObject;
  then_.reset();
  core_.receive_queue->command(*srq, plain(CommandOp::kQuery));
  return hw::CommandStatus::kPending;
}

hw::CommandStatus SrqControl::destroy(std::uint32_t srqn) {
  SharedQueue* srq = core_.contexts.srq(srqn);
  if (srq == nullptr) return hw::CommandStatus::kBadObject;
  if (srq->users != 0) return hw::CommandStatus::kBadState;
  then_.reset();
  core_.receive_queue->command(*srq, plain(CommandOp::kInvalidate));
  return hw::CommandStatus::kPending;
}

void SrqControl::take_over(SharedQueue& srq, const hw::rq::Command& command) {
  if (command.op == CommandOp::kSetLimit) srq.context.arm_number = command.arm;
  if (command.op != CommandOp::kResume) return;
  srq.context.base = command.base;
  srq.context.size = command.size;
  // Behind whatever was said of the old ring, and before the driver hears that the new one is used.
  core_.receive_queue->publish_tail(srq);
}

void SrqControl::answered(SharedQueue& srq, const hw::rq::Command& command,
                          const hw::rq::CommandAnswer& answer) {
  const bool good = answer.status == hw::rq::CommandStatus::kOk;
  if (good) take_over(srq, command);
  if (good && then_) {
    core_.receive_queue->command(srq, *then_);
    then_.reset();
    return;
  }
  hw::SrqContext now = srq.context;
  now.head = answer.snapshot.head;
  now.tail = answer.snapshot.tail;
  now.limit = answer.snapshot.limit;
  const bool gone =
      command.op == CommandOp::kInvalidate || (command.op == CommandOp::kInit && !good);
  if (gone) {
    core_.receive_queue->close(srq);
    core_.contexts.srqs.destroy(now.srqn & hw::bar::kNumberMask);
  }
  listener_->srq_done(status_of(answer.status), now);
}

}  // namespace hcasim::hca
