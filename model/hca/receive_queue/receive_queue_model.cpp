// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/receive_queue_model.hpp"

#include <bit>
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

const Outputs& ReceiveQueueModel::step(Cycle cycle, const Inputs& inputs) {
  run(cycle, cycle, inputs);
  return out_;
}

Cycle ReceiveQueueModel::run(Cycle& cycle, Cycle last, const Inputs& inputs) {
  static constexpr Inputs kNoInput;
  run_cycle(cycle, inputs, control_ || any_valid(inputs));
  while (acts_ && cycle_ < last && !shows(out_)) run_cycle(cycle_ + 1, kNoInput, control_);
  cycle = cycle_;
  return acts_ ? cycle + 1 : kNoCycle;
}

Cycle ReceiveQueueModel::next_activity() const {
  return acts_ || request_leaves_ ? cycle_ + 1 : kNoCycle;
}

[[gnu::always_inline]] inline void ReceiveQueueModel::run_cycle(Cycle cycle, const Inputs& in,
                                                                bool stirred) {
  cycle_ = cycle;
  // First everything is chosen from the state at the start.
  const Arrivals arrivals = stirred ? look_at(in) : Arrivals{};
  const bool take_rsp_free = !out_.take_rsp_valid || (in.take_rsp_ready && answer_.beats_left == 0);
  const bool judges = waits_.answerable != 0 && take_rsp_free;
  const unsigned judged = judges ? choose_take(in) : kNone;
  const bool dma_req_free = !out_.dma_req_valid || in.dma_req_ready;
  const bool fetches = dma_req_free && fetch_possible();
  fetch_chosen_ = false;

  // Each action sees the effects of those before it: the order is part of the contract.
  if (control_) serve_outputs(in);
  if (dma_req_free) out_.dma_req_valid = false;
  if (out_.take_rsp_valid && in.take_rsp_ready) accept_take_beat();
  if (judged != kNone) judge(judged);
  if (fetches) fetch_stage(next_fetch_);
  if (stirred) accept(in, arrivals);

  if ((waits_.waiting & ~waits_.waited) != 0) note_waits();
  if (control_) show_control();
  out_.idle = !control_ && !out_.dma_req_valid && !out_.take_rsp_valid && waits_.answerable == 0 &&
              fetch_fifo_.empty();
  request_leaves_ = out_.dma_req_valid && in.dma_req_ready;
  acts_ = acts(in);
}

// Whether the next cycle does more than let a request go, if no input comes and the readys stay.
inline bool ReceiveQueueModel::acts(const Inputs& in) const {
  if (out_.take_rsp_valid ? in.take_rsp_ready : waits_.answerable != 0) return true;
  if ((!out_.dma_req_valid || in.dma_req_ready) && fetch_possible()) return true;
  return control_ && control_acts(in);
}

ReceiveQueueModel::Arrivals ReceiveQueueModel::look_at(const Inputs& in) const {
  Arrivals a;
  a.take_in = in.take_valid && out_.take_ready;
  a.doorbell_in = in.doorbell_valid && out_.doorbell_ready;
  if (a.doorbell_in) a.doorbell = &in.doorbell;
  // A tag that is chosen in this cycle is not known to a beat of this cycle.
  a.beat_known = in.dma_rsp_valid && known(in.dma_rsp.tag) != nullptr;
  if (!control_) return a;
  if (!doorbells_.empty()) a.doorbell = &doorbells_.front();
  a.command_free = !command_.busy;
  a.event_room = failed_tags_ == 0 && !events_.full();
  if (!events_.full()) a.failed_tags = failed_tags_;
  return a;
}

void ReceiveQueueModel::accept(const Inputs& in, const Arrivals& a) {
  if (a.failed_tags != 0)
    enter_failed_event(static_cast<unsigned>(std::countr_zero(a.failed_tags)));
  if (in.dma_rsp_valid) accept_beat(in.dma_rsp, a.beat_known);
  if (in.cmd_valid && out_.cmd_ready) buffer_command(in.cmd, a.doorbell_in);
  if (a.doorbell != nullptr) doorbell_stage(in, a);
  if (!commands_.empty()) command_stage(a.command_free);
  if (a.take_in) accept_take(in.take);
}

Snapshot ReceiveQueueModel::snapshot(std::uint32_t queue) const {
  return snapshot_of(find(queue));
}

}  // namespace hcasim::hca
