// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/receive_queue_model.hpp"

#include <stdexcept>

namespace hcasim::hca {

using namespace hw::rq;

namespace {

const Parameters& checked(const Parameters& parameters) {
  if (!valid(parameters)) throw std::invalid_argument("receive-queue parameter out of range");
  return parameters;
}

}  // namespace

ReceiveQueueModel::ReceiveQueueModel(const Parameters& parameters)
    : parameters_(checked(parameters)),
      queues_(parameters.queues),
      waits_(parameters.takes),
      lines_(parameters.lines),
      events_(parameters.events),
      requests_(parameters.tags),
      free_tags_(parameters.tags == 64 ? ~std::uint64_t{0}
                                       : (std::uint64_t{1} << parameters.tags) - 1) {}

const Outputs& ReceiveQueueModel::step(Cycle cycle, const Inputs& in) {
  cycle_ = cycle;
  const bool doorbell_in = in.doorbell_valid && out_.doorbell_ready;
  const bool cmd_in = in.cmd_valid && out_.cmd_ready;
  const bool take_in = in.take_valid && out_.take_ready;
  const Doorbell* doorbell = !doorbells_.empty() ? &doorbells_.front()
                             : doorbell_in       ? &in.doorbell
                                                 : nullptr;
  const Selection selection = select(in, doorbell);
  fetch_chosen_ = false;
  // A tag that is chosen in this cycle is not known to a beat of this cycle.
  const bool beat_known = in.dma_rsp_valid && known(in.dma_rsp.tag) != nullptr;

  // The command is answered from the state at the start too, so before anything changes.
  if (out_.cmd_rsp_valid && in.cmd_rsp_ready) {
    out_.cmd_rsp_valid = false;
    command_.busy = false;
  } else if (command_.busy && !out_.cmd_rsp_valid && quiet()) {
    answer_command();
  }
  if (out_.dma_req_valid && in.dma_req_ready) out_.dma_req_valid = false;
  if (out_.event_valid && in.event_ready) events_.pop();

  // Each action sees the effects of those before it: the order is part of the contract.
  if (out_.take_rsp_valid && in.take_rsp_ready) accept_take_beat();
  if (selection.judged != kNone) judge(selection.judged);
  if (selection.fetch.kind != FetchChoice::kNothing) fetch_stage(selection.fetch);
  if (selection.failed_tag != kNone) enter_failed_event(selection.failed_tag);
  if (in.dma_rsp_valid) accept_beat(in.dma_rsp, beat_known);
  if (cmd_in) commands_.push({in.cmd, doorbells_.size() + (doorbell_in ? 1U : 0U)});
  if (doorbell != nullptr) doorbell_stage(in, doorbell_in, selection.event_room);
  if (!commands_.empty()) command_stage(selection.command_free);
  if (take_in) accept_take(in.take);

  cmd_rsp_ready_ = in.cmd_rsp_ready;
  dma_req_ready_ = in.dma_req_ready;
  take_rsp_ready_ = in.take_rsp_ready;
  event_ready_ = in.event_ready;
  note_waits();
  update_ports();
  return out_;
}

void ReceiveQueueModel::update_ports() {
  out_.doorbell_ready = doorbells_.ready();
  out_.cmd_ready = commands_.ready();
  out_.take_ready = outstanding_takes_ < parameters_.takes;
  out_.event_valid = !events_.empty();
  if (out_.event_valid) out_.event = events_.front();
  out_.idle = doorbells_.empty() && commands_.empty() && !command_.busy && !out_.cmd_rsp_valid &&
              !out_.dma_req_valid && !out_.take_rsp_valid && !out_.event_valid &&
              failed_tags_ == 0 && waits_.answerable == 0 && fetch_fifo_.empty();
}

Cycle ReceiveQueueModel::next_activity() const {
  if (out_.idle) return kNoCycle;
  const bool command = out_.cmd_rsp_valid ? cmd_rsp_ready_
                       : command_.busy    ? quiet()
                                          : !commands_.empty();
  const bool take_rsp = out_.take_rsp_valid ? take_rsp_ready_ : waits_.answerable != 0;
  const bool event = out_.event_valid ? event_ready_ : false;
  const bool failed = failed_tags_ != 0 && !events_.full();
  if (command || take_rsp || event || failed || !doorbells_.empty()) return cycle_ + 1;
  const bool dma_req =
      out_.dma_req_valid ? dma_req_ready_ : next_fetch().kind != FetchChoice::kNothing;
  return dma_req ? cycle_ + 1 : kNoCycle;
}

Snapshot ReceiveQueueModel::snapshot(std::uint32_t queue) const {
  return snapshot_of(find(queue));
}

}  // namespace hcasim::hca
