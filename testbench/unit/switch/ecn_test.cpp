// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "star.hpp"

namespace hcasim::fabric::test {
namespace {

int marked_of(RedMarker& marker, std::uint64_t queue_bytes, int draws) {
  int marked = 0;
  for (int i = 0; i < draws; ++i) marked += marker.marks(queue_bytes) ? 1 : 0;
  return marked;
}

TEST(RedMarker, ShareRisesFromNoneToPMaxAndThenMarksAll) {
  SwitchParameters p;
  p.k_min_bytes = 1000;
  p.k_max_bytes = 3000;
  p.p_max = 0.2;
  RedMarker marker(p, 5);
  EXPECT_EQ(marked_of(marker, 1000, 10'000), 0);
  EXPECT_NEAR(marked_of(marker, 1500, 100'000), 5'000, 350);
  EXPECT_NEAR(marked_of(marker, 2000, 100'000), 10'000, 500);
  EXPECT_NEAR(marked_of(marker, 2999, 100'000), 20'000, 700);
  EXPECT_EQ(marked_of(marker, 3000, 10'000), 10'000);
}

TEST(RedMarker, DrawsBySeed) {
  SwitchParameters p;
  p.p_max = 0.5;
  const auto draws = [&](std::uint64_t seed) {
    RedMarker marker(p, seed);
    std::vector<bool> all;
    for (int i = 0; i < 1000; ++i) all.push_back(marker.marks(150'000));
    return all;
  };
  EXPECT_EQ(draws(1), draws(1));
  EXPECT_NE(draws(1), draws(2));
}

// Two senders, so that the queue grows by a packet in each packet time.
std::unique_ptr<Star> congested(const Parameters& parameters, std::uint8_t ecn) {
  auto star = std::make_unique<Star>(3, parameters);
  for (std::uint32_t i = 0; i < 20; ++i) {
    star->send(0, 2, i, 1024, ecn);
    star->send(1, 2, i, 1024, ecn);
  }
  star->run();
  return star;
}

Parameters marking(std::uint32_t k_min, std::uint32_t k_max) {
  Parameters parameters;
  parameters.at_switch.ecn = true;
  parameters.at_switch.k_min_bytes = k_min;
  parameters.at_switch.k_max_bytes = k_max;
  return parameters;
}

// With both thresholds at n packets, every packet is marked that finds more. In packet time t the
// first finds t - 1 and the second t: of those of time n + 1 one is marked, of all later both.
TEST(Ecn, MarksWhatFindsALongQueue) {
  for (const std::uint32_t n : {4u, 9u}) {
    const std::uint32_t bytes = n * kilobyte_bytes();
    const auto star = congested(marking(bytes, bytes), 2);
    const std::uint64_t beyond = 1 + 2 * (20 - (n + 1));
    EXPECT_EQ(star->core->counters(2).ecn_marked, beyond) << n;
    std::uint64_t arrived = 0;
    for (const auto& seen : star->nodes[2].arrived) arrived += seen.ecn == 3 ? 1 : 0;
    EXPECT_EQ(arrived, beyond);
  }
}

TEST(Ecn, LeavesPacketsAloneThatAreNotCapableOfIt) {
  const auto star = congested(marking(0, 1), 0);
  EXPECT_EQ(star->core->counters(2).ecn_marked, 0u);
  for (const auto& seen : star->nodes[2].arrived) EXPECT_EQ(seen.ecn, 0);
}

TEST(Ecn, IsOffUnlessAskedFor) {
  Parameters parameters = marking(0, 1);
  parameters.at_switch.ecn = false;
  const auto star = congested(parameters, 2);
  EXPECT_EQ(star->core->counters(2).ecn_marked, 0u);
}

}  // namespace
}  // namespace hcasim::fabric::test
