// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Doorbells, events and commands: what software tells the unit and what it is told.
#include <algorithm>
#include <bit>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::hca {

using namespace hw::rq;

void ReceiveQueueModel::raise(std::uint32_t queue, EventKind kind, std::uint32_t value) {
  events_.push({queue, kind, value});
  control_ = true;
  switch (kind) {
    case EventKind::kSrqLimit:
      ++counters_.limit_events;
      break;
    case EventKind::kBadDoorbell:
      ++counters_.bad_doorbells;
      break;
    case EventKind::kFetchError:
      ++counters_.fetch_error_events;
      break;
  }
}

void ReceiveQueueModel::leave(RqQueue& queue, QueueState state, const Request* failed) {
  if (state != QueueState::kPaused) flush_takes(queue, failed);
  drop_buffered(queue);
  queue.state = state;
  refresh(queue);
}

void ReceiveQueueModel::doorbell_stage(const Inputs& in, const Arrivals& a) {
  const bool passes = doorbells_.empty();
  const bool accepted = ring(*a.doorbell, a.event_room);
  if (accepted) {
    ++counters_.doorbells;
    if (!passes) doorbells_.pop();
    for (unsigned i = 0; i < commands_.size(); ++i) {
      if (commands_[i].doorbells_before != 0) --commands_[i].doorbells_before;
    }
  }
  if (a.doorbell_in && !(passes && accepted)) {
    doorbells_.push(in.doorbell);
    control_ = true;
  }
}

// False when the doorbell is bad and its event cannot enter: it then has no effect at all.
bool ReceiveQueueModel::ring(const Doorbell& doorbell, bool event_room) {
  RqQueue* const queue = find(doorbell.queue);
  const QueueState state = queue == nullptr ? QueueState::kInvalid : queue->state;
  if (state == QueueState::kError) return true;
  if (state == QueueState::kReady && !bad_head(*queue, queue->tail, doorbell.head)) {
    queue->head = doorbell.head;
    refresh(*queue);
    enter_fifo(*queue);
    return true;
  }
  if (!event_room) return false;
  if (state != QueueState::kInvalid) leave(*queue, QueueState::kError, nullptr);
  raise(doorbell.queue, EventKind::kBadDoorbell, doorbell.head);
  return true;
}

// The command is answered from the state at the start, so before anything changes.
void ReceiveQueueModel::serve_outputs(const Inputs& in) {
  if (out_.cmd_rsp_valid && in.cmd_rsp_ready) {
    out_.cmd_rsp_valid = false;
    command_.busy = false;
  } else if (command_.busy && !out_.cmd_rsp_valid && quiet()) {
    answer_command();
  }
  if (out_.event_valid && in.event_ready) events_.pop();
}

// What of commands, events and buffered doorbells the next cycle shows.
void ReceiveQueueModel::show_control() {
  out_.doorbell_ready = doorbells_.ready();
  out_.cmd_ready = commands_.ready();
  out_.event_valid = !events_.empty();
  if (out_.event_valid) out_.event = events_.front();
  control_ = !doorbells_.empty() || !commands_.empty() || command_.busy || out_.event_valid ||
             failed_tags_ != 0;
}

bool ReceiveQueueModel::control_acts(const Inputs& in) const {
  const bool command = out_.cmd_rsp_valid ? in.cmd_rsp_ready
                       : command_.busy    ? quiet()
                                          : !commands_.empty();
  const bool event = out_.event_valid && in.event_ready;
  const bool failed = failed_tags_ != 0 && !events_.full();
  return command || event || failed || !doorbells_.empty();
}

bool ReceiveQueueModel::quiet() const {
  const bool requests =
      command_.needs_requests_quiet && command_.queue != nullptr && command_.queue->requests != 0;
  return !requests && command_.earlier_takes == 0;
}

void ReceiveQueueModel::answer_command() {
  out_.cmd_rsp_valid = true;
  out_.cmd_rsp.status = command_.status;
  out_.cmd_rsp.snapshot = snapshot_of(command_.queue);
}

Snapshot ReceiveQueueModel::snapshot_of(const RqQueue* queue) {
  if (queue == nullptr || queue->state == QueueState::kInvalid) return {};
  return {queue->state, queue->size, queue->head, queue->fetch, queue->tail, queue->limit};
}

void ReceiveQueueModel::buffer_command(const Command& command, bool doorbell_in) {
  commands_.push({command, doorbells_.size() + (doorbell_in ? 1U : 0U)});
  control_ = true;
}

