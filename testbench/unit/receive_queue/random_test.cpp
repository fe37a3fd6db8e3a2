// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random traffic: the model stepped in every cycle, the model stepped only where something can
// change, and the reference agree on every port in every cycle, and the scoreboard is silent.
#include <gtest/gtest.h>

#include <ostream>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "sim/cosim/scoreboard.hpp"
#include "support/receive_queue/reference_unit.hpp"
#include "support/receive_queue/stimulus.hpp"
#include "support/timing_table/timing_table.hpp"

namespace hcasim::testbench {
namespace {

using hca::Cycle;
using hca::ReceiveQueueModel;
using hw::rq::Inputs;
using hw::rq::Outputs;

std::vector<StimulusProfile> profiles() {
  std::vector<StimulusProfile> all;
  const auto add = [&all](const std::string& name) -> StimulusProfile& {
    all.emplace_back().name = name;
    return all.back();
  };
  const auto all_ready = [](StimulusProfile& p) {
    p.cmd_rsp_ready = p.dma_req_ready = p.take_rsp_ready = p.event_ready = 100;
  };
  add("mixed");
  {
    auto& p = add("many_queues");
    p.parameters.queues = 1000;
    p.command = 60;
    p.leave = 2;
    p.take = p.doorbell = 80;
  }
  {
    auto& p = add("many_lines");
    p.parameters.queues = 30;
    p.parameters.lines = 150;
    p.parameters.tags = 64;
    p.parameters.takes = 64;
    p.command = 30;
    p.leave = 2;
    p.take = p.doorbell = 80;
  }
  {
    auto& p = add("one_queue");
    p.parameters.queues = 1;
    p.unknown_queue = 0;
    p.bad_doorbell = 0;
    p.command = 2;
    p.take = p.doorbell = 70;
    p.largest_ring = 200;
    p.strides = {64};
  }
  {
    auto& p = add("tiny_rings");
    p.parameters.queues = 6;
    p.largest_ring = 4;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("eviction");
    p.parameters.queues = 12;
    p.parameters.lines = 16;
    p.bad_doorbell = 0;
    p.command = 20;
    p.leave = 1;
    p.doorbell = 80;
    p.take = 8;
  }
  {
    auto& p = add("few_tags");
    p.parameters.queues = 8;
    p.parameters.tags = 1;
    p.parameters.prefetch = 1;
    p.parameters.takes = 3;
    p.take = p.doorbell = 70;
  }
  {
    auto& p = add("odd_parameters");
    p.parameters = {13, 5, 3, 7, 1024, 41, 3};
    p.take = p.doorbell = 70;
  }
  {
    auto& p = add("dma_errors");
    p.parameters.queues = 8;
    p.dma_error = 30;
    p.command = 30;
    p.dma_delay = 60;
  }
  {
    auto& p = add("churn");
    p.parameters.queues = 4;
    p.command = 70;
    p.leave = 60;
    p.dma_delay = 50;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("doorbell_errors");
    p.parameters.queues = 5;
    p.parameters.events = 2;
    p.bad_doorbell = 40;
    p.doorbell = 90;
    p.event_ready = 30;
    p.command = 40;
    p.dma_error = 10;
  }
  {
    auto& p = add("limits");
    p.parameters.queues = 4;
    p.parameters.events = 1;
    p.bad_doorbell = 10;
    p.command = 50;
    p.leave = 3;
    p.event_ready = 40;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("slow_outputs");
    p.parameters.queues = 6;
    p.cmd_rsp_ready = p.dma_req_ready = p.take_rsp_ready = p.event_ready = 15;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("in_order_saturated");
    p.parameters.queues = 8;
    p.strides = {64};
    p.take = p.doorbell = 100;
    p.bad_doorbell = 0;
    p.leave = 0;
    p.peek = 0;
    p.largest_ring = 300;
    p.dma_in_order = true;
    all_ready(p);
  }
  return all;
}

struct Case {
  StimulusProfile profile;
  std::uint64_t seed;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& profile : profiles()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) all.push_back({profile, seed});
  }
  return all;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.profile.name << " seed " << c.seed;
}

