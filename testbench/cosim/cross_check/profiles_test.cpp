// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The cross-check itself: every profile passes, reaches its cover points, and does the same each
// time.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

#include "sim/cosim/coverage_collector.hpp"
#include "sim/cosim/cross_check.hpp"
#include "sim/cosim/generator.hpp"
#include "support/receive_queue/reference_unit.hpp"
#include "support/seed.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;
using hw::rq::Parameters;

constexpr std::uint64_t kSeed = 1;
constexpr hca::Cycle kCycles = 200'000;

Side reference_side() {
  return {"reference",
          [](const Parameters& parameters) { return std::make_unique<ReferenceUnit>(parameters); }};
}

/// The models, and the RTL as this simulator has it, if it was built.
std::vector<Side> sides_with(const std::string& name) {
  std::vector<Side> sides{model_side(), skipping_model_side()};
#ifdef HCASIM_RTL_FOLDER
  const std::string file = HCASIM_RTL_FOLDER + name;
  if (std::filesystem::exists(file)) {
    sides.push_back(rtl_side(hca::ReceiveQueueLibrary::load(file)));
  }
#else
  static_cast<void>(name);
#endif
  return sides;
}

class EachProfile : public testing::TestWithParam<Profile> {};

void expect_agreement(std::span<const Side> sides, const RandomRun& run) {
  SCOPED_TRACE(std::string(run.profile->name) + ", seed " + std::to_string(run.seed));
  const RunResult result = cross_check(sides, run);
  if (result.failing) {
    FAIL() << describe(sides, *result.failing) << to_text(shrink(sides, *result.failing).stimulus);
  }
  EXPECT_GE(result.cycles, run.cycles);
  EXPECT_GT(result.counters.takes_ok, run.cycles / 100);
}

TEST_P(EachProfile, ModelsAndRtlAgree) {
  const std::vector<Side> sides = sides_with("receive_queue_rtl.so");
  expect_agreement(sides, {&GetParam(), {}, support::test_seed(kSeed), kCycles});
}

// It is too slow for more.
TEST_P(EachProfile, TheSecondSimulatorAgrees) {
  const std::vector<Side> sides = sides_with("receive_queue_cxxrtl.so");
  if (sides.size() == 2) GTEST_SKIP() << "yosys was not there";
  expect_agreement(sides, {&GetParam(), {}, support::test_seed(kSeed), 20'000});
}

TEST_P(EachProfile, TheModelAgreesWithTheReference) {
  const std::vector<Side> sides{model_side(), reference_side()};
  expect_agreement(sides, {&GetParam(), {}, support::test_seed(kSeed), 20'000});
}

// Sizes at the ends of their ranges and none that are powers of two.
TEST_P(EachProfile, OtherSizesAgree) {
  const std::vector<Side> sides{model_side(), skipping_model_side(), reference_side()};
  const Parameters sizes[] = {
      {1, 1, 1, 1, 512, 16, 1}, {13, 5, 3, 7, 1024, 41, 3}, {300, 64, 40, 64, 4096, 600, 64}};
  for (const Parameters& parameters : sizes) {
    SCOPED_TRACE(std::to_string(parameters.queues) + " queues");
    const RandomRun run{&GetParam(), parameters, kSeed, 3'000};
    const RunResult result = cross_check(sides, run);
    ASSERT_FALSE(result.failing) << describe(sides, *result.failing);
  }
}

TEST_P(EachProfile, TheListOfARunReplaysIt) {
  const std::vector<Side> sides{model_side()};
  Coverage random;
  CoverageCollector of_run(random);
  Bench run(sides, {}, &of_run, &of_run);
  Generator generator(GetParam(), {}, run.scoreboard(), kSeed, 2'000);
  ASSERT_FALSE(run.run(generator));
  Coverage again;
  CoverageCollector of_replay(again);
  Bench replay(sides, {}, &of_replay, &of_replay);
  const StimulusList list =
      read_stimulus(to_text(StimulusList{{}, generator.operations()}), "list");
  ListSource source(list.operations);
  ASSERT_FALSE(replay.run(source));
  EXPECT_EQ(replay.cycles(), run.cycles());
  EXPECT_EQ(replay.unit().counters(), run.unit().counters());
  EXPECT_EQ(again.table(), random.table());
}

INSTANTIATE_TEST_SUITE_P(Profiles, EachProfile,
                         testing::ValuesIn(profiles().begin(), profiles().end()),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(CrossCheck, TheSameSeedDoesTheSame) {
  const std::vector<Side> sides{model_side()};
  const auto table = [&](std::uint64_t seed) {
    Coverage coverage;
    cross_check(sides, {find_profile("mixed"), {}, seed, 20'000}, &coverage);
    return coverage.table();
  };
  EXPECT_EQ(table(5), table(5));
  EXPECT_NE(table(5), table(6));
}

TEST(CrossCheck, ALongRunIsSeveralLives) {
  const std::vector<Side> sides{model_side()};
  const RandomRun run{find_profile("tiny_rings"), {}, kSeed, kLongestLife + 1'000};
  const RunResult result = cross_check(sides, run);
  EXPECT_FALSE(result.failing);
  EXPECT_GT(result.cycles, run.cycles + 200);
}

}  // namespace

// Named for the messages of the test framework.
std::ostream& operator<<(std::ostream& out, const sim::cosim::Profile& profile) {
  return out << profile.name;
}

}  // namespace hcasim::testbench
