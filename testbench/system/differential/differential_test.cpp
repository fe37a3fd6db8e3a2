// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Random sequences of verbs against a reference of the rules: see README.md.
#include <gtest/gtest.h>

#include <hcasim/sim/trace.hpp>
#include <iostream>
#include <sstream>
#include <utility>

#include "run.hpp"
#include "support/seed.hpp"

namespace hcasim::differential {
namespace {

constexpr std::uint32_t kSteps = 100'000;
constexpr std::uint64_t kSeeds = 20;
constexpr std::uint64_t kStepsToShrink = 1'000'000;

// A sequence in which little happens shows little.
void expect_much(const Census& census) {
  using namespace rvt;
  EXPECT_GT(census.completions, kSteps);
  for (const ib_wc_status status :
       {IB_WC_SUCCESS, IB_WC_LOC_LEN_ERR, IB_WC_LOC_PROT_ERR, IB_WC_WR_FLUSH_ERR,
        IB_WC_REM_INV_REQ_ERR, IB_WC_REM_ACCESS_ERR, IB_WC_REM_OP_ERR, IB_WC_RETRY_EXC_ERR,
        IB_WC_RNR_RETRY_EXC_ERR}) {
    EXPECT_GT(census.statuses[status], 0u) << "status " << int{status};
  }
  for (const auto& [from, to] : {std::pair{IB_QPS_RESET, IB_QPS_INIT},
                                 {IB_QPS_INIT, IB_QPS_RTR},
                                 {IB_QPS_RTR, IB_QPS_RTS},
                                 {IB_QPS_RTS, IB_QPS_SQD},
                                 {IB_QPS_SQD, IB_QPS_RTS},
                                 {IB_QPS_RTS, IB_QPS_RESET},
                                 {IB_QPS_ERR, IB_QPS_RESET}}) {
    EXPECT_GT(census.moves[from][to], 0u) << int{from} << " to " << int{to};
  }
  EXPECT_GT(census.full, 0u);
  EXPECT_GT(census.invalid, 0u);
  EXPECT_GT(census.split_races, 0u);
  for (const std::size_t what : {IB_EVENT_QP_REQ_ERR, IB_EVENT_QP_ACCESS_ERR, IB_EVENT_COMM_EST,
                                 IB_EVENT_SRQ_LIMIT_REACHED, IB_EVENT_QP_LAST_WQE_REACHED}) {
    EXPECT_GT(census.calls[what], 0u) << "event " << what;
  }
  EXPECT_GT(census.calls[kNotification], 0u);
}

class Differential : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Differential, VerbsFollowTheReference) {
  const std::uint64_t seed = support::test_seed(GetParam());
  const Outcome outcome = run_drawn({}, seed, kSteps);
  const Census& census = outcome.census;
  std::cout << census.completions << " completions of " << outcome.carried_out << " steps, "
            << census.quiet << " quiet points, " << census.races << " races, " << census.split_races
            << " split; full " << census.full << ", invalid " << census.invalid << "\n";
  if (!outcome.difference.empty()) {
    // Shrinking takes time, and may come to no end.
    std::cout << "HCASIM_SEED=" << seed << ", step " << outcome.done.size() << ": "
              << outcome.difference << std::endl;
    FAIL() << report(seed, shrink({}, seed, outcome, kStepsToShrink));
  }
  expect_much(census);
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

TEST(DifferentialItself, FindsALastWqeThatIsNotTold) {
  expect_found({.tells_last_wqe = false});
}

TEST(DifferentialItself, FindsAConnectionThatIsNotTold) {
  expect_found({.tells_comm_est = false});
}

TEST(DifferentialItself, FindsALimitThatStays) {
  expect_found({.limit_stays = true});
}

TEST(DifferentialItself, FindsASecondNotification) {
  expect_found({.stays_armed = true});
}

TEST(DifferentialItself, FindsANotificationOfWhatIsNotSolicited) {
  expect_found({.all_are_solicited = true});
}

TEST(DifferentialItself, FindsAKeyThatStillWorks) {
  expect_found({.invalid_keys_work = true});
}

TEST(DifferentialItself, FindsASendThatOutlivesItsRegion) {
  expect_found({.deregistration_spares_sends = true});
}

TEST(DifferentialItself, FindsAWrongQKeyThatIsTaken) {
  expect_found({.looks_at_qkey = false});
}

TEST(DifferentialItself, FindsAnotherSizeThanAskedFor) {
  expect_found({.resized_srq_slots = 1});
}

TEST(DifferentialItself, PrintsATraceThatCanBeRead) {
  constexpr std::uint32_t kFew = 3'000;
  const Outcome outcome = run_drawn({}, 1, kFew);
  std::istringstream text(to_trace(outcome.done));
  sim::TraceReader reader(text);
  sim::Operation line;
  std::size_t lines = 0;
  while (reader.next(line)) ++lines;
  EXPECT_GT(lines, kFew);
}

}  // namespace
}  // namespace hcasim::differential
