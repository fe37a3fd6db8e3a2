// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Adapters with several ports, through the whole program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

// Columns of completions.csv.
constexpr std::size_t kFirstPacketOut = 9;
constexpr std::size_t kLastPacketOut = 10;

constexpr int kMessages = 8;
const std::string kTwo = "--set hca.ports=2 ";
const std::string kSlowWire = "--set fabric.rate_gbps=40 ";  // PCIe has room for two of them

// Ethernet, IPv4, UDP, BTH, payload, ICRC, then FCS, preamble and gap; a RETH a message; 200 ps a
// byte.
constexpr std::int64_t kPacket = 14 + 20 + 8 + 12 + 4096 + 4 + 4 + 8 + 12;
constexpr std::int64_t kMessage = 16 * kPacket + 16;
constexpr std::int64_t kStream = kMessages * kMessage * 200;

Lines two_streams(const std::string& second_port) {
  Lines lines = {"connect a.q b.q mtu=4096 mr_length=65536",
                 "connect a.r b.r mtu=4096 mr_length=65536" + second_port};
  for (int i = 0; i < kMessages; ++i) {
    for (const char* qp : {"q", "r"}) {
      lines.push_back(std::string("a post_send ") + qp + " RDMA_WRITE length=65536 remote=mr");
    }
  }
  return lines;
}

// From the first bit of the first packet of a queue pair, or of all, to that of the last one.
std::int64_t span_of(const RunOfLines& run, const std::string& qp) {
  double first = 1e18;
  double last = 0;
  for (const auto& row : run.rows) {
    if (!qp.empty() && row[1] != qp) continue;
    first = std::min(first, std::stod(row[kFirstPacketOut]));
    last = std::max(last, std::stod(row[kLastPacketOut]));
  }
  return std::llround((last - first) * 1000);
}

TEST(TwoPorts, CarryTwiceAsMuchAsOne) {
  const RunOfLines both = run_lines(two_streams(" port_num=2"), kTwo + kSlowWire);
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_EQ(span_of(both, "q"), kStream - kPacket * 200);
  EXPECT_EQ(span_of(both, "r"), kStream - kPacket * 200);
  const RunOfLines one = run_lines(two_streams(""), kTwo + kSlowWire);
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(span_of(one, ""), 2 * kStream - kPacket * 200);
}

// Two senders to the first port of one node: both are paused, at that port alone.
TEST(TwoPorts, APausedOneHoldsUpNoOther) {
  Lines lines = {"connect a.q to.q mtu=4096 mr_length=65536",
                 "connect c.s to.s mtu=4096 mr_length=65536",
                 "connect a.r to.r mtu=4096 mr_length=65536 port_num=2"};
  for (int i = 0; i < kMessages; ++i) {
    for (const char* from : {"a post_send q", "c post_send s", "a post_send r"}) {
      lines.push_back(std::string(from) + " RDMA_WRITE length=65536 remote=mr");
    }
  }
  // After a pause the payloads of many packets are read at once: PCIe has to have room for these.
  const RunOfLines run =
      run_lines(lines, kTwo + kSlowWire + "--set fabric.switch.pfc=true --set pcie.generation=5");
  ASSERT_EQ(run.status, 0) << run.err;
  const auto& counters = run.statistics["counters"]["a"];
  EXPECT_GT(counters["port"]["rx_prio0_pause"], 0);
  EXPECT_EQ(counters["port.2"]["rx_prio0_pause"], 0);
  EXPECT_GT(span_of(run, "q"), kStream * 3 / 2);
  EXPECT_EQ(span_of(run, "r"), kStream - kPacket * 200);
}

TEST(TwoPorts, AreCountedApart) {
  const RunOfLines run = run_lines(two_streams(" port_num=2"), kTwo);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto& counters = run.statistics["counters"]["a"];
  EXPECT_EQ(counters["port"]["packets_out"], 16 * kMessages);
  EXPECT_EQ(counters["port.2"]["packets_out"], 16 * kMessages);
  EXPECT_TRUE(counters["faults.2"].contains("packets_lost"));
  EXPECT_GT(run.statistics["utilisation"]["a"]["wire.2"].get<double>(), 0.1);
}

TEST(TwoPorts, OfWhichOneIsUsedAreAsGoodAsOne) {
  const RunOfLines one = run_lines(two_streams(""), kSlowWire);
  const RunOfLines two = run_lines(two_streams(""), kTwo + kSlowWire);
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.csv, two.csv);
  EXPECT_FALSE(one.statistics["counters"]["a"].contains("port.2"));
}

TEST(TwoPorts, GiveTheSameBytesWithRunAheadOnAndOff) {
  for (const std::string topology : {"", "--set fabric.topology=switch "}) {
    const RunOfLines ahead = run_lines(two_streams(" port_num=2"), kTwo + topology);
    const RunOfLines in_step =
        run_lines(two_streams(" port_num=2"), kTwo + topology + "--no-run-ahead");
    ASSERT_EQ(ahead.status, 0) << ahead.err;
    EXPECT_EQ(ahead.csv, in_step.csv);
    EXPECT_EQ(ahead.statistics, in_step.statistics);
  }
}

