// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "fabric/packet.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/wqe.hpp"
#include "hcasim/sim/config.hpp"
#include "hcasim/sim/run.hpp"
#include "support/monitored_run.hpp"
#include "support/protocol_monitor/expect_clean.hpp"
#include "support/stages.hpp"

namespace hcasim::testing {
namespace {

constexpr Time kPosted = 5 * hw::kMicrosecond;
constexpr std::uint32_t kBytes = 64;
// Of the queue pairs that `connect` makes.
constexpr std::uint32_t kMaxSge = 4;
constexpr std::uint32_t kMaxInline = 64;

constexpr const char* kTrace =
    "hcasim-trace 1\n"
    "connect a.q b.q\n"
    "b post_recv q length=64\n"
    "a post_send q SEND length=64 inline at=5us\n";

/// The one row of completions.csv: picoseconds since the epoch by column.
using Stamps = std::map<std::string, Time>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::stringstream rest(line);
  for (std::string cell; std::getline(rest, cell, ',');) all.push_back(cell);
  return all;
}

Stamps replay(const sim::SystemConfig& config) {
  std::string folder = std::filesystem::temp_directory_path() / "hcasim-latency-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for the trace");
  sim::RunOptions options;
  options.trace = folder + "/one.trace";
  options.completions_csv = folder + "/completions.csv";
  support::MonitoredRun watched;
  options.observer = &watched;
  std::ofstream(options.trace) << kTrace;
  sim::run_trace(options, config);
  EXPECT_GT(watched.monitor().packets(), 0u);
  monitor::expect_clean(watched.monitor());
  std::ifstream csv(options.completions_csv);
  std::string header;
  std::string row;
  std::getline(csv, header);
  std::getline(csv, row);
  const auto names = cells(header);
  const auto values = cells(row);
  Stamps stamps;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!names[i].ends_with("_ns")) continue;
    stamps[names[i].substr(0, names[i].size() - 3)] = std::llround(std::stod(values[i]) * 1000);
  }
  std::filesystem::remove_all(folder);
  return stamps;
}

std::size_t wire_bytes(hw::BthOpcode opcode, std::uint32_t payload) {
  fabric::Packet packet;
  packet.opcode = opcode;
  packet.address.dst_gid[10] = packet.address.dst_gid[11] = 0xff;  // IPv4
  packet.resize_payload(payload);
  return packet.wire_bytes();
}

/// Computes the life of the message from the parameters alone and compares stamp by stamp.
class HandSum {
 public:
  /// `limit`: TLP bytes for an ACK and for a flow-control DLLP, from the specification's table.
  HandSum(const sim::NodeConfig& node, double raw_gbps, double limit)
      : p_(node), cycle_(hw::kMicrosecond / node.hca.core_clock_mhz) {
    const double share = 1.0 - 8.0 / limit - 8.0 / limit - 4.0 / 1538.0;
    pcie_gbps_ = raw_gbps * share;
  }

  void compare(const Stamps& stamps);

