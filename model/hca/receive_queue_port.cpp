// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/receive_queue_port.hpp"

#include <algorithm>
#include <cstring>

#include "hca/doorbell_unit.hpp"
#include "hca/event_unit.hpp"
#include "hca/qp_control.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::hca {

ReceiveQueuePort::ReceiveQueuePort(Core& core, std::unique_ptr<ReceiveQueueUnit> unit)
    : Unit(core.engine, "receive_queue"),
      core_(core),
      unit_(std::move(unit)),
      dma_buffers_(unit_->parameters().tags),
      dma_bytes_(unit_->parameters().tags),
      qpn_of_(unit_->parameters().queues, kNone) {
  for (std::uint32_t i = unit_->parameters().queues; i-- > 0;) free_numbers_.push_back(i);
}

void ReceiveQueuePort::init(QueuePair& qp) {
  if (free_numbers_.empty()) fail("more receive queues than hca.device.max_qp");
  qp.rq_number = free_numbers_.back();
  free_numbers_.pop_back();
  qpn_of_[qp.rq_number] = qp.context.qpn;
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

void ReceiveQueuePort::command(QueuePair& qp, const hw::rq::Command& what) {
  PendingCommand pending{what, qp.context.qpn};
  pending.command.queue = qp.rq_number;
  commands_.push({pending, now()});
  wake();
}

bool ReceiveQueuePort::doorbell(std::uint32_t number, std::uint32_t head) {
  QueuePair* qp = core_.qp(number);
  if (qp == nullptr || !qp->receive.rq_ready) return false;
  ReceiveState& receive = qp->receive;
  const std::uint32_t size = qp->context.rq_size;
  if (head < size) {
    receive.rq_remaining +=
        head >= receive.rq_head ? head - receive.rq_head : head + size - receive.rq_head;
    receive.rq_head = head;
  }
  doorbells_.push({{qp->rq_number, static_cast<std::uint16_t>(std::min(head, 0xffffu))}, now()});
  wake();
  return true;
}

void ReceiveQueuePort::take(QueuePair& qp) {
  ++counters_.takes;
  takes_.push({{qp.rq_number, qp.context.qpn, hw::rq::TakeKind::kTake}, now()});
  wake();
}

void ReceiveQueuePort::publish_tail(const QueuePair& qp, std::uint32_t slot) {
  if (qp.context.tail_record == 0) return;
  hw::TailRecord record{};
  record.tail = slot + 1 == qp.context.rq_size ? 0 : slot + 1;
  ++counters_.tail_records;
  core_.dma.write(qp.context.tail_record, &record, sizeof record);
}

void ReceiveQueuePort::wake() {
  arrange(core_.clock.edge_after(now()));
}

// Sees to it that the unit is stepped at the edge `at`, or before.
void ReceiveQueuePort::arrange(hw::Time at) {
  if (next_step_ <= at) return;
  next_step_ = at;
  schedule(at, static_cast<std::uint64_t>(at));
}

void ReceiveQueuePort::on_event(std::uint64_t argument) {
  if (static_cast<hw::Time>(argument) != next_step_) return;  // an earlier step took its place
  next_step_ = hw::kNever;
  step(static_cast<Cycle>(now() / core_.clock.period()));
}

void ReceiveQueuePort::step(Cycle cycle) {
  ++counters_.steps;
  const hw::rq::Outputs& before = unit_->outputs();
  in_.take_valid = offered(takes_);
  in_.doorbell_valid = offered(doorbells_);
  in_.dma_rsp_valid = offered(beats_);
  // A command waits for the doorbells that reached the adapter before it.
  const bool command_waits =
      offered(commands_) && !(doorbells_.empty() && core_.doorbell->drained());
  in_.cmd_valid = offered(commands_) && !command_waits;
  if (in_.take_valid) in_.take = takes_.front().value;
  if (in_.doorbell_valid) in_.doorbell = doorbells_.front().value;
  if (in_.dma_rsp_valid) in_.dma_rsp = beats_.front().value;
  if (in_.cmd_valid) in_.cmd = commands_.front().value.command;
  if (in_.take_valid && before.take_ready) takes_.pop();
  if (in_.doorbell_valid && before.doorbell_ready) doorbells_.pop();
  if (in_.dma_rsp_valid) beats_.pop();
  if (in_.cmd_valid && before.cmd_ready) issued_.push(commands_.pop().value);

  handle_outputs(unit_->step(cycle, in_));

  const bool more = !takes_.empty() || !doorbells_.empty() || !beats_.empty() ||
                    !commands_.empty() || command_waits;
  const Cycle next = unit_->next_activity();
  if (more) {
    arrange(now() + core_.clock.period());
  } else if (next != kNoCycle) {
    arrange(static_cast<hw::Time>(next) * core_.clock.period());
  }
}

// All outputs are taken in the cycle in which they become valid: their consumers have room.
void ReceiveQueuePort::handle_outputs(const hw::rq::Outputs& out) {
  if (out.dma_req_valid) start_dma(out.dma_req);
  if (out.cmd_rsp_valid) on_answer(out.cmd_rsp);
  if (out.event_valid) on_unit_event(out.event);
  if (out.take_rsp_valid) on_take_beat(out.take_rsp);
}

void ReceiveQueuePort::start_dma(const hw::rq::DmaRequest& request) {
  dma_bytes_[request.tag] = request.bytes;
  core_.dma.read(request.address, dma_buffers_[request.tag].data(), request.bytes, *this,
                 request.tag);
}

void ReceiveQueuePort::on_dma_read(std::uint64_t token, bool error) {
  hw::rq::DmaBeat beat;
  beat.tag = static_cast<std::uint8_t>(token);
  beat.error = error;
  const std::uint32_t bytes = error ? hw::rq::kBeatBytes : dma_bytes_[token];
  for (std::uint32_t offset = 0; offset < bytes; offset += hw::rq::kBeatBytes) {
    const std::uint32_t length = std::min(hw::rq::kBeatBytes, bytes - offset);
    std::memcpy(beat.data.data(), dma_buffers_[token].data() + offset, length);
    beat.last = offset + hw::rq::kBeatBytes >= bytes;
    beats_.push({beat, now()});
  }
  wake();
}

void ReceiveQueuePort::on_take_beat(const hw::rq::TakeBeat& beat) {
  if (beat.status == hw::rq::TakeStatus::kOk) {
    std::memcpy(wqe_bytes_.data() + wqe_filled_, beat.wqe.data(), beat.wqe.size());
    wqe_filled_ += static_cast<std::uint32_t>(beat.wqe.size());
    if (!beat.last) return;
    const auto head = hw::load<hw::ReceiveWqe>(wqe_bytes_.data());
    taken_.wr_id = head.wr_id;
    taken_.slot = beat.slot;
    taken_.num_sge = std::min<std::uint32_t>(head.num_sge, hw::kMaxReceiveSge);
    taken_.length = 0;
    std::memcpy(taken_.sges.data(), wqe_bytes_.data() + sizeof head,
                taken_.num_sge * sizeof(hw::Sge));
    for (std::uint32_t i = 0; i < taken_.num_sge; ++i) taken_.length += taken_.sges[i].length;
  }
  wqe_filled_ = 0;
  core_.responder->taken(beat.tag, beat.status, taken_, beat.remaining);
}

void ReceiveQueuePort::on_answer(const hw::rq::CommandAnswer& answer) {
  const PendingCommand done = issued_.pop();
  QueuePair* qp = core_.qp(done.qpn);
  if (qp == nullptr) return;
  if (answer.status != hw::rq::CommandStatus::kOk) {
    fail("the receive-queue unit refused a command for QP " + std::to_string(done.qpn));
  }
  if (done.command.op == hw::rq::CommandOp::kInit) return;
  if (done.command.op == hw::rq::CommandOp::kInvalidate) {
    free_numbers_.push_back(qp->rq_number);
    qpn_of_[qp->rq_number] = kNone;
    qp->rq_number = kNoReceiveQueue;
    qp->receive.rq_ready = false;
  }
  // When a reset overtook the error, the queue has stopped only with the INVALIDATE that follows.
  const bool overtaken = done.command.op == hw::rq::CommandOp::kToError && qp->stop == Stop::kReset;
  if (!overtaken) core_.qp_control->queue_stopped(*qp, answer.snapshot.tail);
}

void ReceiveQueuePort::on_unit_event(const hw::rq::Event& event) {
  const std::uint32_t qpn = event.queue < qpn_of_.size() ? qpn_of_[event.queue] : kNone;
  QueuePair* qp = qpn == kNone ? nullptr : core_.qp(qpn);
  if (qp == nullptr) return;
  hw::Eqe eqe{};
  eqe.type = event.kind == hw::rq::EventKind::kSrqLimit ? hw::EqeType::kSrqLimit
                                                        : hw::EqeType::kReceiveQueueError;
  eqe.number = qpn;
  eqe.value =
      event.kind == hw::rq::EventKind::kSrqLimit ? event.value : unit_->snapshot(event.queue).tail;
  core_.event->raise(eqe);
  if (event.kind != hw::rq::EventKind::kSrqLimit) {
    core_.qp_control->fail(*qp, hw::WcStatus::kLocQpOpErr);
  }
}

}  // namespace hcasim::hca