// The queue pairs of a connection on ports with different numbers.
Lines crossed(const std::string& type) {
  const bool datagram = type == "UD";
  Lines lines = {"node a", "node b"};
  for (const char* node : {"a ", "b "}) {
    lines.push_back(std::string(node) + "reg_mr mr length=4096");
    lines.push_back(std::string(node) + "create_cq cq");
    lines.push_back(std::string(node) + "create_qp q send_cq=cq recv_cq=cq type=" + type);
  }
  const std::string init =
      " state=INIT pkey_index=0 " + std::string(datagram ? "qkey=0x7" : "qp_access_flags=all");
  lines.push_back("a modify_qp q port_num=1" + init);
  lines.push_back("b modify_qp q port_num=2" + init);
  const std::string rtr =
      datagram ? "" : " path_mtu=1024 rq_psn=0 max_dest_rd_atomic=4 min_rnr_timer=12";
  lines.push_back("a modify_qp q state=RTR dest=b.q" + rtr);
  lines.push_back("b modify_qp q state=RTR dest=a.q" + rtr);
  for (const char* node : {"a ", "b "}) {
    lines.push_back(std::string(node) + "modify_qp q state=RTS sq_psn=0" +
                    (datagram ? "" : " timeout=14 retry_cnt=7 rnr_retry=7 max_rd_atomic=4"));
  }
  lines.push_back("b post_recv q length=104");
  lines.push_back("a post_send q SEND length=64");
  return lines;
}

TEST(TwoPorts, OfDifferentNumbersMeetAtASwitch) {
  for (const std::string type : {"RC", "UD"}) {
    const RunOfLines run = run_lines(crossed(type), kTwo + "--set fabric.topology=switch");
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.count("messages_completed"), 1u);
    const auto& counters = run.statistics["counters"];
    EXPECT_EQ(counters["switch"]["port_b.2"]["tx_packets_phy"], 1);
    EXPECT_EQ(counters["switch"]["port_b"]["tx_packets_phy"], 0);
    EXPECT_EQ(counters["switch"]["port_a.2"]["rx_packets_phy"], 0);
    EXPECT_EQ(counters["b"]["port.2"]["packets_in"], 1);
  }
}

TEST(TwoPorts, AtACableNeedTwoPortsAtItsOtherEnd) {
  const RunOfLines run = run_lines({"connect a.q b.q"}, "--set node.b.hca.ports=2");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("hca.ports of node b"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("fabric.topology"), std::string::npos) << run.err;
  EXPECT_EQ(run_lines({"connect a.q b.q", "a post_send q SEND length=1", "b post_recv q length=1"},
                      "--set node.b.hca.ports=2 --set fabric.topology=switch")
                .status,
            0);
}

TEST(TwoPorts, AThirdOneIsRefused) {
  const RunOfLines run = run_lines({"connect a.q b.q port_num=3"}, kTwo);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("modify_qp to INIT"), std::string::npos) << run.err;
}

// Which addresses send in a capture.
std::set<std::uint8_t> networks_in(const std::string& pcap) {
  std::set<std::uint8_t> networks;
  fabric::CaptureReader reader(pcap);
  fabric::CapturedFrame frame;
  fabric::Packet packet;
  while (reader.next(frame)) {
    if (fabric::decode_frame(frame.bytes, packet).is_roce()) {
      networks.insert(packet.address.src_gid[13]);
    }
  }
  return networks;
}

TEST(TwoPorts, ACaptureOfTheSecondOneIsImportedAndReplayed) {
  const Scratch scratch("round");
  const std::string pcap = scratch.file("it.pcap");
  const RunOfLines run = run_lines({"connect a.q b.q port_num=2", "b post_recv q length=64",
                                    "a post_send q SEND length=64 at=5us",
                                    "a post_send q RDMA_WRITE length=9000 remote=mr at=10us"},
                                   kTwo + "--pcap " + pcap);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(networks_in(pcap), std::set<std::uint8_t>{1});
  const std::string trace = scratch.file("it.trace");
  const Outcome imported = hcasim("import " + pcap + " -o " + trace);
  ASSERT_EQ(imported.status, 0) << imported.err;
  const Outcome again = hcasim("run " + trace + " --json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["messages_completed"], 2);
}

TEST(LinkDown, IsCounted) {
  const Lines lines = {"connect a.q b.q timeout=4", "a post_send q RDMA_WRITE length=64 remote=mr",
                       "a post_send q RDMA_WRITE length=64 remote=mr at=30us"};
  const RunOfLines run = run_lines(
      lines,
      "--set node.a.fabric.faults.down_at_ns=20000 --set node.a.fabric.faults.down_for_ns=30000");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* node : {"a", "b"}) {
    EXPECT_EQ(run.statistics["counters"][node]["event"]["port_err"], 1) << node;
    EXPECT_EQ(run.statistics["counters"][node]["event"]["port_active"], 1) << node;
  }
}

}  // namespace
}  // namespace hcasim::test
