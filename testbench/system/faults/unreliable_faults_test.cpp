// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Whatever befalls the packets of UC and UD, what a receive completes with is one message that was
// sent, whole; every send completes, and the receives that are left serve what is sent next.
#include "bench.hpp"
#include "support/seed.hpp"

namespace hcasim::faults {
namespace {

constexpr std::uint32_t kSeeds = 100;

TEST_F(Faults, EveryMixtureOnUcLeavesWholeMessages) {
  const std::uint64_t first = support::test_seed(1);
  Counts happened;
  for (std::uint64_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) {
    run_seed(seed, std::vector(kConnections, rvt::IB_QPT_UC), happened);
  }
  expect_happened(happened, {"lost", "duplicated", "reordered", "corrupted", "lost_link_down",
                             "slow_reads", "rx_icrc_encapsulated", "out_of_sequence",
                             "out_of_buffer", "resp_local_length_error", "n_pkt_drops"});
}

TEST_F(Faults, EveryMixtureOnUdLeavesWholeMessages) {
  const std::uint64_t first = support::test_seed(1);
  Counts happened;
  for (std::uint64_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) {
    run_seed(seed, std::vector(kConnections, rvt::IB_QPT_UD), happened);
  }
  expect_happened(happened, {"lost", "duplicated", "reordered", "corrupted", "lost_link_down",
                             "slow_reads", "rx_icrc_encapsulated", "out_of_buffer",
                             "resp_local_length_error", "n_pkt_drops"});
}

// A slow link behind a small buffer, and adapters that hold one context of each kind.
class SwitchFaults : public Faults {
 protected:
  SwitchFaults() : Faults(settings()) {}

  static std::vector<std::string> settings() {
    std::vector<std::string> all = slow_reads();
    all.insert(
        all.end(),
        {"fabric.topology=switch", "node.b.fabric.rate_gbps=40", "fabric.switch.buffer_bytes=24576",
         "hca.qpc_cache.entries=2", "hca.qpc_cache.ways=1", "hca.mpt_cache.entries=1",
         "hca.mpt_cache.ways=1", "hca.mtt_cache.entries=4", "hca.mtt_cache.ways=1"});
    return all;
  }
};

TEST_F(SwitchFaults, AllServicesEndRightSideBySide) {
  const std::uint64_t first = support::test_seed(1);
  Counts happened;
  for (std::uint64_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) {
    run_seed(seed, {rvt::IB_QPT_RC, rvt::IB_QPT_UC, rvt::IB_QPT_UD}, happened);
  }
  expect_happened(happened,
                  {"tx_discards_phy", "lost", "duplicated", "reordered", "corrupted",
                   "lost_link_down", "out_of_sequence", "out_of_buffer", "local_ack_timeout_err",
                   "qpc_cache_miss", "mpt_cache_miss", "mtt_cache_miss"});
}

}  // namespace
}  // namespace hcasim::faults
