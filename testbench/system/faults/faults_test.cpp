// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Any mixture of faults ends right for RC: over seeds that draw faults, timeouts and traffic, every
// message is delivered once, whole and in order, or the first that is not fails for want of retries
// and the rest is flushed.
#include <iostream>

#include "bench.hpp"
#include "support/seed.hpp"

namespace hcasim::faults {
namespace {

const std::vector<rvt::ib_qp_type> kReliable(kConnections, rvt::IB_QPT_RC);

TEST_F(Faults, EveryMixtureEndsRight) {
  constexpr std::uint32_t kSeeds = 100;
  const std::uint64_t first = support::test_seed(1);
  std::uint32_t runs_with_failures = 0;
  Counts happened;
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) {
    runs_with_failures += run_seed(seed, kReliable, happened) != 0 ? 1 : 0;
    if (HasFailure()) return;
  }
  expect_happened(
      happened, {"lost", "duplicated", "reordered", "corrupted", "lost_link_down", "slow_reads",
                 "rx_icrc_encapsulated", "out_of_sequence", "packet_seq_err", "implied_nak_seq_err",
                 "local_ack_timeout_err", "duplicate_request", "rnr_nak_retry_err", "out_of_buffer",
                 "req_transport_retries_exceeded", "req_rnr_retries_exceeded", "atomic_replays",
                 "req_cqe_flush_error", "resp_cqe_flush_error"});
  EXPECT_GT(runs_with_failures, 0u);
  EXPECT_LT(runs_with_failures, kSeeds / 2);
}

class HostFaults : public Faults {
 protected:
  HostFaults() : Faults({"pcie.faults.read_error=0.002"}) {}

  // Runs that end with as many of each status as are returned.
  std::map<int, std::uint32_t> run_seeds(std::uint32_t seeds, rvt::ib_qp_type type) {
    const std::uint64_t first = support::test_seed(1);
    std::map<int, std::uint32_t> ends;
    for (std::uint32_t n = 0; n < seeds && !HasFailure(); ++n) {
      SCOPED_TRACE("HCASIM_SEED=" + std::to_string(first + n));
      Plan plan;
      plan.seed = first + n;
      plan.messages = kMostMessages / 2;
      plan.pair.timeout = 6;
      plan.pair.min_rnr_timer = 5;
      plan.may_fail = plan.host_fails = true;
      for (std::uint32_t i = 0; i < kConnections; ++i) add_traffic(type, plan, i);
      EXPECT_TRUE(run()) << "it does not come to its end";
      count_ends(ends);
      finish();
    }
    for (const auto& [status, count] : ends) {
      if (count != 0) std::cout << "status " << status << ": " << count << '\n';
    }
    EXPECT_GT(counts()["read_errors"], 0u);
    return ends;
  }
};

// Whatever a DMA read was for that fails - a work request, a payload, a receive, an atomic - the
// queue pair ends with an error and everything posted completes.
TEST_F(HostFaults, AReadThatFailsEndsItsQueuePairAndNothingHangs) {
  std::map<int, std::uint32_t> ends = run_seeds(60, rvt::IB_QPT_RC);
  EXPECT_GT(ends[rvt::IB_WC_SUCCESS], ends[rvt::IB_WC_WR_FLUSH_ERR]);
  for (const auto status : {rvt::IB_WC_WR_FLUSH_ERR, rvt::IB_WC_LOC_QP_OP_ERR,
                            rvt::IB_WC_REM_OP_ERR, rvt::IB_WC_RETRY_EXC_ERR}) {
    EXPECT_GT(ends[status], 0u) << int{status};
  }
}

class UnreliableHostFaults : public HostFaults,
                             public testing::WithParamInterface<rvt::ib_qp_type> {};

// The peer hears nothing of it: no send fails for what happened at the other end.
TEST_P(UnreliableHostFaults, AReadThatFailsEndsOnlyItsOwnQueues) {
  std::map<int, std::uint32_t> ends = run_seeds(60, GetParam());
  EXPECT_GT(ends[rvt::IB_WC_SUCCESS], ends[rvt::IB_WC_WR_FLUSH_ERR]);
  EXPECT_GT(ends[rvt::IB_WC_WR_FLUSH_ERR], 0u);
  EXPECT_GT(ends[rvt::IB_WC_LOC_QP_OP_ERR], 0u);
  const std::uint32_t own =
      ends[rvt::IB_WC_SUCCESS] + ends[rvt::IB_WC_WR_FLUSH_ERR] + ends[rvt::IB_WC_LOC_QP_OP_ERR];
  std::uint32_t all = 0;
  for (const auto& [status, count] : ends) all += count;
  EXPECT_EQ(own, all);
}

INSTANTIATE_TEST_SUITE_P(Services, UnreliableHostFaults,
                         testing::Values(rvt::IB_QPT_UC, rvt::IB_QPT_UD), [](const auto& type) {
                           return type.param == rvt::IB_QPT_UC ? "Uc" : "Ud";
                         });

}  // namespace
}  // namespace hcasim::faults
