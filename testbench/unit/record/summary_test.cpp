// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "pair.hpp"
#include "sim/record/summary.hpp"

namespace hcasim::sim::test {
namespace {

std::vector<std::string> lines_of(const RunStatistics& statistics) {
  std::ostringstream out;
  print_summary(out, statistics, {1.5, 3'000'000});
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Two nodes with long names, every opcode, several errors and large numbers everywhere.
RunStatistics large_run() {
  RunStatistics statistics;
  statistics.partial = true;
  statistics.messages_completed = 123'456'789'012;
  statistics.bytes_delivered = 123'456'789'012'345;
  statistics.sim_time = statistics.last_completion = 1000 * hw::kSecond;
  statistics.latency = {
      5, 999'999, 1'000'000, 1'500'000, 2 * hw::kMillisecond, 3 * hw::kSecond, 4 * hw::kSecond};
  for (const char* name : {"a_rather_long_name_of_a_node", "b"}) {
    NodeStatistics& node = statistics.nodes.emplace_back();
    node.name = name;
    for (const int opcode : {0, 1, 2, 3, 4, 5, 6, 9}) {
      OpcodeStatistics& entry = node.opcodes.emplace_back();
      entry.opcode = static_cast<WrOpcode>(opcode);
      entry.completed = 1'234'567'890;
      entry.bytes = 123'456'789'012'345;
      entry.failed = 1'000'000;
      entry.flushed = 10'000'000;
      entry.unfinished = 128;
      entry.errors = {{WcStatus::kRemAccessErr, 400'000}, {WcStatus::kRnrRetryExcErr, 600'000}};
    }
    for (const QueueKind queue : {QueueKind::kReceive, QueueKind::kSend, QueueKind::kCompletion}) {
      statistics.occupancy.push_back({name, queue, 16'383'999, 16'384, 32'768, 1'000'000});
    }
    for (const char* resource :
         {"wire", "pcie_up", "pcie_down", "doorbell", "wqe_fetch", "requester", "responder",
          "response", "atomic", "completion", "event", "receive_queue"}) {
      statistics.utilisation.push_back({name, resource, 1.0});
    }
    for (const char* counter :
         {"n_rnr_naks", "rnr_naks", "n_rc_resends", "local_ack_timeout_err", "qpc_cache_miss",
          "qpc_cache_hit", "cqc_cache_hit", "mpt_cache_hit", "mtt_cache_hit", "rwqe_cache_hit"}) {
      statistics.counters.push_back({name, "x", counter, 4'000'000'000});
    }
  }
  return statistics;
}

TEST(Summary, TwoBusyNodesFitAScreen) {
  const auto lines = lines_of(large_run());
  EXPECT_LE(lines.size(), 24u);
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_FALSE(line.empty());
    EXPECT_NE(line.back(), ' ') << line;
  }
}

TEST(Summary, ManyNodesAreSummedUp) {
  RunStatistics statistics = large_run();
  for (int i = 2; i < 9; ++i) {
    const std::string name = "n" + std::to_string(i);
    statistics.nodes.push_back(statistics.nodes[1]);
    statistics.nodes.back().name = name;
    statistics.occupancy.push_back({name, QueueKind::kReceive, 0, 1, 40'000, 0});
    statistics.utilisation.push_back({name, "wire", 0.5});
    statistics.counters.push_back({name, "x", "n_rnr_naks", 1});
  }
  statistics.counters.push_back({"switch", "port_b", "tx_discards_phy", 3});
  const auto lines = lines_of(statistics);
  EXPECT_LE(lines.size(), 24u);
  const auto line_with = [&](const std::string& text) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
    return found == lines.end() ? "" : *found;
  };
  EXPECT_NE(line_with("9 nodes     RDMA_WRITE ").find("11111111010"), std::string::npos);
  EXPECT_NE(line_with("RNR NAKs").find("9 nodes   RNR NAKs sent 8000000000, received 8000000007"),
            std::string::npos);
  EXPECT_EQ(line_with("packets dropped"), "switch      3 packets dropped at a full output");
  EXPECT_NE(line_with("wire").find("wire up to 100.0%"), std::string::npos);
  EXPECT_NE(line_with(" 40000 ").find("3640.9 16384 40000   22%"), std::string::npos);
}

TEST(Summary, RareOpcodesAreTakenTogether) {
  RunStatistics statistics;
  NodeStatistics& node = statistics.nodes.emplace_back();
  node.name = "a";
  for (const int opcode : {0, 2, 4, 5, 6}) {
    OpcodeStatistics& entry = node.opcodes.emplace_back();
    entry.opcode = static_cast<WrOpcode>(opcode);
    entry.completed = static_cast<std::uint64_t>(10 + opcode);
    entry.failed = 1;
    entry.errors = {{WcStatus::kRemOpErr, 1}};
  }
  const auto lines = lines_of(statistics);
  EXPECT_EQ(lines[1].substr(12, 34), "ATOMIC_FETCH_AND_ADD         16   ");
  EXPECT_EQ(lines[4].substr(12, 34), "(others)                     22   ");
  EXPECT_NE(lines[4].find("2 REM_OP_ERR"), std::string::npos);
}

TEST(Summary, WholeText) {
  Pair pair;
  for (int i = 0; i < 2; ++i) pair.receive_posted(0);
  const std::uint64_t message = pair.post(WrOpcode::kSend, 4000, 100);
  pair.received(message, 500);
  pair.send_cqe(message, 800);
  pair.receive_polled(4000, 630);
  pair.send_polled(0, 900);
  pair.post(WrOpcode::kRdmaRead, 1, 600);
  pair.send_polled(1, 700, WcStatus::kRemAccessErr);
  RunStatistics statistics = pair.close(1000);
  statistics.utilisation = {{"a", "wire", 0.421}, {"a", "pcie_up", 1}, {"b", "wire", 0.0004}};
  statistics.counters = {{"a", "response_handler", "n_rnr_naks", 3},
                         {"b", "response", "rnr_naks", 3}};
  std::ostringstream out;
  print_summary(out, statistics, {0.5, 40'000});
  EXPECT_EQ(out.str(),
            R"(node        opcode                completed  failed  flushed           bytes  errors
a           SEND                          1       0        0            4000
a           RDMA_READ                     0       1        0               0  1 REM_ACCESS_ERR
throughput  40.0 Gb/s, 1.25 M messages/s over 800.000 ns of 1.000 us simulated
latency     min 800.000 ns, median 800.000 ns, p99 800.000 ns, p99.9 800.000 ns, max 800.000 ns
retries     a         RNR NAKs sent 0, received 3; packets sent again 0; timeouts 0
            b         RNR NAKs sent 3, received 0; packets sent again 0; timeouts 0
occupancy              RQ mean   p99   max empty SQ mean   p99   max empty CQ mean   p99   max empty
            a              0.0     0     0  100%     0.9     2     2   20%     0.1     1     1   90%
            b              1.6     2     2    0%     0.0     0     0  100%     0.1     1     1   90%
utilisation a         wire 42.1%, pcie_up 100.0%
            b         wire 0.0%
simulation  0.500 s of wall clock: 2 messages/s, 80.0 k events/s
)");
}

TEST(Summary, CachesShowWhereSomethingMissed) {
  RunStatistics statistics;
  for (const char* name : {"a", "b"}) statistics.nodes.emplace_back().name = name;
  statistics.counters = {{"a", "context_cache", "qpc_cache_hit", 100},
                         {"b", "context_cache", "qpc_cache_hit", 30},
                         {"b", "context_cache", "qpc_cache_miss", 10},
                         {"b", "context_cache", "mtt_cache_hit", 5},
                         {"b", "context_cache", "rwqe_cache_miss", 7}};
  std::vector<std::string> shown;
  for (const std::string& line : lines_of(statistics)) {
    if (line.starts_with("cache hits")) shown.push_back(line);
  }
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0], "cache hits  b         QPC 75.0%, MTT 100.0%, receive WQE 0.0%");
}

TEST(Summary, ARunWithoutMessages) {
  const auto lines = lines_of({});
  EXPECT_NE(std::find(lines.begin(), lines.end(),
                      "latency     no message completed with a completion of its own"),
            lines.end());
}

}  // namespace
}  // namespace hcasim::sim::test
