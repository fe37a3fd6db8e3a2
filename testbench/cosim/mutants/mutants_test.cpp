// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Mutants drawn by seed are killed by what verdicts.txt says kills them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runner/verdict.hpp"
#include "support/seed.hpp"

namespace hcasim::testbench {
namespace {

constexpr std::size_t kDrawn = 30;

struct Candidate {
  const MutantFamily* family;
  const Mutant* mutant;
};

std::vector<Candidate> draw(const std::vector<MutantFamily>& families, std::uint64_t seed) {
  std::vector<Candidate> all, chosen;
  for (const MutantFamily& family : families) {
    for (const Mutant& mutant : family.mutants()) all.push_back({&family, &mutant});
  }
  std::mt19937_64 random(seed);
  std::sample(all.begin(), all.end(), std::back_inserter(chosen), kDrawn, random);
  return chosen;
}

const std::map<std::string, Verdict>& verdicts() {
  static const auto known = read_verdicts(HCASIM_VERDICTS);
  return known;
}

TEST(Mutants, OfTheRtlDrawnBySeedAreKilled) {
  const auto families = rtl_families();
  std::size_t killed = 0;
  for (const auto& [family, mutant] : draw(families, support::test_seed(1))) {
    const auto known = verdicts().find(key_of(*mutant));
    if (known != verdicts().end() && !known->second.kill) {
      std::cout << to_text(known->second) << '\n';
      continue;
    }
    const auto found = kill(*family, *mutant, verdicts());
    EXPECT_TRUE(found) << key_of(*mutant) << " survived";
    if (found) ++killed;
  }
  std::cout << killed << " of " << kDrawn << " killed, the others are those above\n";
  EXPECT_GE(killed, kDrawn / 2);
}

TEST(Mutants, TheRightRtlPassesWhatTheyAreRunWith) {
  for (const MutantFamily& family : rtl_families()) {
    for (const Attempt& attempt : all_attempts()) {
      if (attempt.cycles > 1'000) continue;
      const auto kill = family.run(0, attempt);
      EXPECT_FALSE(kill) << family.name() << ": " << kill->what << ", " << attempt.profile;
    }
  }
}

// The file is that of the mutants which were built, and every one of them has its line.
TEST(Mutants, EachHasItsVerdict) {
  std::size_t count = 0;
  for (const MutantFamily& family : rtl_families()) {
    for (const Mutant& mutant : family.mutants()) {
      EXPECT_EQ(verdicts().count(key_of(mutant)), 1U)
          << key_of(mutant) << ": run tools/mutate, for the RTL has changed";
      ++count;
    }
  }
  EXPECT_EQ(verdicts().size(), count);
}

}  // namespace
}  // namespace hcasim::testbench
