// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/receive_queue_port.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hca/doorbell_unit.hpp"
#include "hca/event_unit.hpp"
#include "hca/qp_control.hpp"
#include "hca/srq_control.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::hca {

namespace {

// Takes of a queue pair are tagged with its number, those of the driver with the shared queue's.
inline bool for_driver(const hw::rq::TakeBeat& beat) {
  return (beat.tag & hw::bar::kSrqBit) != 0;
}

}  // namespace

TooManyReceiveQueues::TooManyReceiveQueues(hw::Time at, const std::string& unit,
                                           std::uint32_t queues)
    : SimulationError(at, unit, "more receive queues than the unit has, " + std::to_string(queues)),
      queues_(queues) {}

ReceiveQueuePort::ReceiveQueuePort(Core& core, std::unique_ptr<ReceiveQueueUnit> unit)
    : Unit(core.engine, "receive_queue"),
      core_(core),
      unit_(std::move(unit)),
      out_(unit_->outputs()),
      dma_buffers_(unit_->parameters().tags),
      dma_bytes_(unit_->parameters().tags) {}

// The number given back last, or the lowest that was never used.
std::uint32_t ReceiveQueuePort::number_for(std::uint32_t owner) {
  if (!free_numbers_.empty()) {
    const std::uint32_t number = free_numbers_.back();
    free_numbers_.pop_back();
    owner_of_[number] = owner;
    return number;
  }
  if (owner_of_.size() == unit_->parameters().queues) {
    throw TooManyReceiveQueues(now(), name(), unit_->parameters().queues);
  }
  owner_of_.push_back(owner);
  return static_cast<std::uint32_t>(owner_of_.size() - 1);
}

void ReceiveQueuePort::init(QueuePair& qp) {
  qp.rq_number = number_for(qp.context.qpn);
  qp.receive.rq_ready = true;
  qp.receive.rq_head = qp.receive.rq_remaining = qp.context.rq_head;
  hw::rq::Command init;
  init.op = hw::rq::CommandOp::kInit;
  init.base = qp.context.rq_base;
  init.size = static_cast<std::uint16_t>(qp.context.rq_size);
  init.stride = static_cast<std::uint16_t>(qp.context.rq_stride);
  init.head = static_cast<std::uint16_t>(qp.context.rq_head);
  command(qp, init);
}

void ReceiveQueuePort::to_error(QueuePair& qp) {
  hw::rq::Command stop;
  stop.op = hw::rq::CommandOp::kToError;
  command(qp, stop);
}

void ReceiveQueuePort::invalidate(QueuePair& qp) {
  hw::rq::Command stop;
  stop.op = hw::rq::CommandOp::kInvalidate;
  command(qp, stop);
}

void ReceiveQueuePort::open(SharedQueue& srq) {
  srq.rq_number = number_for(srq.context.srqn);
}

void ReceiveQueuePort::close(SharedQueue& srq) {
  release(srq.rq_number);
}

void ReceiveQueuePort::command(QueuePair& qp, const hw::rq::Command& what) {
  PendingCommand pending{what, qp.context.qpn};
  pending.command.queue = qp.rq_number;
  issue(pending);
}

void ReceiveQueuePort::command(const SharedQueue& srq, hw::rq::Command what) {
  what.queue = srq.rq_number;
  issue({what, srq.context.srqn});
}

void ReceiveQueuePort::issue(const PendingCommand& pending) {
  catch_up();
  const Cycle next = next_cycle();
  add(commands_, pending, next);
  input_came(next, 0);
}

bool ReceiveQueuePort::doorbell(std::uint32_t number, std::uint32_t head) {
  QueuePair* qp = core_.qp(number);
  if (qp == nullptr || !qp->receive.rq_ready) return shared_doorbell(number, head);
  ReceiveState& receive = qp->receive;
  const std::uint32_t size = qp->context.rq_size;
  if (head < size) {
    receive.rq_remaining +=
        head >= receive.rq_head ? head - receive.rq_head : head + size - receive.rq_head;
    receive.rq_head = head;
  }
  post_doorbell(qp->rq_number, head);
  return true;
}

bool ReceiveQueuePort::shared_doorbell(std::uint32_t number, std::uint32_t head) {
  const SharedQueue* srq = core_.contexts.srq(number);
  if (srq == nullptr) return false;
  post_doorbell(srq->rq_number, head);
  return true;
}

