// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Several nodes around a switch, through the whole program.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

// Columns of completions.csv.
constexpr std::size_t kFirstPacketOut = 9;
constexpr std::size_t kFirstPacketIn = 11;

std::int64_t picoseconds(const std::string& ns) {
  return std::llround(std::stod(ns) * 1000);
}

std::uint64_t sum_of(const json& statistics, const std::string& node, const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& unit : statistics["counters"][node]) {
    if (unit.contains(name)) sum += unit[name].get<std::uint64_t>();
  }
  return sum;
}

std::uint64_t dropped(const RunOfLines& run) {
  return sum_of(run.statistics, "switch", "tx_discards_phy");
}

// `messages` writes of 64 KiB from each of the named nodes to node `to`.
Lines writers(const std::vector<std::string>& nodes, int messages) {
  Lines lines;
  for (const std::string& node : nodes) {
    lines.push_back("connect " + node + ".q to." + node + " mtu=4096 mr_length=65536");
  }
  for (int i = 0; i < messages; ++i) {
    for (const std::string& node : nodes) {
      lines.push_back(node + " post_send q RDMA_WRITE length=65536 remote=mr");
    }
  }
  return lines;
}

TEST(Switched, MessagePassesAnIdleSwitchInTheSumOfItsStages) {
  const RunOfLines run = run_lines(
      {"connect a.q b.q", "b post_recv q length=64", "a post_send q SEND length=64 inline at=5us"},
      "--set fabric.topology=switch");
  ASSERT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(run.rows.size(), 1u);
  // Ethernet, IPv4, UDP, BTH, payload, ICRC; then FCS, preamble and gap; 80 ps a byte.
  constexpr std::int64_t kOnTheWire = (14 + 20 + 8 + 12 + 64 + 4 + 4 + 8 + 12) * 80;
  constexpr std::int64_t kMacsAndCable = (150 + 150 + 10) * 1000;
  constexpr std::int64_t kSwitch = 300 * 1000;
  EXPECT_EQ(picoseconds(run.rows[0][kFirstPacketIn]) - picoseconds(run.rows[0][kFirstPacketOut]),
            kOnTheWire + kMacsAndCable + kSwitch + kOnTheWire + kMacsAndCable);
}

TEST(Switched, TwoSendersToOneGetHalfEach) {
  const RunOfLines one = run_lines(writers({"a"}, 8));
  const RunOfLines two = run_lines(writers({"a", "c"}, 8));
  ASSERT_EQ(one.status, 0) << one.err;
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(two.count("messages_completed"), 16u);
  EXPECT_EQ(dropped(two), 0u);
  const auto time_of = [](const RunOfLines& run) {
    return run.statistics["throughput"]["active_ns"].get<double>();
  };
  EXPECT_NEAR(time_of(two) / time_of(one), 2.0, 0.1);
}

TEST(Switched, FlowControlLosesNothingWhereTailDropWould) {
  const Lines lines = writers({"a", "c"}, 8);
  const std::string small = "--set fabric.switch.buffer_bytes=131072";
  const RunOfLines without = run_lines(lines, small);
  ASSERT_EQ(without.status, 0) << without.err;
  EXPECT_GT(dropped(without), 0u);
  EXPECT_GT(sum_of(without.statistics, "a", "n_rc_resends") +
                sum_of(without.statistics, "c", "n_rc_resends"),
            0u);
  const RunOfLines with = run_lines(lines, small + " --set fabric.switch.pfc=true");
  ASSERT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(with.count("messages_completed"), 16u);
  EXPECT_EQ(dropped(with), 0u);
  EXPECT_EQ(sum_of(with.statistics, "a", "n_rc_resends"), 0u);
  const std::uint64_t paused = sum_of(with.statistics, "a", "rx_prio0_pause");
  EXPECT_GT(paused, 0u);
  EXPECT_EQ(with.statistics["counters"]["switch"]["port_a"]["tx_prio0_pause"], paused);
}

TEST(Switched, MarksPacketsOfConnectionsThatAreCapableOfIt) {
  const Lines lines = writers({"a", "c"}, 4);
  const std::string on = "--set fabric.switch.ecn=true ";
  const RunOfLines not_capable = run_lines(lines, on);
  EXPECT_EQ(sum_of(not_capable.statistics, "switch", "ecn_marked"), 0u);
  const RunOfLines capable = run_lines(lines, on + "--set fabric.traffic_class=2");
  ASSERT_EQ(capable.status, 0) << capable.err;
  EXPECT_GT(capable.statistics["counters"]["switch"]["port_to"]["ecn_marked"], 0u);
  const RunOfLines other_seed = run_lines(lines, on + "--set fabric.traffic_class=2 --seed 2");
  EXPECT_NE(other_seed.statistics["counters"]["switch"], capable.statistics["counters"]["switch"]);
}

