// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// When an end of a link finds out that the link is down, and up again.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fabric/link_state.hpp"

namespace hcasim::fabric {
namespace {

using Changes = std::vector<std::pair<Time, bool>>;

struct Log final : LinkListener {
  explicit Log(const sim::Engine& of) : engine(of) {}
  void on_link(bool up) override { changes.emplace_back(engine.now(), up); }
  const sim::Engine& engine;
  Changes changes;
};

Changes seen(const LinkOutage& in, const LinkOutage& out) {
  sim::Engine engine("node");
  Log log(engine);
  LinkState state(engine, "link_state", log);
  state.expect(in, out);
  if (engine.next_time() != hw::kNever) engine.run(hw::kNever);
  return log.changes;
}

constexpr Time kThere = 310;  // latencies of the two directions
constexpr Time kHere = 410;

TEST(LinkState, SeesAFlightLaterThatNothingComesInAndThatItDoesAgain) {
  EXPECT_EQ(seen({1000, 5000, kHere}, {0, 0, kThere}),
            (Changes{{1000 + kHere, false}, {6000 + kHere, true}}));
}

// Each time: not one picosecond earlier, and now.
TEST(LinkState, ChangesAtTheTimeOfTheLastBitsAndOfTheFirst) {
  for (const bool comes_in : {true, false}) {
    sim::Engine engine("node");
    Log log(engine);
    LinkState state(engine, "link_state", log);
    const LinkOutage in{1000, comes_in ? 5000 : 0, kHere};
    const LinkOutage out{1000, comes_in ? 0 : 5000, kThere};
    state.expect(in, out);
    const Time flight = comes_in ? kHere : kThere + kHere;
    std::size_t changes = 0;
    for (const Time at : {1000 + flight, 6000 + flight}) {
      engine.run_before(at);
      EXPECT_EQ(log.changes.size(), changes) << at;
      engine.run_before(at + 1);
      EXPECT_EQ(log.changes.size(), ++changes) << at;
    }
  }
}

TEST(LinkState, HearsOfItsOwnDirectionFromTheFarEnd) {
  EXPECT_EQ(seen({0, 0, kHere}, {1000, 5000, kThere}),
            (Changes{{1000 + kThere + kHere, false}, {6000 + kThere + kHere, true}}));
}

TEST(LinkState, IsUpWhenBothDirectionsAre) {
  EXPECT_EQ(seen({1000, 5000, kHere}, {1000, 5000, kThere}),
            (Changes{{1000 + kHere, false}, {6000 + kThere + kHere, true}}));
  EXPECT_EQ(seen({1000, 5000, kHere}, {20000, 1, kThere}).size(), 4u);
  // The second outage is heard of in the moment in which the first one is over.
  EXPECT_EQ(seen({1000, 5000, kHere}, {6000 - kThere, 1000, kThere}),
            (Changes{{1000 + kHere, false}, {7000 + kHere, true}}));
}

TEST(LinkState, NeverDownSaysNothing) {
  EXPECT_EQ(seen({1000, 0, kHere}, {1000, 0, kThere}), Changes{});
}

}  // namespace
}  // namespace hcasim::fabric
