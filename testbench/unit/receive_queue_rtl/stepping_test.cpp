// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A plug-in and a lockstep that are stepped only where the model has something to do show what the
// model shows that is stepped in every cycle.
#include <gtest/gtest.h>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "hca/receive_queue_rtl/lockstep_receive_queue.hpp"
#include "sim/cosim/scoreboard.hpp"
#include "support/receive_queue/stimulus.hpp"
#include "support/timing_table/timing_table.hpp"

namespace hcasim::testbench {
namespace {

using hca::Cycle;
using hca::LockstepReceiveQueue;
using hca::ReceiveQueueModel;
using hca::RtlReceiveQueue;

std::unique_ptr<RtlReceiveQueue> model_plugin() {
  return std::make_unique<RtlReceiveQueue>(
      hca::ReceiveQueueLibrary::load(HCASIM_PLUGIN_FOLDER "model_plugin.so"));
}

std::unique_ptr<LockstepReceiveQueue> model_and_plugin() {
  std::vector<hca::LockstepSide> sides;
  sides.push_back(
      hca::lockstep_side("model", std::make_unique<ReceiveQueueModel>(hw::rq::Parameters{})));
  sides.push_back(hca::lockstep_side(model_plugin()));
  return std::make_unique<LockstepReceiveQueue>(std::move(sides));
}

StimulusProfile profile_of(std::uint64_t seed) {
  StimulusProfile profile;
  const bool slow = seed % 2 == 0;
  profile.take = profile.doorbell = slow ? 3 : 50;
  profile.command = slow ? 1 : 10;
  profile.leave = 5;
  profile.bad_doorbell = 0;
  profile.dma_delay = slow ? 100 : 10;
  const unsigned ready = seed % 3 == 0 ? 20 : 90;
  profile.cmd_rsp_ready = profile.dma_req_ready = ready;
  profile.take_rsp_ready = profile.event_ready = ready;
  return profile;
}

class Stepping : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Stepping, LeavesOutWhatTheModelLeavesOut) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  const StimulusProfile profile = profile_of(GetParam());
  ReceiveQueueModel every(profile.parameters);
  ReceiveQueueModel skipping(profile.parameters);
  const auto rtl = model_plugin();
  const auto lockstep = model_and_plugin();
  Scoreboard scoreboard(every);
  Stimulus stimulus(profile, scoreboard, GetParam());
  Cycle left_out = 0;
  constexpr Cycle kCycles = 6000;
  for (Cycle n = 0; n < kCycles; ++n) {
    if (n == kCycles / 2) stimulus.drain();
    const hw::rq::Outputs now = every.outputs();
    const hw::rq::Inputs& in = stimulus.next(n, now);
    scoreboard.cycle(n, in, now, every.step(n, in));
    if (!any_handshake(in, now) && skipping.next_activity() > n) {
      ++left_out;
      continue;
    }
    skipping.step(n, in);
    rtl->step(n, in);
    lockstep->step(n, in);
    ASSERT_TRUE(same_ports(every.outputs(), rtl->outputs())) << "cycle " << n;
    ASSERT_TRUE(same_ports(every.outputs(), lockstep->outputs())) << "cycle " << n;
    ASSERT_EQ(every.counters(), rtl->counters()) << "cycle " << n;
    ASSERT_EQ(every.counters(), lockstep->counters()) << "cycle " << n;
  }
  EXPECT_GT(left_out, kCycles / 4);
  const hca::LockstepCoverage coverage = lockstep->coverage();
  EXPECT_EQ(too_little(coverage), "");
  EXPECT_GT(coverage.compared, 0U);
  const bool slow = GetParam() % 2 == 0;
  EXPECT_TRUE(coverage.skipped > 0 || !slow);
  EXPECT_GT(coverage.takes, 10U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Stepping, testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace hcasim::testbench
