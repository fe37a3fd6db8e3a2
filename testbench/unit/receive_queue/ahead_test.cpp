// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the model says of its outputs ahead of time holds: no output shows in a cycle before the one
// that was announced, when the last of what was announced came, or by an input since.
#include <gtest/gtest.h>

#include <algorithm>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "support/receive_queue/scoreboard.hpp"
#include "support/receive_queue/stimulus.hpp"

namespace hcasim::testbench {
namespace {

using hca::Cycle;
using hca::kNoCycle;
using hca::ReceiveQueueModel;
using hw::rq::Inputs;
using hw::rq::Outputs;

bool shows(const Outputs& out) {
  return out.cmd_rsp_valid || out.dma_req_valid || out.take_rsp_valid || out.event_valid;
}

// The first cycle whose step may show an output because of the inputs of cycle `n`.
Cycle announced_by(const ReceiveQueueModel& model, const Inputs& in, const Outputs& now, Cycle n) {
  Cycle first = kNoCycle;
  const auto within = [&](Cycle delay) {
    if (delay != kNoCycle) first = std::min(first, n + delay);
  };
  if (in.take_valid) within(now.take_ready ? model.output_delay(in.take) : 0);
  if (in.doorbell_valid) within(now.doorbell_ready ? model.output_delay(in.doorbell) : 0);
  if (in.dma_rsp_valid) {
    const Cycle delay = model.output_delay_of_beats(in.dma_rsp.tag);
    within(in.dma_rsp.error ? std::min<Cycle>(delay, 1) : delay);
  }
  if (in.cmd_valid) within(0);
  return first;
}

struct Told {
  Cycle silent = 0;  ///< cycles that were left to be made up for
  Cycle shown = 0;
};

Told run(const StimulusProfile& profile, std::uint64_t seed) {
  ReceiveQueueModel model(profile.parameters);
  Scoreboard scoreboard(model);
  Stimulus stimulus(profile, scoreboard, seed);
  Cycle announced = kNoCycle;
  unsigned commands = 0;
  Told told;
  for (Cycle n = 0; n < 20'000; ++n) {
    const Outputs now = model.outputs();
    const Inputs& in = stimulus.next(n, now);
    announced = std::min(announced, announced_by(model, in, now, n));
    if (commands != 0) announced = n;
    if (in.cmd_valid && now.cmd_ready) ++commands;
    model.step(n, in);
    if (model.outputs().cmd_rsp_valid) --commands;
    scoreboard.cycle(n, in, now, model.outputs());
    if (n >= announced)
      announced = model.next_output();
    else if (shows(model.outputs()))
      ADD_FAILURE() << "not announced, cycle " << n;
    else
      ++told.silent;
    told.shown += shows(model.outputs()) ? 1 : 0;
    if (testing::Test::HasFailure()) break;
  }
  return told;
}

StimulusProfile ready_profile() {
  StimulusProfile p;
  p.cmd_rsp_ready = p.dma_req_ready = p.take_rsp_ready = p.event_ready = 100;
  p.command = 2;
  return p;
}

TEST(ReceiveQueueAhead, NothingShowsBeforeItIsAnnounced) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StimulusProfile p = ready_profile();
    p.parameters.queues = seed % 2 == 0 ? 1 : 12;
    p.parameters.prefetch = seed % 3 == 0 ? 1 : 4;
    p.parameters.tags = seed % 3 == 1 ? 1 : 8;
    p.parameters.lines = 16;
    p.largest_ring = 60;
    p.take = 15;
    p.doorbell = 10;
    p.dma_error = seed == 5 ? 20 : 0;
    const Told told = run(p, seed);
    EXPECT_GT(told.silent, 100u);
    EXPECT_GT(told.shown, 500u);
  }
}

// Rare inputs: most steps need not be made in time.
TEST(ReceiveQueueAhead, MostStepsMayBeLate) {
  StimulusProfile p = ready_profile();
  p.parameters.queues = 2;
  p.command = 1;
  p.leave = 0;
  p.bad_doorbell = 0;
  p.unknown_queue = 0;
  p.take = p.doorbell = 3;
  p.largest_ring = 60;
  EXPECT_GT(run(p, 1).silent, 15'000u);
}

}  // namespace
}  // namespace hcasim::testbench
