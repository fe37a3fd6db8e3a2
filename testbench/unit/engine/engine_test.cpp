// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/engine.hpp"

#include <gtest/gtest.h>

#include "sim/engine/coupling.hpp"

namespace hcasim::sim {
namespace {

class Recorder : public Unit {
 public:
  Recorder(Engine& engine, const std::string& name, std::vector<std::string>& log)
      : Unit(engine, name), log_(log) {}
  void on_event(std::uint64_t argument) override {
    log_.push_back(name() + "@" + std::to_string(now()) + ":" + std::to_string(argument));
  }
  using Unit::schedule;

 private:
  std::vector<std::string>& log_;
};

struct EngineTest : ::testing::Test {
  std::vector<std::string> log;
  Engine engine{"n"};
  Recorder first{engine, "a", log};
  Recorder second{engine, "b", log};
};

TEST_F(EngineTest, TiesGoByRankThenByArrival) {
  second.schedule(10, 1);
  second.schedule(10, 2);
  first.schedule(10, 3);
  first.schedule(5, 4);
  engine.run_before(hw::kNever);
  EXPECT_EQ(log, (std::vector<std::string>{"n.a@5:4", "n.a@10:3", "n.b@10:1", "n.b@10:2"}));
  EXPECT_EQ(engine.events_run(), 4u);
}

TEST_F(EngineTest, RunsBeforeTheLimitAndNotAtIt) {
  first.schedule(10, 1);
  engine.run_before(10);
  EXPECT_TRUE(log.empty());
  engine.run_before(11);
  EXPECT_EQ(log.size(), 1u);
  EXPECT_EQ(engine.now(), 10);
}

TEST_F(EngineTest, ARunDoesOneEventAtLeastAndStopsWhereItIsInterrupted) {
  class Interrupter : public Unit {
   public:
    using Unit::schedule;
    using Unit::Unit;
    void on_event(std::uint64_t) override { engine().interrupt(); }
  } interrupter{engine, "c"};
  first.schedule(10, 1);
  first.schedule(20, 2);
  interrupter.schedule(30);
  first.schedule(40, 3);
  engine.run(5);
  EXPECT_EQ(engine.now(), 10);
  engine.run(hw::kNever);
  EXPECT_EQ(engine.now(), 30);
  EXPECT_FALSE(engine.stop_requested());
  EXPECT_EQ(log, (std::vector<std::string>{"n.a@10:1", "n.a@20:2"}));
}

TEST_F(EngineTest, OnlyWhatComesBeforeTheNextEventIsNewsToOthers) {
  int news = 0;
  engine.set_outside_hook([](void* count) { ++*static_cast<int*>(count); }, &news);
  engine.schedule_from_outside(first, 100);
  EXPECT_EQ(news, 1);
  engine.schedule_from_outside(first, 200);
  EXPECT_EQ(news, 1);
  engine.schedule_from_outside(first, 100);
  EXPECT_EQ(news, 2);  // a call that left other events behind may end so
  engine.schedule_from_outside(first, 50);
  EXPECT_EQ(news, 3);
}

TEST_F(EngineTest, ThePastIsRefused) {
  first.schedule(10, 1);
  engine.run_before(11);
  EXPECT_THROW(first.schedule(9), SimulationError);
  EXPECT_NO_THROW(first.schedule(10));
}

TEST_F(EngineTest, ErrorTellsTimeAndUnit) {
  first.schedule(1'234'567, 1);
  engine.run_before(hw::kNever);
  try {
    first.schedule(0);
    FAIL();
  } catch (const SimulationError& error) {
    EXPECT_STREQ(error.what(),
                 "at 1234.567 ns, in n.a: an event was asked for 1234567 ps in the past");
  }
}

// --- Horizon
// --------------------------------------------------------------------------------------

struct CouplingTest : ::testing::Test {
  void SetUp() override {
    for (Engine* engine : {&a, &b, &c}) coupling.add(*engine);
  }
  std::vector<std::string> log;
  Engine a{"a"};
  Engine b{"b"};
  Engine c{"c"};
  Recorder at_a{a, "u", log};
  Recorder at_b{b, "u", log};
  Recorder at_c{c, "u", log};
  Coupling coupling;
};

TEST_F(CouplingTest, UnconnectedNodesDoNotLimitEachOther) {
  at_a.schedule(0);
  at_b.schedule(0);
  EXPECT_EQ(coupling.horizon(0), hw::kNever);
}

TEST_F(CouplingTest, NeighbourLimitsByItsNextEventAndTheLatency) {
  coupling.connect(0, 1, 100);
  coupling.connect(1, 0, 120);
  at_a.schedule(50);
  at_b.schedule(70);
  EXPECT_EQ(coupling.horizon(0), 70 + 120);
  EXPECT_EQ(coupling.horizon(1), 50 + 100);
  EXPECT_EQ(coupling.earliest(), 0u);
}

TEST_F(CouplingTest, AnIdleNeighbourDoesNotLimit) {
  coupling.connect(0, 1, 100);
  coupling.connect(1, 0, 100);
  at_a.schedule(50);
  EXPECT_EQ(coupling.horizon(1), 150);
  // An idle node may still be woken by us and answer: what we cause cannot be back before our own
  // next event plus the way there and back.
  EXPECT_GE(coupling.horizon(0), 50 + 200);
}

TEST_F(CouplingTest, ThirdNodeLimitsThroughTheSecond) {
  coupling.connect(0, 1, 100);
  coupling.connect(1, 2, 30);
  coupling.connect(2, 1, 30);
  coupling.connect(1, 0, 100);
  at_a.schedule(7);
  at_b.schedule(1000);
  at_c.schedule(2000);
  EXPECT_EQ(coupling.horizon(2), 7 + 130);
  EXPECT_EQ(coupling.horizon(1), 7 + 100);
}

TEST_F(CouplingTest, TheShorterOfTwoPathsCounts) {
  coupling.connect(0, 2, 500);
  coupling.connect(0, 1, 100);
  coupling.connect(1, 2, 100);
  at_a.schedule(0);
  EXPECT_EQ(coupling.horizon(2), 200);
}

TEST_F(CouplingTest, EarliestTakesTheLowestIndexOfATie) {
  at_b.schedule(5);
  at_c.schedule(5);
  EXPECT_EQ(coupling.earliest(), 1u);
}

}  // namespace
}  // namespace hcasim::sim