class RandomTraffic : public testing::TestWithParam<Case> {};

testing::AssertionResult agree(const Outputs& a, const Outputs& b) {
  if (same_ports(a, b)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << describe(a) << "\nagainst " << describe(b);
}

TEST_P(RandomTraffic, AllSidesAgreeAndRulesHold) {
  const auto& [profile, seed] = GetParam();
  SCOPED_TRACE("profile " + profile.name + ", seed " + std::to_string(seed));
  ReceiveQueueModel every(profile.parameters);
  ReceiveQueueModel skipping(profile.parameters);
  ReferenceUnit reference(profile.parameters);
  Scoreboard scoreboard(every);
  Stimulus stimulus(profile, scoreboard, seed);
  Cycle skipped = 0;
  constexpr Cycle kCycles = 6000;
  constexpr Cycle kDrain = 3000;
  for (Cycle n = 0; n < kCycles + kDrain; ++n) {
    if (n == kCycles) stimulus.drain();
    const Outputs now = every.outputs();
    const Inputs& in = stimulus.next(n, now);
    const bool needed = any_handshake(in, now) || skipping.next_activity() <= n;
    every.step(n, in);
    reference.step(n, in);
    if (needed) {
      skipping.step(n, in);
    } else {
      ++skipped;
    }
    ASSERT_TRUE(agree(every.outputs(), reference.outputs())) << "reference, cycle " << n;
    ASSERT_TRUE(agree(every.outputs(), skipping.outputs())) << "skipping, cycle " << n;
    scoreboard.cycle(n, in, now, every.outputs());
    ASSERT_TRUE(scoreboard.faults().empty()) << scoreboard.faults().front();
    if (n % 16 == 0 || n + 1 == kCycles + kDrain) {
      const auto id = static_cast<std::uint32_t>((n / 16) % profile.parameters.queues);
      ASSERT_EQ(every.snapshot(id), reference.snapshot(id)) << "cycle " << n;
      ASSERT_EQ(every.counters(), reference.counters()) << "cycle " << n;
      ASSERT_EQ(every.counters(), skipping.counters()) << "cycle " << n;
    }
  }
  scoreboard.finish();
  ASSERT_TRUE(scoreboard.faults().empty()) << scoreboard.faults().front();
  EXPECT_EQ(every.next_activity(), hca::kNoCycle);
  EXPECT_GT(skipped, kDrain / 4);
  EXPECT_GT(every.counters().takes_ok, 10U);
}

// With prompt neighbours and nothing paused every take is answered within the bound of the README.
TEST(ReceiveQueueBound, TakesAreAnsweredInTime) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StimulusProfile profile;
    profile.parameters.queues = 40;
    profile.parameters.lines = 16;
    profile.parameters.takes = 4;
    profile.cmd_rsp_ready = profile.dma_req_ready = profile.take_rsp_ready = 100;
    profile.event_ready = profile.dma_beat = 100;
    profile.leave = profile.wild_command = profile.bad_doorbell = 0;
    profile.dma_in_order = true;
    ReceiveQueueModel model(profile.parameters);
    Scoreboard scoreboard(model);
    scoreboard.check_bound(profile.dma_delay + profile.parameters.lines + 2);
    Stimulus stimulus(profile, scoreboard, seed);
    for (Cycle n = 0; n < 10'000; ++n) {
      const Outputs now = model.outputs();
      const Inputs& in = stimulus.next(n, now);
      model.step(n, in);
      scoreboard.cycle(n, in, now, model.outputs());
    }
    EXPECT_TRUE(scoreboard.faults().empty()) << scoreboard.faults().front();
    EXPECT_GT(model.counters().evictions, 10U);
    EXPECT_GT(model.counters().takes_ok, 300U);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraffic, testing::ValuesIn(cases()),
                         [](const auto& param_info) {
                           return param_info.param.profile.name + "_" +
                                  std::to_string(param_info.param.seed);
                         });

}  // namespace
}  // namespace hcasim::testbench