void ReceiveQueueModel::command_stage(bool free) {
  if (!free || commands_[0].doorbells_before != 0) return;
  start_command(commands_[0].command);
  commands_.pop();
}

void ReceiveQueueModel::start_command(const Command& command) {
  ++counters_.commands;
  const bool exists = command.queue < parameters_.queues;
  RqQueue* queue = exists ? queues_.find(command.queue) : nullptr;
  command_ = CommandRegister{};
  command_.busy = true;
  command_.status = check(command, queue);
  command_.queue = queue;
  if (command_.status != CommandStatus::kOk) return;
  const bool ends = command.op == CommandOp::kToError || command.op == CommandOp::kInvalidate;
  command_.needs_requests_quiet = ends || command.op == CommandOp::kPause;
  if (ends) command_.earlier_takes = count_earlier_takes(command.queue);
  if (command.op == CommandOp::kInit) command_.queue = &queues_.make(command.queue);
  if (command_.queue != nullptr) execute(command, *command_.queue);
}

namespace {

bool good_ring(const Command& c, std::uint32_t stride) {
  const std::uint32_t alignment = std::max(kBeatBytes, stride);
  return c.size != 0 && c.head < c.size && c.base % alignment == 0;
}

bool good_stride(std::uint32_t stride) {
  return stride >= kMinStride && stride <= kMaxStride && std::has_single_bit(stride);
}

bool allowed(CommandOp op, QueueState state) {
  switch (op) {
    case CommandOp::kInit:
      return state == QueueState::kInvalid;
    case CommandOp::kSetLimit:
      return state == QueueState::kReady || state == QueueState::kPaused;
    case CommandOp::kPause:
      return state == QueueState::kReady;
    case CommandOp::kResume:
      return state == QueueState::kPaused;
    case CommandOp::kToError:
      return state != QueueState::kInvalid;
    case CommandOp::kInvalidate:
    case CommandOp::kQuery:
      return true;
  }
  return false;
}

}  // namespace

CommandStatus ReceiveQueueModel::check(const Command& c, const RqQueue* queue) const {
  if (c.queue >= parameters_.queues) return CommandStatus::kBadQueue;
  if (c.op > CommandOp::kQuery) return CommandStatus::kBadArgument;
  const QueueState state = queue == nullptr ? QueueState::kInvalid : queue->state;
  if (!allowed(c.op, state)) return CommandStatus::kBadState;
  bool good = true;
  if (c.op == CommandOp::kInit) good = good_stride(c.stride) && good_ring(c, c.stride);
  if (c.op == CommandOp::kResume) good = good_ring(c, queue->stride()) && c.tail < c.size;
  return good ? CommandStatus::kOk : CommandStatus::kBadArgument;
}

// Takes of the queue whose answers were not accepted yet, marked so that they can be counted down.
unsigned ReceiveQueueModel::count_earlier_takes(std::uint32_t id) {
  unsigned count = 0;
  if (out_.take_rsp_valid && answer_.id == id) {
    answer_.counted = true;
    ++count;
  }
  for (std::uint64_t rest = waits_.used(); rest != 0; rest &= rest - 1) {
    WaitEntry& entry = waits_[static_cast<unsigned>(std::countr_zero(rest))];
    if (entry.id != id) continue;
    entry.counted = true;
    ++count;
  }
  return count;
}

void ReceiveQueueModel::execute(const Command& c, RqQueue& queue) {
  switch (c.op) {
    case CommandOp::kInit:
      queue.stride_log2 = static_cast<std::uint8_t>(std::countr_zero(c.stride));
      queue.limit = 0;
      queue.arm = 0;
      load_ring(queue, c, 0);
      break;
    case CommandOp::kSetLimit:
      queue.limit = c.limit;
      queue.arm = c.arm;
      break;
    case CommandOp::kPause:
      leave(queue, QueueState::kPaused, nullptr);
      break;
    case CommandOp::kResume:
      load_ring(queue, c, c.tail);
      break;
    case CommandOp::kToError:
      leave(queue, QueueState::kError, nullptr);
      break;
    case CommandOp::kInvalidate:
      leave(queue, QueueState::kInvalid, nullptr);
      break;
    case CommandOp::kQuery:
      break;
  }
}

void ReceiveQueueModel::load_ring(RqQueue& queue, const Command& c, std::uint16_t tail) {
  queue.base = c.base;
  queue.size = c.size;
  queue.head = c.head;
  queue.tail = queue.fetch = tail;
  queue.state = QueueState::kReady;
  refresh(queue);
  enter_fifo(queue);
}

}  // namespace hcasim::hca
