// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Random sequences of verbs against a reference of the rules: see README.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "run.hpp"
#include "support/seed.hpp"

namespace hcasim::differential {
namespace {

constexpr std::uint32_t kSteps = 100'000;
constexpr std::uint64_t kSeeds = 20;
constexpr std::uint64_t kStepsToShrink = 1'000'000;

class Differential : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Differential, VerbsFollowTheReference) {
  const std::uint64_t seed = support::test_seed(GetParam());
  const Outcome outcome = run_drawn({}, seed, kSteps);
  std::cout << outcome.completions << " completions of " << outcome.carried_out << " steps\n";
  EXPECT_EQ(outcome.difference, "") << report(seed, shrink({}, seed, outcome, kStepsToShrink));
  EXPECT_GT(outcome.completions, kSteps / 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, testing::Range(std::uint64_t{1}, kSeeds + 1));

// A rule told wrongly is found, and what is left of the sequence is short.
void expect_found(const Rules& wrong) {
  constexpr std::uint64_t kSeed = 1;
  constexpr std::size_t kShort = 6;
  const Outcome outcome = run_drawn(wrong, kSeed, kSteps);
  ASSERT_NE(outcome.difference, "");
  const Outcome shrunk = shrink(wrong, kSeed, outcome, kStepsToShrink);
  EXPECT_NE(shrunk.difference, "");
  EXPECT_LE(shrunk.done.size(), kShort) << report(kSeed, shrunk);
  EXPECT_EQ(run_given({}, kSeed, shrunk.done).difference, "");
}

TEST(DifferentialItself, FindsOneReceiveTooMany) {
  expect_found({.receive_slots = kReceiveSlots + 1});
}

TEST(DifferentialItself, FindsARefusedSend) {
  expect_found({.error_refuses_sends = true});
}

TEST(DifferentialItself, FindsAWrongStatus) {
  expect_found({.flush_status = rvt::IB_WC_GENERAL_ERR});
}

}  // namespace
}  // namespace hcasim::differential