inline void ReceiveQueuePort::post_doorbell(std::uint32_t number, std::uint32_t head) {
  catch_up();
  const hw::rq::Doorbell ring{number, static_cast<std::uint16_t>(std::min(head, 0xffffu))};
  const Cycle delay = doorbells_.empty() ? unit_->output_delay(ring) : 0;
  const Cycle next = next_cycle();
  add(doorbells_, ring, next);
  input_came(next, delay);
}

void ReceiveQueuePort::take(QueuePair& qp) {
  take({qp.rq_number, qp.context.qpn, hw::rq::TakeKind::kTake});
}

void ReceiveQueuePort::take(const hw::rq::Take& take) {
  ++counters_.takes;
  catch_up();
  const Cycle next = next_cycle();
  add(takes_, take, next);
  input_came(next, unit_->output_delay(take));
}

void ReceiveQueuePort::publish_tail(const QueuePair& qp, std::uint32_t slot) {
  if (qp.context.tail_record == 0) {
    if (qp.srq != nullptr) publish_tail(*qp.srq);
    return;
  }
  hw::TailRecord record{};
  record.tail = slot + 1 == qp.context.rq_size ? 0 : slot + 1;
  ++counters_.tail_records;
  core_.dma.write(qp.context.tail_record, &record, sizeof record);
}

void ReceiveQueuePort::publish_tail(const SharedQueue& srq) {
  if (srq.context.tail_record == 0) return;
  catch_up();
  hw::TailRecord record{};
  record.tail = unit_->snapshot(srq.rq_number).tail;
  ++counters_.tail_records;
  core_.dma.write(srq.context.tail_record, &record, sizeof record);
}

// Makes the steps of edges that are over. They show nothing, nor tell more of what will show.
void ReceiveQueuePort::catch_up() {
  if (due_ != kNoCycle && edge(due_) < now()) {
    run_until(static_cast<Cycle>((now() - 1) / core_.clock.period()));
  }
}

// No input can come for an edge before the next event.
void ReceiveQueuePort::settle() {
  const hw::Time next_event = engine().next_time();
  while (due_ < alarm_ && edge(due_) <= next_event) run_until(due_);
}

// The first edge after now, at which an input that is produced now is sampled.
Cycle ReceiveQueuePort::next_cycle() const {
  return static_cast<Cycle>(now() / core_.clock.period()) + 1;
}

// An input of cycle `next` came: sees to it that its effect is there in time.
void ReceiveQueuePort::input_came(Cycle next, Cycle output_delay) {
  due_ = std::min(due_, next);
  if (!commands_.empty() || !issued_.empty()) output_delay = 0;
  if (output_delay != kNoCycle) {
    arrange(next + output_delay);
  } else if (!may_be_late(next)) {
    arrange(next);
  }
}

// A node's time comes to rest at its last event: that of a step if it would be the last. It is not
// when this unit has another event to come, and looks again then.
bool ReceiveQueuePort::may_be_late(Cycle cycle) const {
  if (alarm_ != kNoCycle || reads_ != 0) return true;
  const hw::Time next_event = engine().next_time();
  return next_event > edge(cycle) && next_event != hw::kNever;
}

void ReceiveQueuePort::arrange(Cycle cycle) {
  if (alarm_ <= cycle) return;
  alarm_ = cycle;
  schedule(edge(cycle), cycle);
}

void ReceiveQueuePort::on_event(std::uint64_t argument) {
  if (argument != alarm_) return;  // an earlier one took its place
  alarm_ = kNoCycle;
  run_until(argument);
  look_ahead();
}

void ReceiveQueuePort::run_until(Cycle last) {
  static constexpr hw::rq::Inputs kNoInput;
  while (due_ <= last) {
    Cycle cycle = due_;
    const bool inputs = inputs_ != 0;
    if (inputs) offer(cycle);
    // While inputs wait there is something to be done in every cycle.
    const bool more = inputs_ != 0;
    const Cycle next = unit_->run(cycle, more ? cycle : last, inputs ? in_ : kNoInput);
    due_ = more ? cycle + 1 : next;
    if (hw::rq::shows(out_)) handle_outputs(cycle);
  }
}

// Arranges the next event after a step.
void ReceiveQueuePort::look_ahead() {
  if (due_ == kNoCycle) return;
  const bool alone = inputs_ == 0 && issued_.empty();
  const Cycle output = alone ? unit_->next_output() : output_with_inputs();
  if (output != kNoCycle) {
    arrange(output);
  } else if (!may_be_late(due_)) {
    arrange(due_);
  }
}