TEST(Switched, GivesTheSameBytesWithRunAheadOnAndOff) {
  const std::string all =
      "--set fabric.switch.ecn=true --set fabric.switch.pfc=true --set fabric.traffic_class=1 "
      "--set fabric.switch.buffer_bytes=131072";
  for (const std::string& options : {std::string(), all}) {
    const Lines lines = writers({"a", "c", "d"}, 6);
    const RunOfLines on = run_lines(lines, options);
    const RunOfLines off = run_lines(lines, options + " --no-run-ahead");
    ASSERT_EQ(on.status, 0) << on.err;
    EXPECT_EQ(on.statistics, off.statistics);
    EXPECT_EQ(on.csv, off.csv);
  }
}

TEST(Switched, SixtyFourNodesAllToAll) {
  constexpr int kNodes = 64;
  Lines lines;
  const auto node = [](int i) { return "n" + std::to_string(i); };
  for (int i = 0; i < kNodes; ++i) {
    for (int j = i + 1; j < kNodes; ++j) {
      lines.push_back("connect " + node(i) + ".q" + std::to_string(j) + ' ' + node(j) + ".q" +
                      std::to_string(i) + " cqe=1024");
    }
  }
  for (int i = 0; i < kNodes; ++i) {
    for (int j = 0; j < kNodes; ++j) {
      if (i == j) continue;
      lines.push_back(node(i) + " post_send q" + std::to_string(j) +
                      " RDMA_WRITE length=256 remote=mr");
    }
  }
  const RunOfLines run = run_lines(lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 64u * 63);
  for (int i = 0; i < kNodes; ++i) {
    const json& port = run.statistics["counters"]["switch"]["port_" + node(i)];
    // Of each other node a write and its acknowledgement, both ways.
    EXPECT_EQ(port["rx_packets_phy"], 2 * 63) << port;
    EXPECT_EQ(port["tx_packets_phy"], 2 * 63) << port;
  }
}

TEST(Switched, CaptureHoldsWhatEachNodeSendsOnce) {
  const Scratch scratch;
  const std::string pcap = scratch.file("it.pcap");
  const RunOfLines run = run_lines(writers({"a", "c"}, 2), "--pcap " + pcap);
  ASSERT_EQ(run.status, 0) << run.err;
  std::map<std::uint8_t, std::uint64_t> by_node;
  fabric::CaptureReader reader(pcap);
  fabric::CapturedFrame frame;
  fabric::Packet packet;
  while (reader.next(frame)) {
    ASSERT_TRUE(fabric::decode_frame(frame.bytes, packet).is_roce());
    ++by_node[packet.address.src_gid[15]];
  }
  ASSERT_EQ(by_node.size(), 3u);
  const char* const nodes[] = {"a", "to", "c"};  // in the order of the trace
  for (std::uint8_t i = 0; i < 3; ++i) {
    EXPECT_EQ(by_node[static_cast<std::uint8_t>(i + 1)],
              run.statistics["counters"][nodes[i]]["port"]["packets_out"]);
  }
}

// Connections in a ring, made while other messages are under way, and a region of a third node.
TEST(Switched, ControlLinesOfSeveralNodesKeepTheirOrder) {
  const Lines lines = {"connect a.q b.q",
                       "node c",
                       "b post_recv q length=4",
                       "a post_send q SEND length=4",
                       "connect b.r c.r",
                       "connect c.s a.s",
                       "c reg_mr m length=4096",
                       "b post_send r RDMA_WRITE length=4 remote=m",
                       "a post_send s RDMA_READ length=4 remote=m",
                       "c reg_mr late length=4096 at=200us",
                       "b post_send r RDMA_WRITE length=4 remote=late",
                       "a post_send q RDMA_WRITE length=4 remote=mr"};
  const RunOfLines on = run_lines(lines);
  ASSERT_EQ(on.status, 0) << on.err;
  EXPECT_EQ(on.count("messages_completed"), 5u) << on.csv;
  EXPECT_GT(on.posted("r", "1"), 200'000);
  EXPECT_LT(on.posted("q", "1"), 200'000);
  EXPECT_EQ(on.csv, run_lines(lines, "--no-run-ahead").csv);
}

TEST(Switched, TooManyNodesAreRefused) {
  Lines lines;
  for (int i = 0; i < 257; ++i) lines.push_back("node n" + std::to_string(i));
  const RunOfLines run = run_lines(lines);
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("one node to 256, found '257 nodes'"));
}

}  // namespace
}  // namespace hcasim::test
