// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Any mixture of faults ends right: over seeds that draw faults, timeouts and traffic, every
// message is delivered once, whole and in order, or the first that is not fails for want of retries
// and the rest is flushed. The monitor of the protocol rules watches both ends.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rc_traffic.hpp"
#include "support/seed.hpp"

namespace hcasim::faults {
namespace {

constexpr std::uint32_t kConnections = 3;
constexpr std::uint32_t kMostMessages = 40;
constexpr hw::Time kLongest = 20 * hw::kSecond;  // of simulated time; what takes longer hangs

// A packet that is to be repeated may wait behind others whose payload slow memory holds up.
constexpr hw::Time kReaction = 50 * hw::kMicrosecond;

using Counts = std::map<std::string, std::uint64_t>;

class Collector final : public hca::CounterVisitor {
 public:
  void unit(const char*) override {}
  void counter(const char* name, std::uint64_t value) override { counts[name] += value; }
  Counts counts;
};

std::uint64_t memory_bytes() {
  Plan plan;
  plan.messages = kMostMessages;
  return kConnections * RcTraffic::areas(plan) * RcTraffic::kAreaBytes;
}

class Faults : public ::testing::Test {
 protected:
  explicit Faults(const std::vector<std::string>& settings = {"pcie.faults.slow_read=0.05",
                                                              "pcie.faults.slow_read_ns=5000"})
      : pair_(memory_bytes(), 1, settings, {.reaction = kReaction}) {}

  /// What the adapters, ports and faults counted so far, of both nodes.
  Counts counts() {
    Collector all;
    for (std::size_t i = 0; i < 2; ++i) {
      sim::NodeSystem& node = pair_.system().node(i);
      node.adapter().adapter().visit_counters(all);
      const fabric::FaultCounters link = node.adapter().port().fault_counters();
      all.counts["lost"] += link.lost;
      all.counts["duplicated"] += link.duplicated;
      all.counts["reordered"] += link.reordered;
      all.counts["corrupted"] += link.corrupted;
      all.counts["lost_link_down"] += link.lost_link_down;
      all.counts["slow_reads"] += node.host().fault_counters().slow_reads;
      all.counts["read_errors"] += node.host().fault_counters().read_errors;
      all.counts["rx_icrc_encapsulated"] +=
          node.adapter().port().port().counters().rx_icrc_encapsulated;
    }
    return all.counts;
  }

  void set_faults(const fabric::Parameters::Faults& faults, std::uint64_t seed) {
    for (std::size_t i = 0; i < 2; ++i) {
      pair_.system().node(i).adapter().port().set_faults(faults, 2 * seed + i);
    }
  }

  void make_traffic(const Plan& plan) {
    for (std::uint32_t i = 0; i < kConnections; ++i) {
      traffic_.push_back(std::make_unique<RcTraffic>(pair_, plan, i * RcTraffic::areas(plan)));
      traffic_.back()->prepare();
    }
    pair_.settle();
    poll();
  }

  /// Runs all traffic while the faults happen; false when it does not come to its end.
  bool run() {
    const hw::Time begin = pair_.system().now();
    pair_.system().begin_faults(begin);
    for (const auto& traffic : traffic_) {
      for (std::size_t node = 0; node < 2; ++node) {
        pair_.system().node(node).host().cpu().start_task([&, node] { traffic->run(node); });
      }
    }
    const bool more = pair_.system().run_until(begin + kLongest);
    pair_.system().begin_faults(hw::kNever);
    if (more) return false;
    pair_.settle();
    poll();
    return true;
  }

  void poll() {
    for (std::size_t node = 0; node < 2; ++node) {
      for (const rvt::ib_wc& wc : pair_.poll(node)) {
        bool taken = false;
        for (const auto& traffic : traffic_) taken = taken || traffic->take(node, wc);
        EXPECT_TRUE(taken) << "a completion of nobody";
      }
    }
  }

  std::uint64_t check_counters(Counts& counted);

  void finish() {
    for (const auto& traffic : traffic_) traffic->check();
    traffic_.clear();
    pair_.disconnect();
  }