// The first cycle whose step may show an output. When several inputs wait, those behind the first
// are looked at again a cycle later.
Cycle ReceiveQueuePort::output_with_inputs() {
  if (!commands_.empty() || !issued_.empty()) return due_;
  Cycle delay = kNoCycle;
  if (!takes_.empty()) delay = std::min(delay, unit_->output_delay(takes_.front().value));
  if (!doorbells_.empty()) delay = std::min(delay, unit_->output_delay(doorbells_.front().value));
  if (!beats_.empty()) {
    const PendingBeat& beat = beats_.front().value;
    delay = std::min(delay, delay_of_beats(beat.tag, beat.error));
  }
  if (inputs_ > 1) delay = std::min<Cycle>(delay, 1);
  const Cycle by_input = delay == kNoCycle ? kNoCycle : due_ + delay;
  return std::min(by_input, unit_->next_output());
}

Cycle ReceiveQueuePort::delay_of_beats(std::uint8_t tag, bool error) const {
  const Cycle of_data = unit_->output_delay_of_beats(tag);
  return error ? std::min<Cycle>(of_data, 1) : of_data;
}

// Puts on the ports what waits for this cycle.
void ReceiveQueuePort::offer(Cycle cycle) {
  in_.take_valid = offered(takes_, cycle);
  in_.doorbell_valid = offered(doorbells_, cycle);
  in_.dma_rsp_valid = offered(beats_, cycle);
  in_.cmd_valid = !commands_.empty() && may_offer_command(cycle);
  if (in_.take_valid) {
    in_.take = takes_.front().value;
    if (out_.take_ready) drop(takes_);
  }
  if (in_.doorbell_valid) {
    in_.doorbell = doorbells_.front().value;
    if (out_.doorbell_ready) drop(doorbells_);
  }
  if (in_.dma_rsp_valid) load_beat();
  if (in_.cmd_valid) {
    in_.cmd = commands_.front().value.command;
    if (out_.cmd_ready) {
      issued_.push(commands_.front().value);
      drop(commands_);
    }
  }
}

// A command waits for the doorbells that reached the adapter before it.
bool ReceiveQueuePort::may_offer_command(Cycle cycle) {
  return offered(commands_, cycle) && doorbells_.empty() && core_.doorbell->drained();
}

void ReceiveQueuePort::load_beat() {
  const PendingBeat beat = beats_.front().value;
  drop(beats_);
  in_.dma_rsp.tag = beat.tag;
  in_.dma_rsp.last = beat.last;
  in_.dma_rsp.error = beat.error;
  std::memcpy(in_.dma_rsp.data.data(), dma_buffers_[beat.tag].data() + beat.offset,
              hw::rq::kBeatBytes);
}

// All outputs are taken in the cycle in which they become valid: their consumers have room.
void ReceiveQueuePort::handle_outputs(Cycle cycle) {
  if (edge(cycle) != now()) {
    fail("the receive-queue unit shows an output that it did not announce");
  }
  if (out_.dma_req_valid) start_dma(out_.dma_req);
  if (out_.cmd_rsp_valid) on_answer(out_.cmd_rsp);
  if (out_.event_valid) on_unit_event(out_.event);
  if (out_.take_rsp_valid) on_take_beat(out_.take_rsp);
}

void ReceiveQueuePort::start_dma(const hw::rq::DmaRequest& request) {
  dma_bytes_[request.tag] = request.bytes;
  ++reads_;
  core_.dma.read(request.address, dma_buffers_[request.tag].data(), request.bytes, *this,
                 request.tag);
}

void ReceiveQueuePort::on_dma_read(std::uint64_t token, bool error) {
  catch_up();
  --reads_;
  const auto tag = static_cast<std::uint8_t>(token);
  const Cycle delay = delay_of_beats(tag, error);
  const Cycle next = next_cycle();
  const std::uint32_t bytes = error ? hw::rq::kBeatBytes : dma_bytes_[tag];
  for (std::uint32_t offset = 0; offset < bytes; offset += hw::rq::kBeatBytes) {
    const bool last = offset + hw::rq::kBeatBytes >= bytes;
    add(beats_, {offset, tag, last, error}, next);
  }
  input_came(next, delay);
}

