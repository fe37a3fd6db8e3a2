// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Nodes under the SystemC kernel: results are the same with run-ahead on and off, whatever else the
// kernel has to do.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <gtest/gtest.h>

#include <random>

#include "sim/engine/engine_module.hpp"

namespace hcasim::sim {
namespace {

constexpr Time kLatency = 10'000;

// Sends itself and its neighbours messages at random times that depend on all it has seen.
class Chatter : public Unit {
 public:
  Chatter(Engine& engine, std::uint64_t seed, int messages)
      : Unit(engine, "chatter"), state_(seed), left_(messages) {}

  void add_neighbour(Chatter& neighbour) { neighbours_.push_back(&neighbour); }
  void begin() { schedule(0, 1); }
  void on_event(std::uint64_t argument) override {
    mix(static_cast<std::uint64_t>(now()));
    mix(argument);
    if (--left_ <= 0) return;
    const std::uint64_t choice = state_ % 4;
    const Time delay = static_cast<Time>(state_ >> 20 & 0x3fff);
    schedule(now() + delay + 1, state_ % 100);
    if (choice == 0 && !neighbours_.empty()) {
      Chatter& to = *neighbours_[state_ >> 8 & 0xff ? (state_ >> 8) % neighbours_.size() : 0];
      to.engine().schedule_from_outside(to, now() + kLatency + delay % 5, state_ % 1000);
    }
  }
  std::uint64_t digest() const { return state_; }

 private:
  void mix(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9e37'79b9'7f4a'7c15;
    state_ ^= state_ >> 29;
  }

  std::vector<Chatter*> neighbours_;
  std::uint64_t state_;
  int left_;
};

// A foreign module that only makes the kernel busy.
class Busy : public sc_core::sc_module {
 public:
  explicit Busy(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
    sc_core::sc_spawn([this] {
      for (int i = 0; i < 200; ++i) wait(sc_core::sc_time(777, sc_core::SC_PS));
    });
  }
};

struct Chat {
  Chat(std::size_t nodes, bool run_ahead) : conductor(run_ahead) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::string name = "node" + std::to_string(i) + (run_ahead ? "r" : "s");
      modules.push_back(std::make_unique<EngineModule>(name.c_str(), conductor));
      chatters.push_back(std::make_unique<Chatter>(modules[i]->engine(), i + 1, 3000));
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t next = (i + 1) % nodes;
      conductor.coupling().connect(i, next, kLatency);
      conductor.coupling().connect(next, i, kLatency);
      chatters[i]->add_neighbour(*chatters[next]);
      chatters[next]->add_neighbour(*chatters[i]);
      chatters[i]->begin();
    }
    conductor.schedule_next();
  }
  std::vector<std::uint64_t> digests() const {
    std::vector<std::uint64_t> all;
    for (const auto& chatter : chatters) all.push_back(chatter->digest());
    return all;
  }

  Conductor conductor;
  std::vector<std::unique_ptr<EngineModule>> modules;
  std::vector<std::unique_ptr<Chatter>> chatters;
};

// Two simulations side by side in one kernel: each is a foreign module for the other.
void compare(std::size_t nodes) {
  Chat ahead(nodes, true);
  Chat stepwise(nodes, false);
  Busy busy("busy");
  sc_core::sc_start();
  EXPECT_EQ(ahead.digests(), stepwise.digests());
  std::uint64_t events = 0;
  for (const auto& module : ahead.modules) events += module->engine().events_run();
  EXPECT_GE(events, nodes * 2000);
}

TEST(Conductor, RunAheadChangesNothingWithTwoNodes) {
  compare(2);
}
TEST(Conductor, RunAheadChangesNothingWithThreeNodes) {
  compare(3);
}
TEST(Conductor, RunAheadChangesNothingWithFiveNodes) {
  compare(5);
}

TEST(Conductor, EnginesTakeTurnsWithoutTheKernel) {
  Chat chat(2, true);
  sc_core::sc_start();
  EXPECT_EQ(chat.conductor.activations(), 1u);
}

TEST(Conductor, EnginesWaitForTheKernelWhenAForeignModuleIsBound) {
  Chat chat(2, true);
  chat.modules[1]->note_foreign_peer();
  sc_core::sc_start();
  const std::uint64_t events =
      chat.modules[0]->engine().events_run() + chat.modules[1]->engine().events_run();
  EXPECT_GT(chat.conductor.activations(), 10u);
  EXPECT_LT(chat.conductor.activations(), events * 3 / 4);
}

TEST(Conductor, NoEventRunsAtOrAfterTheEnd) {
  Chat chat(2, true);
  chat.conductor.set_end(100'000);
  sc_core::sc_start();
  for (const auto& module : chat.modules) {
    EXPECT_LT(module->engine().now(), 100'000);
    EXPECT_GE(module->engine().next_time(), 100'000);
  }
}

}  // namespace
}  // namespace hcasim::sim
