// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Operations at the pace of one side.
#include "sim/cosim/order_run.hpp"

#include <algorithm>

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

/// A side that says so for this many cycles is at rest.
constexpr hca::Cycle kRest = 4;
/// A side that does nothing for this many cycles is so too: idle is 0 while the buffer is full.
constexpr hca::Cycle kSilence = 300;
/// A side that is never at rest is not waited for any longer.
constexpr hca::Cycle kPatience = 20'000;

}  // namespace

OrderRun::OrderRun(const Side& side, const Parameters& parameters)
    : unit_(side.make(parameters)), scoreboard_(*unit_), driver_(parameters, scoreboard_) {
  scoreboard_.follow_handshakes();
}

void OrderRun::run(std::span<const Operation> operations) {
  for (const Operation& operation : operations) perform(operation);
  settle();
}

// Takes may overlap each other and nothing else, for all the rest can change what they get.
void OrderRun::perform(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kWait:
    case OperationKind::kReady:
    case OperationKind::kFault:
    case OperationKind::kBeat:
      return;
    case OperationKind::kTake:
      for (hca::Cycle i = 0; driver_.take_offered() && i < kPatience; ++i) step(nullptr);
      step(&operation);
      return;
    default:
      settle();
      step(&operation);
      settle();
  }
}

void OrderRun::step(const Operation* operation) {
  const Outputs now = unit_->outputs();
  driver_.begin(now);
  if (operation != nullptr) driver_.apply(*operation);
  const Inputs& in = driver_.finish(cycle_);
  unit_->step(cycle_, in);
  scoreboard_.cycle(cycle_, in, now, unit_->outputs());
  note(in, now);
  quiet_ = any_handshake(in, now) ? 0 : quiet_ + 1;
  resting_ = resting() ? resting_ + 1 : 0;
  ++cycle_;
}

bool OrderRun::offering() const {
  return driver_.take_offered() || driver_.doorbell_offered() || driver_.command_offered();
}

bool OrderRun::resting() const {
  const Outputs& out = unit_->outputs();
  const auto& requests = scoreboard_.requests();
  return out.idle && !shows(out) && !scoreboard_.command_busy() &&
         std::none_of(requests.begin(), requests.end(),
                      [](const Scoreboard::Request& r) { return r.used; });
}

void OrderRun::settle() {
  resting_ = quiet_ = 0;
  // A take of a PAUSED queue may fill the unit: what is offered then is never accepted.
  for (hca::Cycle i = 0; i < kPatience; ++i) {
    step(nullptr);
    if (quiet_ >= kSilence || (resting_ >= kRest && !offering())) return;
  }
}

void OrderRun::note(const Inputs& in, const Outputs& now) {
  if (in.take_valid && now.take_ready) queue_of_take_[in.take.tag] = in.take.queue;
  if (in.cmd_valid && now.cmd_ready) queue_of_command_ = in.cmd.queue;
  const auto add = [&](OutputPort port, std::uint32_t queue, auto set) {
    Entry entry{cycle_, {}};
    set(entry.shown);
    log_[{port, queue}].push_back(entry);
  };
  if (now.take_rsp_valid && in.take_rsp_ready) {
    add(OutputPort::kTakeRsp, queue_of_take_[now.take_rsp.tag], [&](Outputs& shown) {
      shown.take_rsp_valid = true;
      shown.take_rsp = now.take_rsp;
    });
  }
  if (now.cmd_rsp_valid && in.cmd_rsp_ready) {
    add(OutputPort::kCmdRsp, queue_of_command_, [&](Outputs& shown) {
      shown.cmd_rsp_valid = true;
      shown.cmd_rsp = now.cmd_rsp;
      shown.cmd_rsp.snapshot.fetch = 0;  // how far it looked ahead is its own affair
    });
  }
  if (now.event_valid && in.event_ready) {
    add(OutputPort::kEvent, now.event.queue, [&](Outputs& shown) {
      shown.event_valid = true;
      shown.event = now.event;
    });
  }
}

}  // namespace hcasim::sim::cosim
