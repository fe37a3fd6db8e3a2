// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Code that takes simulated time, beside the events of its node and of others.
#include "sim/engine/tasks.hpp"

#include <gtest/gtest.h>

#include "sim/engine/engine_module.hpp"

namespace hcasim::sim {
namespace {

constexpr Time kLatency = 10'000;

struct TaskTest : ::testing::Test {
  explicit TaskTest(bool run_ahead = true) : conductor(run_ahead) {}
  void run() {
    conductor.schedule_next();
    sc_core::sc_start();
  }
  Time now() { return module.engine().now(); }

  Conductor conductor;
  EngineModule module{"node", conductor};
  Tasks tasks{module.engine()};
  std::vector<Time> times;
};

TEST_F(TaskTest, SleepTakesItsTimeAndNoMore) {
  tasks.start([this] {
    EXPECT_TRUE(tasks.inside_task());
    times.push_back(now());
    tasks.sleep_until(5000);
    times.push_back(now());
    tasks.sleep_until(5001);
    times.push_back(now());
  });
  EXPECT_FALSE(tasks.inside_task());
  run();
  EXPECT_EQ(times, (std::vector<Time>{0, 5000, 5001}));
}

TEST_F(TaskTest, SignalWakesTheWaiterAtItsTime) {
  const auto point = tasks.make_wait_point();
  tasks.start([&] {
    EXPECT_TRUE(point->wait(hw::kNever));
    times.push_back(now());
  });
  tasks.start([&] {
    tasks.sleep_until(7000);
    point->signal();
    tasks.sleep_until(9000);
    times.push_back(now());
  });
  run();
  EXPECT_EQ(times, (std::vector<Time>{7000, 9000}));
}

TEST_F(TaskTest, SignalBeforeTheWaitIsNotLost) {
  const auto point = tasks.make_wait_point();
  point->signal();
  tasks.start([&] {
    EXPECT_TRUE(point->wait(hw::kNever));
    EXPECT_FALSE(point->wait(3000));
    times.push_back(now());
  });
  run();
  EXPECT_EQ(times, (std::vector<Time>{3000}));
}

TEST_F(TaskTest, TimeOutOfAnEarlierWaitDoesNotDisturbALaterOne) {
  const auto point = tasks.make_wait_point();
  tasks.start([&] {
    EXPECT_TRUE(point->wait(10'000));
    times.push_back(now());
    EXPECT_FALSE(point->wait(50'000));
    times.push_back(now());
  });
  tasks.start([&] {
    tasks.sleep_until(1000);
    point->signal();
  });
  run();
  EXPECT_EQ(times, (std::vector<Time>{1000, 51'000}));
}

TEST_F(TaskTest, AnAnsweredWaitLeavesNoTimeOutBehind) {
  const auto point = tasks.make_wait_point();
  tasks.start([&] { EXPECT_TRUE(point->wait(10 * hw::kSecond)); });
  tasks.start([&] {
    tasks.sleep_until(1000);
    point->signal();
  });
  run();
  EXPECT_EQ(now(), 1000);
}

// Wakes a wait point from the engine, as a unit does.
class Signaller : public Unit {
 public:
  Signaller(Engine& engine, hw::WaitPoint& point) : Unit(engine, "signaller"), point_(point) {}
  void on_event(std::uint64_t) override { point_.signal(); }
  using Unit::schedule;

 private:
  hw::WaitPoint& point_;
};

TEST_F(TaskTest, EngineStandsStillWhileATaskRuns) {
  const auto point = tasks.make_wait_point();
  Signaller signaller(module.engine(), *point);
  signaller.schedule(1000);
  signaller.schedule(1001);
  tasks.start([&] {
    point->wait(hw::kNever);
    times.push_back(now());
    point->wait(hw::kNever);
    times.push_back(now());
  });
  run();
  EXPECT_EQ(times, (std::vector<Time>{1000, 1001}));
}

// A task that ends, with nothing left for its node to do, leaves the other node to run on.
TEST_F(TaskTest, LastTaskOfANodeEndsQuietly) {
  EngineModule other{"other", conductor};
  Tasks other_tasks{other.engine()};
  conductor.coupling().connect(0, 1, kLatency);
  conductor.coupling().connect(1, 0, kLatency);
  Time end = 0;
  tasks.start([&] { tasks.sleep_until(100); });
  other_tasks.start([&] {
    other_tasks.sleep_until(1'000'000);
    end = other.engine().now();
  });
  run();
  EXPECT_EQ(end, 1'000'000);
}

// While a task of one node stands still, the other must not be left behind: after the task, only
// events before the horizon may run.
TEST_F(TaskTest, TaskDoesNotLetItsNodePassTheHorizon) {
  EngineModule other{"other", conductor};
  conductor.coupling().connect(0, 1, kLatency);
  conductor.coupling().connect(1, 0, kLatency);
  std::vector<Time> arrivals;
  struct Sink : Unit {
    Sink(Engine& e, std::vector<Time>& l) : Unit(e, "sink"), log(l) {}
    void on_event(std::uint64_t) override { log.push_back(now()); }
    using Unit::schedule;
    std::vector<Time>& log;
  } sink{module.engine(), arrivals};
  struct Source : Unit {
    Source(Engine& e, Sink& s) : Unit(e, "source"), to(s), node(nullptr) {}
    void on_event(std::uint64_t) override { node->schedule_from_outside(to, now() + kLatency); }
    using Unit::schedule;
    Sink& to;
    Engine* node;
  } source{other.engine(), sink};
  source.node = &module.engine();
  source.schedule(50);       // arrives at 10'050
  sink.schedule(2'000'000);  // the task's node has nothing but this
  tasks.start([&] { times.push_back(now()); });
  run();
  EXPECT_EQ(arrivals, (std::vector<Time>{10'050, 2'000'000}));
}

}  // namespace
}  // namespace hcasim::sim
