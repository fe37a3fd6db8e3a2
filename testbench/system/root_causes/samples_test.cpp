// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The samples show what traces/README.md says of them.

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "hca/parameters.hpp"
#include "pcie/parameters.hpp"
#include "root_cause.hpp"

namespace hcasim::test {
namespace {

// A read of host memory that no setting changes.
constexpr double kLeastReadNs = pcie::Parameters{}.read_latency_min_ns;
constexpr double kReadSpreadNs = pcie::Parameters{}.read_latency_max_ns - kLeastReadNs;

CauseRun sample(const std::string& name, const Lines& settings) {
  std::ifstream file(std::string(HCASIM_SOURCE_DIR "/traces/hand/") + name + ".trace");
  Lines lines;
  std::string line;
  std::getline(file, line);  // the version, which the run puts before them
  while (std::getline(file, line)) lines.push_back(line);
  EXPECT_GT(lines.size(), 2u) << name;
  EXPECT_LT(lines.size(), 100u) << name;
  return {lines, settings};
}

// traces/README.md with a blank in the place of each end of a line.
std::string page() {
  std::string text = contents(HCASIM_SOURCE_DIR "/traces/README.md");
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// The figures themselves: they are of the default configuration and seed.
TEST(Samples, SwitchIncastIsAsThePageSays) {
  const std::string text = page();
  const auto expect_said = [&](const std::string& words) {
    EXPECT_THAT(text, testing::HasSubstr(words));
  };
  const auto at_switch = [](const CauseRun& run, const char* name) {
    return run.counter("switch", "port_c", name);
  };
  const auto us = [](const CauseRun& run) { return run.active_ns() / 1000; };
  const CauseRun fits = sample("switch-incast", {});
  EXPECT_EQ(at_switch(fits, "tx_discards_phy"), 0u);
  expect_said(fmt::format("all is done after {:.0f} us. With", us(fits)));

  Lines settings = {"fabric.switch.buffer_bytes=100000"};
  const CauseRun drops = sample("switch-incast", settings);
  expect_said(fmt::format("{} packets are dropped", at_switch(drops, "tx_discards_phy")));
  expect_said(fmt::format("its timeout of {:.0f} ms", us(drops) / 1000));
  EXPECT_GT(drops.active_ns(), 4096.0 * (1 << 14));  // timeout=14

  settings.push_back("fabric.switch.pfc=true");
  const CauseRun pauses = sample("switch-incast", settings);
  EXPECT_EQ(at_switch(pauses, "tx_discards_phy"), 0u);
  const std::uint64_t frames = pauses.counter("switch", "port_a", "tx_prio0_pause") +
                               pauses.counter("switch", "port_b", "tx_prio0_pause");
  expect_said(fmt::format("{} pause frames hold the senders back", frames));
  expect_said(fmt::format("the time is {:.0f} us again", us(pauses)));

  const CauseRun marks =
      sample("switch-incast", {"fabric.switch.ecn=true", "fabric.traffic_class=2"});
  expect_said(fmt::format("marks {} packets", at_switch(marks, "ecn_marked")));
}

TEST(Samples, QpContexts) {
  const CauseRun fits = sample("qp-contexts", {});
  const CauseRun over = sample("qp-contexts", {"node.a.hca.qpc_cache.entries=4"});
  EXPECT_EQ(fits.cache("a", "qpc_cache_miss"), 0u);
  EXPECT_EQ(over.cache("a", "qpc_cache_miss"), over.messages());
  // A context is read in between.
  EXPECT_GT(over.latency("p50"), fits.latency("p50") + kLeastReadNs);
}

TEST(Samples, ReceiveWqes) {
  const CauseRun fits = sample("receive-wqes", {"node.b.hca.receive_queue.lines=24"});
  const CauseRun over = sample("receive-wqes", {"node.b.hca.receive_queue.lines=16"});
  EXPECT_EQ(fits.cache("b", "rwqe_cache_miss"), 0u);
  EXPECT_EQ(over.cache("b", "rwqe_cache_miss"), over.messages());
}

TEST(Samples, NarrowPcie) {
  const CauseRun wide = sample("narrow-pcie", {});
  const Lines narrow = {"node.b.pcie.generation=3", "node.b.pcie.width=4"};
  const CauseRun loses = sample("narrow-pcie", narrow);
  EXPECT_EQ(wide.counter("b", "responder", "rx_discards_phy"), 0u);
  EXPECT_GT(loses.counter("b", "responder", "rx_discards_phy"), 0u);
  // What is lost is sent again, and with it what was behind it.
  const double again =
      kPacketNs * static_cast<double>(loses.counter("a", "requester", "n_rc_resends"));
  EXPECT_NEAR((loses.latency("max") - wide.latency("max")) / again, 1, 0.1);
  Lines deep = narrow;
  deep.push_back("node.b.hca.responder.rx_buffer_bytes=500000");
  EXPECT_EQ(sample("narrow-pcie", deep).counter("b", "responder", "rx_discards_phy"), 0u);
}

TEST(Samples, InNicIncast) {
  const CauseRun wide = sample("in-nic-incast", {});
  const CauseRun narrow =
      sample("in-nic-incast", {"node.b.pcie.generation=3", "node.b.pcie.width=4"});
  EXPECT_EQ(narrow.write_latency("a", "max"), wide.write_latency("a", "max"));
  // b's first write comes 8 us after the first of `a`, which bring 8 KiB each microsecond: f times
  // what the link to the host takes. Its WQE comes through at f * 8 us, its completion at f times
  // that, see InNicIncast.
  constexpr double kFactor = 8192 * 8 / 1000.0 / kPcieGbps;
  constexpr double kFirstNs = 8000;
  EXPECT_NEAR(narrow.write_latency("b", "min") / ((kFactor * kFactor - 1) * kFirstNs), 1, 0.1);
}

// How much later the last of the sixteen packets leaves where one leaves each 50 cycles.
double slower_by_ns(double bytes_on_wire) {
  constexpr double kIntervalNs = 50 * 1000.0 / hca::Parameters{}.core_clock_mhz;
  return 15 * (kIntervalNs - bytes_on_wire / kWireBytesPerNs);
}

// A packet's data is read after its turn, which takes one longer and the other less long.
TEST(Samples, SmallPackets) {
  const CauseRun bound = sample("small-packets", {"hca.requester.interval_cycles=50"});
  const CauseRun wire = sample("small-packets", {});
  const double small = bound.write_latency("a", "max") - wire.write_latency("a", "max");
  constexpr double kBeside = 82 + 16;
  EXPECT_NEAR(small, slower_by_ns(16 + kBeside), kReadSpreadNs);
  const double large = bound.write_latency("b", "max") - wire.write_latency("b", "max");
  EXPECT_NEAR(large, slower_by_ns(1000 + kBeside), kReadSpreadNs);
}

TEST(Samples, RnrNeighbour) {
  const CauseRun run = sample("rnr-neighbour", {});
  const std::uint64_t again = run.counter("a", "requester", "n_rc_resends");
  // With each NAK more than the packet that it refuses, for its followers were on the way.
  EXPECT_GT(again, 2 * run.counter("a", "requester", "n_rnr_naks"));
  // Both connections share the wire, and what is sent again is most of the difference.
  const auto packets = static_cast<double>(run.counter("a", "requester", "packets"));
  EXPECT_NEAR(run.write_latency("a", "max") / (packets * kPacketNs), 1, 0.02);
}

}  // namespace
}  // namespace hcasim::test
