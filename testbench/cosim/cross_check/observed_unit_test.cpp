// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Coverage of a unit that a system steps: only where something can change, with rings anywhere.
#include <gtest/gtest.h>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "sim/cosim/generator.hpp"
#include "sim/cosim/observed_unit.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;

/// Rings of a system lie side by side, wherever the allocator put them.
hw::rq::Inputs moved(hw::rq::Inputs in) {
  in.cmd.base = in.cmd.base % (1ULL << 32U) + in.cmd.queue * (1ULL << 23U) + 0x7f0000000000ULL;
  return in;
}

TEST(ObservedUnit, SeesWhatARandomRunSees) {
  hw::rq::Parameters parameters;
  Coverage observed;
  ObservedUnit unit(std::make_unique<hca::ReceiveQueueModel>(parameters), observed);
  hca::ReceiveQueueModel plain(parameters);
  Scoreboard scoreboard(plain);
  StimulusDriver driver(parameters, scoreboard);
  Generator generator(*find_profile("mixed"), parameters, scoreboard, 1, 30'000);
  hca::Cycle skipped = 0;
  for (hca::Cycle n = 0;; ++n) {
    const hw::rq::Outputs now = plain.outputs();
    driver.begin(now);
    if (!generator.apply(driver)) break;
    const hw::rq::Inputs& in = driver.finish(n);
    plain.step(n, in);
    scoreboard.cycle(n, in, now, plain.outputs());
    const bool needed = any_handshake(in, unit.outputs()) || unit.next_activity() <= n;
    skipped += needed ? 0 : 1;
    if (needed) unit.step(n, moved(in));
  }
  ASSERT_TRUE(scoreboard.faults().empty()) << scoreboard.faults().front();
  EXPECT_TRUE(unit.faults().empty()) << unit.faults().front();
  EXPECT_EQ(unit.counters(), plain.counters());
  EXPECT_GT(skipped, 1'000U);
  EXPECT_GT(observed.percent(), 70.0) << observed.table();
  EXPECT_TRUE(observed.impossible_hits().empty());
}

}  // namespace
}  // namespace hcasim::testbench