void ReceiveQueuePort::on_take_beat(const hw::rq::TakeBeat& beat) {
  if (beat.status != hw::rq::TakeStatus::kOk) {
    wqe_filled_ = 0;
    if (for_driver(beat)) return answer_driver(beat, {});
    return core_.responder->taken(beat.tag, beat.status, taken_, beat.remaining);
  }
  constexpr std::uint32_t kElementsInOneBeat =
      (hw::rq::kBeatBytes - sizeof(hw::ReceiveWqe)) / sizeof(hw::Sge);
  const bool whole = beat.last && wqe_filled_ == 0 &&
                     hw::load<hw::ReceiveWqe>(beat.wqe.data()).num_sge <= kElementsInOneBeat;
  if (whole) return deliver(beat.wqe, beat);
  std::memcpy(wqe_bytes_.data() + wqe_filled_, beat.wqe.data(), beat.wqe.size());
  wqe_filled_ += static_cast<std::uint32_t>(beat.wqe.size());
  if (!beat.last) return;
  deliver({wqe_bytes_.data(), std::exchange(wqe_filled_, 0)}, beat);
}

// Elements beyond the slot would be those of an earlier receive, perhaps of another queue.
void ReceiveQueuePort::deliver(std::span<const std::uint8_t> wqe, const hw::rq::TakeBeat& beat) {
  static_assert(sizeof(hw::ReceiveWqe) + hw::kMaxReceiveSge * sizeof(hw::Sge) ==
                hw::rq::kMaxStride);
  if (for_driver(beat)) return answer_driver(beat, wqe);
  const auto head = hw::load<hw::ReceiveWqe>(wqe.data());
  const std::size_t room = (wqe.size() - sizeof head) / sizeof(hw::Sge);
  taken_.wr_id = head.wr_id;
  taken_.slot = beat.slot;
  taken_.num_sge = static_cast<std::uint32_t>(std::min<std::size_t>(head.num_sge, room));
  taken_.length = 0;
  std::memcpy(taken_.sges.data(), wqe.data() + sizeof head, taken_.num_sge * sizeof(hw::Sge));
  for (std::uint32_t i = 0; i < taken_.num_sge; ++i) taken_.length += taken_.sges[i].length;
  core_.responder->taken(beat.tag, beat.status, taken_, beat.remaining);
}

void ReceiveQueuePort::on_answer(const hw::rq::CommandAnswer& answer) {
  const PendingCommand done = issued_.pop();
  if (SharedQueue* srq = core_.contexts.srq(done.owner)) {
    return core_.srq_control->answered(*srq, done.command, answer);
  }
  QueuePair* qp = core_.qp(done.owner);
  if (qp == nullptr) return;
  if (answer.status != hw::rq::CommandStatus::kOk) {
    fail("the receive-queue unit refused a command for QP " + std::to_string(done.owner));
  }
  if (done.command.op == hw::rq::CommandOp::kInit) return;
  if (done.command.op == hw::rq::CommandOp::kInvalidate) {
    release(qp->rq_number);
    qp->rq_number = kNoReceiveQueue;
    qp->receive.rq_ready = false;
  }
  // When a reset overtook the error, the queue has stopped only with the INVALIDATE that follows.
  const bool overtaken = done.command.op == hw::rq::CommandOp::kToError && qp->stop == Stop::kReset;
  if (!overtaken) core_.qp_control->queue_stopped(*qp, answer.snapshot.tail);
}

void ReceiveQueuePort::release(std::uint32_t number) {
  free_numbers_.push_back(number);
  owner_of_[number] = kNone;
}

void ReceiveQueuePort::on_unit_event(const hw::rq::Event& event) {
  const std::uint32_t owner = event.queue < owner_of_.size() ? owner_of_[event.queue] : kNone;
  QueuePair* qp = owner == kNone ? nullptr : core_.qp(owner);
  if (qp == nullptr && core_.contexts.srq(owner) == nullptr) return;
  const bool limit = event.kind == hw::rq::EventKind::kSrqLimit;
  hw::Eqe eqe{};
  eqe.type = limit ? hw::EqeType::kSrqLimit : hw::EqeType::kReceiveQueueError;
  eqe.number = owner;
  eqe.value = limit ? event.value : unit_->snapshot(event.queue).tail;
  core_.event->raise(eqe);
  if (!limit && qp != nullptr) core_.qp_control->fail(*qp, hw::WcStatus::kLocQpOpErr);
}

}  // namespace hcasim::hca
