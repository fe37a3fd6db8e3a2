// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "bench.hpp"

#include <algorithm>
#include <iostream>
#include <string_view>

#include "rc_traffic.hpp"
#include "unreliable_traffic.hpp"

namespace hcasim::faults {

namespace {

constexpr hw::Time kLongest = 20 * hw::kSecond;  // of simulated time; what takes longer hangs

// A packet that is to be repeated may wait behind others whose payload slow memory holds up.
constexpr hw::Time kReaction = 50 * hw::kMicrosecond;

class Collector final : public hca::CounterVisitor {
 public:
  void unit(const char*) override {}
  void counter(const char* name, std::uint64_t value) override { counts[name] += value; }
  Counts counts;
};

std::uint32_t areas(const Plan& plan) {
  return std::max(RcTraffic::areas(plan), UnreliableTraffic::areas(plan));
}

std::uint64_t memory_bytes() {
  Plan plan;
  plan.messages = kMostMessages;
  return std::uint64_t{kConnections} * areas(plan) * kAreaBytes;
}

}  // namespace

Faults::Faults(const std::vector<std::string>& settings)
    : pair_(memory_bytes(), 1, settings, {.reaction = kReaction}) {}

Counts Faults::counts() {
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
    if (pair_.system().network_switch() == nullptr) continue;
    fabric::Switch& network_switch = pair_.system().network_switch()->core();
    all.counts["tx_discards_phy"] += network_switch.counters(i).tx_discards_phy;
  }
  return all.counts;
}

void Faults::set_faults(const fabric::Parameters::Faults& faults, std::uint64_t seed) {
  for (std::size_t i = 0; i < 2; ++i) {
    pair_.system().node(i).adapter().port().set_faults(faults, 2 * seed + i);
  }
}

void Faults::add_traffic(rvt::ib_qp_type type, Plan plan, std::uint32_t index) {
  plan.pair.type = type;
  const std::uint32_t first_area = index * areas(plan);
  if (type == rvt::IB_QPT_RC) {
    traffic_.push_back(std::make_unique<RcTraffic>(pair_, plan, first_area));
  } else {
    traffic_.push_back(std::make_unique<UnreliableTraffic>(pair_, plan, first_area));
  }
  traffic_.back()->prepare();
}

bool Faults::run() {
  pair_.settle();
  poll();
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

void Faults::poll() {
  for (std::size_t node = 0; node < 2; ++node) {
    for (const rvt::ib_wc& wc : pair_.poll(node)) {
      bool taken = false;
      for (const auto& traffic : traffic_) taken = taken || traffic->take(node, wc);
      EXPECT_TRUE(taken) << "a completion of nobody";
    }
  }
}

void Faults::finish() {
  for (const auto& traffic : traffic_) traffic->check();
  traffic_.clear();
  pair_.disconnect();
}

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

std::uint64_t Faults::run_seed(std::uint64_t seed, const std::vector<rvt::ib_qp_type>& types,
                               Counts& happened) {
  SCOPED_TRACE("HCASIM_SEED=" + std::to_string(seed));
  const Scenario scenario = draw(seed);
  const Counts before = counts();
  for (std::uint32_t i = 0; i < types.size(); ++i) add_traffic(types[i], scenario.plan, i);
  set_faults(scenario.link, seed);
  const bool ended = run();
  EXPECT_TRUE(ended) << "it does not come to its end";
  if (!ended) return 0;
  Counts counted = since(before, counts());
  const std::uint64_t failures = check_counters(counted);
  for (const auto& [name, count] : counted) happened[name] += count;
  finish();
  return failures;
}

void Faults::count_ends(std::map<int, std::uint32_t>& ends) const {
  for (const auto& traffic : traffic_) {
    for (int status = rvt::IB_WC_SUCCESS; status <= rvt::IB_WC_GENERAL_ERR; ++status) {
      ends[status] += traffic->ended_with(static_cast<rvt::ib_wc_status>(status));
    }
  }
}

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
  plan.link_duplicates = link.duplication > 0;
  plan.link_reorders = link.reordering > 0;
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

Counts since(const Counts& before, Counts after) {
  constexpr std::string_view kOfLink[] = {"lost", "duplicated", "reordered", "corrupted",
                                          "lost_link_down"};
  for (auto& [name, count] : after) {
    const auto found = before.find(name);
    if (!std::ranges::count(kOfLink, name) && found != before.end()) count -= found->second;
  }
  return after;
}

void expect_happened(const Counts& happened, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = happened.find(name);
    ASSERT_NE(found, happened.end()) << name;
    std::cout << name << ": " << found->second << '\n';
    EXPECT_GT(found->second, 0u) << name;
  }
}

}  // namespace hcasim::faults