 private:
  static Time ns(std::uint64_t count) { return static_cast<Time>(count) * hw::kNanosecond; }
  Time tlp(std::uint32_t bytes) const {
    return static_cast<Time>(std::ceil(bytes * 8000.0 / pcie_gbps_ - 1e-6));
  }
  Time wire(hw::BthOpcode opcode, std::uint32_t payload) const {
    const double bits = 8.0 * static_cast<double>(wire_bytes(opcode, payload));
    return static_cast<Time>(std::ceil(bits * 1000.0 / p_.fabric.rate_gbps - 1e-6)) +
           ns(2 * p_.fabric.mac_phy_ns + p_.fabric.propagation_ns);
  }
  /// To the next clock edge, and so many cycles.
  void clocked(Stages& s, const std::string& name, std::uint64_t cycles) const {
    s.add("to the clock edge", (s.at() / cycle_ + 1) * cycle_ - s.at());
    s.add(name, static_cast<Time>(cycles) * cycle_);
  }
  void posted_write(Stages& s, const std::string& name, std::uint32_t bytes) const {
    s.add(name + ": TLP on the link", tlp(bytes + p_.pcie.mwr_overhead_bytes));
    s.add(name + ": propagation and root complex",
          ns(p_.pcie.propagation_ns + p_.pcie.write_latency_ns));
  }
  /// Ticks count from when the CPU had nothing to do.
  void polled(Stages& s, Time idle_since) const {
    const Time tick = ns(p_.host.poll_interval_ns);
    const Time ticks = (s.at() - idle_since + tick - 1) / tick;
    s.add("to the tick of the polling loop", idle_since + ticks * tick - s.at());
    s.add("poll of the CQE", ns(p_.host.poll_hit_ns));
  }
  /// Lines in which the WQE comes with its doorbell; 0: it does not.
  std::uint32_t burst_lines() const {
    return p_.rvt.blue_flame ? (hw::bar::kBlueFlameWqe + 32 + kBytes + 63) / 64 : 0;
  }
  Time mmio() const { return ns(std::max(1u, burst_lines()) * p_.host.mmio_write_ns); }
  void post(Stages& s, const Stamps& stamps) const;
  void fetch(Stages& s) const;
  void request(Stages& s, const Stamps& stamps) const;
  void receive(Stages s, const Stamps& stamps) const;
  void acknowledge(Stages& s, const Stamps& stamps) const;

  const sim::NodeConfig& p_;
  Time cycle_;
  double pcie_gbps_ = 0;
};

void HandSum::post(Stages& s, const Stamps& stamps) const {
  EXPECT_EQ(stamps.at("posted"), s.at());
  s.add("post_send", ns(p_.host.post_send_ns));
  const std::uint32_t lines = burst_lines();
  if (lines == 0) {
    s.add("doorbell: TLP on the link", tlp(8 + p_.pcie.mwr_overhead_bytes));
  } else {
    s.add("doorbell and WQE: TLPs on the link", tlp(lines * (64 + p_.pcie.mwr_overhead_bytes)));
  }
  s.add("doorbell: propagation", ns(p_.pcie.propagation_ns));
  EXPECT_EQ(stamps.at("doorbell_seen"), s.at());
  clocked(s, "doorbell unit", p_.hca.doorbell.timing.latency_cycles);
  clocked(s, "WQE fetch", p_.hca.wqe_fetch.timing.latency_cycles);
  if (lines == 0) fetch(s);
  EXPECT_EQ(stamps.at("wqe_fetched"), s.at());
}

void HandSum::fetch(Stages& s) const {
  s.add("read request: TLP on the link", tlp(p_.pcie.mrd_overhead_bytes));
  s.add("propagation", ns(p_.pcie.propagation_ns));
  s.add("root complex", ns(p_.pcie.read_latency_min_ns));
  const std::uint32_t stride = hw::send_wqe_stride(kMaxSge, kMaxInline);
  s.add("completion: TLP on the link", tlp(stride + p_.pcie.cpld_overhead_bytes));
  s.add("propagation", ns(p_.pcie.propagation_ns));
}

void HandSum::request(Stages& s, const Stamps& stamps) const {
  post(s, stamps);
  clocked(s, "scheduler", p_.hca.scheduler.timing.latency_cycles);
  s.add("requester", static_cast<Time>(p_.hca.requester.timing.latency_cycles) * cycle_);
  EXPECT_EQ(stamps.at("first_packet_out"), s.at());
  EXPECT_EQ(stamps.at("last_packet_out"), s.at());
  s.add("packet on the wire, MACs and cable", wire(hw::BthOpcode::kRcSendOnly, kBytes));
  EXPECT_EQ(stamps.at("first_packet_in"), s.at());
  clocked(s, "responder", p_.hca.responder.timing.latency_cycles);
  clocked(s, "receive queue: take", 1);
  s.add("receive queue: further beats of the WQE",
        static_cast<Time>(hw::receive_wqe_stride(kMaxSge) / 64 - 1) * cycle_);
  EXPECT_EQ(stamps.at("rwqe_taken"), s.at());
}