  support::ConnectedPair pair_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
};

/// What a seed stands for.
struct Scenario {
  fabric::Parameters::Faults link;
  Plan plan;
};

Scenario draw(std::uint64_t seed) {
  sim::Random random(sim::Random::mix(seed));
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random.below(limit));
  };
  Scenario scenario;
  fabric::Parameters::Faults& link = scenario.link;
  const auto probability = [&](std::uint32_t most_of_thousand) {
    return below(2) == 0 ? 0.0 : (1 + below(most_of_thousand)) / 1000.0;
  };
  link.loss = probability(100);
  link.duplication = probability(200);
  link.reordering = probability(200);
  link.corruption = probability(100);
  link.duplication_delay_ns = below(5'000);
  link.reordering_delay_ns = 50 + below(5'000);
  if (below(3) == 0) {
    link.down_at_ns = below(40'000);
    link.down_for_ns = 1'000 + below(60'000);
  }
  Plan& plan = scenario.plan;
  plan.seed = seed;
  plan.messages = 4 + below(kMostMessages - 3);
  plan.pair.mtu = static_cast<rvt::ib_mtu>(1 + below(5));
  plan.pair.sq_psn = below(3) == 0 ? 0xfffff8 : below(0x1000000);
  plan.pair.timeout = static_cast<std::uint8_t>(4 + below(6));  // 66 us to 2.1 ms
  plan.pair.min_rnr_timer = static_cast<std::uint8_t>(1 + below(10));
  // Eight tries in a row fail now and then where one packet in ten is lost.
  plan.may_fail = link.loss + link.corruption > 0.06;
  if (below(8) == 0) {  // beyond what retries make up for
    plan.may_fail = true;
    link.down_at_ns = below(20'000);
    link.down_for_ns = 50'000'000;
  } else if (below(6) == 0) {
    plan.may_fail = true;
    plan.pair.min_rnr_timer = static_cast<std::uint8_t>(1 + below(4));
    plan.pair.retry_cnt = static_cast<std::uint8_t>(below(3));
    plan.pair.rnr_retry = static_cast<std::uint8_t>(below(2));
    plan.receive_pause_ns = 200'000;
  }
  return scenario;
}

// What was counted since `before`. The counters of a link are new with each seed.
Counts since(const Counts& before, Counts after) {
  for (auto& [name, count] : after) {
    const bool of_link = name == "lost" || name == "duplicated" || name == "reordered" ||
                         name == "corrupted" || name == "lost_link_down";
    const auto found = before.find(name);
    if (!of_link && found != before.end()) count -= found->second;
  }
  return after;
}

// Each of them has happened. One seed need not have them all, but a hundred do.
void expect_all_happened(const Counts& happened) {
  for (const char* name :
       {"lost", "duplicated", "reordered", "corrupted", "lost_link_down", "slow_reads",
        "rx_icrc_encapsulated", "out_of_sequence", "packet_seq_err", "implied_nak_seq_err",
        "local_ack_timeout_err", "duplicate_request", "rnr_nak_retry_err", "out_of_buffer",
        "req_transport_retries_exceeded", "req_rnr_retries_exceeded", "atomic_replays",
        "req_cqe_flush_error", "resp_cqe_flush_error"}) {
    const auto found = happened.find(name);
    ASSERT_NE(found, happened.end()) << name;
    std::cout << name << ": " << found->second << '\n';
    EXPECT_GT(found->second, 0u) << name;
  }
}

// The counters tell of the failures that completions tell of. Returns how many there were.
std::uint64_t Faults::check_counters(Counts& counted) {
  std::uint32_t out_of_retries = 0;
  std::uint32_t out_of_rnr_retries = 0;
  for (const auto& traffic : traffic_) {
    out_of_retries += traffic->ended_with(rvt::IB_WC_RETRY_EXC_ERR);
    out_of_rnr_retries += traffic->ended_with(rvt::IB_WC_RNR_RETRY_EXC_ERR);
  }
  EXPECT_EQ(out_of_retries, counted["req_transport_retries_exceeded"]);
  EXPECT_EQ(out_of_rnr_retries, counted["req_rnr_retries_exceeded"]);
  EXPECT_EQ(out_of_retries + out_of_rnr_retries, counted["req_cqe_error"]);
  EXPECT_LE(counted["rx_icrc_encapsulated"], counted["corrupted"]);
  return counted["req_cqe_error"];
}

TEST_F(Faults, EveryMixtureEndsRight) {
  constexpr std::uint32_t kSeeds = 100;
  const std::uint64_t first = support::test_seed(1);
  std::uint32_t runs_with_failures = 0;
  Counts happened;
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) {
    SCOPED_TRACE("HCASIM_SEED=" + std::to_string(seed));
    const Scenario scenario = draw(seed);
    const Counts before = counts();
    make_traffic(scenario.plan);
    set_faults(scenario.link, seed);
    ASSERT_TRUE(run()) << "it does not come to its end";
    Counts counted = since(before, counts());
    runs_with_failures += check_counters(counted) != 0 ? 1 : 0;
    for (const auto& [name, count] : counted) happened[name] += count;
    finish();
    if (HasFailure()) return;
  }
  expect_all_happened(happened);
  EXPECT_GT(runs_with_failures, 0u);
  EXPECT_LT(runs_with_failures, kSeeds / 2);
}

class HostFaults : public Faults {
 protected:
  HostFaults() : Faults({"pcie.faults.read_error=0.002"}) {}
};

// Whatever a DMA read was for that fails - a work request, a payload, a receive, an atomic - the
// queue pair ends with an error and everything posted completes.
TEST_F(HostFaults, AReadThatFailsEndsItsQueuePairAndNothingHangs) {
  constexpr std::uint32_t kSeeds = 60;
  const std::uint64_t first = support::test_seed(1);
  std::map<int, std::uint32_t> ends;
  for (std::uint32_t n = 0; n < kSeeds; ++n) {
    SCOPED_TRACE("HCASIM_SEED=" + std::to_string(first + n));
    Plan plan;
    plan.seed = first + n;
    plan.messages = kMostMessages / 2;
    plan.pair.timeout = 6;
    plan.pair.min_rnr_timer = 5;
    plan.may_fail = plan.host_fails = true;
    make_traffic(plan);
    ASSERT_TRUE(run()) << "it does not come to its end";
    for (const auto& traffic : traffic_) {
      for (int status = rvt::IB_WC_SUCCESS; status <= rvt::IB_WC_GENERAL_ERR; ++status) {
        ends[status] += traffic->ended_with(static_cast<rvt::ib_wc_status>(status));
      }
    }
    finish();
    if (HasFailure()) return;
  }
  for (const auto& [status, count] : ends) {
    if (count != 0) std::cout << "status " << status << ": " << count << '\n';
  }
  EXPECT_GT(ends[rvt::IB_WC_SUCCESS], ends[rvt::IB_WC_WR_FLUSH_ERR]);
  for (const auto status : {rvt::IB_WC_WR_FLUSH_ERR, rvt::IB_WC_LOC_QP_OP_ERR,
                            rvt::IB_WC_REM_OP_ERR, rvt::IB_WC_RETRY_EXC_ERR}) {
    EXPECT_GT(ends[status], 0u) << int{status};
  }
  EXPECT_GT(counts()["read_errors"], 0u);
}

}  // namespace
}  // namespace hcasim::faults
