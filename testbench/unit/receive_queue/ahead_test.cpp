// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the model says of its outputs ahead of time holds: no output shows in a cycle before the one
// that was announced, when the last of what was announced came, or by an input since.
#include <gtest/gtest.h>

#include <algorithm>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "sim/cosim/scoreboard.hpp"
#include "support/receive_queue/reference_unit.hpp"
#include "support/receive_queue/stimulus.hpp"

namespace hcasim::testbench {
namespace {

using hca::Cycle;
using hca::kNoCycle;
using hca::ReceiveQueueModel;
using hw::rq::Inputs;
using hw::rq::Outputs;
using hw::rq::shows;

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

// A unit that is run from input to input and output to output, no cycle in between being given.
class Runner {
 public:
  explicit Runner(hca::ReceiveQueueUnit& unit) : unit_(unit) {}

  /// Runs up to cycle `n`, which has these inputs.
  void until(Cycle n, const Inputs& in) {
    while (next_ < n) run(next_, n - 1, Inputs{});
    run(n, n, in);
  }
  Cycle last_shown() const { return last_shown_; }

 private:
  void run(Cycle first, Cycle last, const Inputs& in) {
    next_ = unit_.run(first, last, in);
    if (shows(unit_.outputs())) last_shown_ = first;
  }

  hca::ReceiveQueueUnit& unit_;
  Cycle next_ = kNoCycle;
  Cycle last_shown_ = kNoCycle;
};

void run_and_compare(const StimulusProfile& profile, std::uint64_t seed,
                     hca::ReceiveQueueUnit& unit) {
  ReceiveQueueModel every(profile.parameters);
  Scoreboard scoreboard(every);
  Stimulus stimulus(profile, scoreboard, seed);
  Runner runner(unit);
  Cycle last_shown = kNoCycle;
  for (Cycle n = 0; n < 20'000; ++n) {
    const Outputs now = every.outputs();
    const Inputs& in = stimulus.next(n, now);
    every.step(n, in);
    scoreboard.cycle(n, in, now, every.outputs());
    if (shows(every.outputs())) last_shown = n;
    if (!hw::rq::any_valid(in)) continue;
    runner.until(n, in);
    ASSERT_EQ(runner.last_shown(), last_shown) << "cycle " << n;
    if (last_shown == n) {
      ASSERT_TRUE(same_ports(unit.outputs(), every.outputs())) << "cycle " << n;
    }
    for (std::uint32_t id = 0; id < profile.parameters.queues; ++id) {
      ASSERT_EQ(unit.snapshot(id), every.snapshot(id)) << "cycle " << n;
    }
  }
}

TEST(ReceiveQueueRun, MakesTheSameStepsOnItsOwn) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StimulusProfile p = ready_profile();
    p.parameters.queues = 12;
    p.parameters.lines = 16;
    p.largest_ring = 60;
    p.take = p.doorbell = 10;
    p.dma_error = seed == 4 ? 20 : 0;
    ReceiveQueueModel model(p.parameters);
    run_and_compare(p, seed, model);
    ReferenceUnit reference(p.parameters);  // with the loop of the base class
    run_and_compare(p, seed, reference);
  }
}

}  // namespace
}  // namespace hcasim::testbench