void HandSum::receive(Stages s, const Stamps& stamps) const {
  Stages data = s;
  posted_write(data, "data", kBytes);
  EXPECT_EQ(stamps.at("data_visible"), data.at());
  clocked(s, "completion unit", p_.hca.completion.timing.latency_cycles);
  posted_write(s, "CQE", 64);
  EXPECT_EQ(stamps.at("recv_cqe_visible"), s.at());
  polled(s, ns(p_.host.post_recv_ns + p_.host.mmio_write_ns));
  EXPECT_EQ(stamps.at("recv_polled"), s.at());
}

void HandSum::acknowledge(Stages& s, const Stamps& stamps) const {
  clocked(s, "answer", p_.hca.responder.ack_latency_cycles);
  s.add("ACK on the wire, MACs and cable", wire(hw::BthOpcode::kRcAcknowledge, 0));
  clocked(s, "responder", p_.hca.responder.timing.latency_cycles);
  EXPECT_EQ(stamps.at("acknowledged"), s.at());
  clocked(s, "completion unit", p_.hca.completion.timing.latency_cycles);
  posted_write(s, "CQE", 64);
  EXPECT_EQ(stamps.at("send_cqe_visible"), s.at());
  polled(s, kPosted + ns(p_.host.post_send_ns) + mmio());
  EXPECT_EQ(stamps.at("send_polled"), s.at());
}

void HandSum::compare(const Stamps& stamps) {
  Stages s(kPosted);
  request(s, stamps);
  std::printf("  at the receiver:\n");
  receive(s, stamps);
  std::printf("  back to the sender:\n");
  acknowledge(s, stamps);
  std::printf("  latency: %.3f ns\n", static_cast<double>(s.at() - kPosted) / 1000);
}

// The root complex draws its latency; here the draw has one value.
sim::SystemConfig constant_reads(sim::SystemConfig config) {
  config.defaults.pcie.read_latency_min_ns = config.defaults.pcie.read_latency_median_ns =
      config.defaults.pcie.read_latency_max_ns = 207;
  return config;
}

TEST(Latency, OfOneSendIsTheSumOfItsStages) {
  const sim::SystemConfig config = constant_reads(sim::load_config({}));
  HandSum(config.defaults, 16.0 * 16 * 128 / 130, 168).compare(replay(config));
}

// PCIe 3.0 x8, 25 Gb/s, a slower core, and every latency another one.
TEST(Latency, FollowsEachOfItsParameters) {
  sim::SystemConfig config = constant_reads(sim::load_config({}));
  sim::NodeConfig& node = config.defaults;
  node.pcie.generation = 3;
  node.pcie.width = 8;
  node.pcie.propagation_ns = 33;
  node.pcie.write_latency_ns = 71;
  node.fabric = {25.0, 211, 17};
  node.host.post_send_ns = 41;
  node.host.post_recv_ns = 23;
  node.host.poll_hit_ns = 19;
  node.host.poll_interval_ns = 27;
  node.host.mmio_write_ns = 13;
  node.hca.core_clock_mhz = 250;
  node.hca.doorbell.timing = {5, 2};
  node.hca.wqe_fetch.timing = {7, 2};
  node.hca.scheduler.timing = {3, 2};
  node.hca.requester.timing = {11, 3};
  node.hca.responder.timing = {13, 3};
  node.hca.responder.ack_latency_cycles = 9;
  node.hca.completion.timing = {6, 2};
  HandSum(node, 8.0 * 8 * 128 / 130, 203).compare(replay(config));
}

// The stages of the first test without the read of the WQE; two lines cost more than a doorbell.
TEST(Latency, OfASendThatGoesWithItsDoorbell) {
  sim::SystemConfig config = constant_reads(sim::load_config({}));
  config.defaults.rvt.blue_flame = true;
  HandSum(config.defaults, 16.0 * 16 * 128 / 130, 168).compare(replay(config));
}

}  // namespace
}  // namespace hcasim::testing
