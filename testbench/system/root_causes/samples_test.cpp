// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The samples show what traces/README.md says of them.

#include <fstream>

#include "root_cause.hpp"

namespace hcasim::test {
namespace {

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

TEST(Samples, QpContexts) {
  const CauseRun fits = sample("qp-contexts", {});
  const CauseRun over = sample("qp-contexts", {"node.a.hca.qpc_cache.entries=4"});
  EXPECT_EQ(fits.cache("a", "qpc_cache_miss"), 0u);
  EXPECT_EQ(over.cache("a", "qpc_cache_miss"), over.messages());
  EXPECT_GT(over.latency("p50"), fits.latency("p50") + 200);
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
  EXPECT_GT(loses.latency("max"), 1.5 * wide.latency("max"));
  Lines deep = narrow;
  deep.push_back("node.b.hca.responder.rx_buffer_bytes=500000");
  EXPECT_EQ(sample("narrow-pcie", deep).counter("b", "responder", "rx_discards_phy"), 0u);
}

TEST(Samples, InNicIncast) {
  const CauseRun wide = sample("in-nic-incast", {});
  const CauseRun narrow =
      sample("in-nic-incast", {"node.b.pcie.generation=3", "node.b.pcie.width=4"});
  EXPECT_EQ(narrow.write_latency("a", "max"), wide.write_latency("a", "max"));
  EXPECT_GT(narrow.write_latency("b", "min"), 20 * wide.write_latency("b", "max"));
}

TEST(Samples, SmallPackets) {
  const CauseRun bound = sample("small-packets", {"hca.requester.interval_cycles=50"});
  const CauseRun wire = sample("small-packets", {});
  const double small = bound.write_latency("a", "max") - wire.write_latency("a", "max");
  EXPECT_GT(small, 10 * 90);  // 16 packets, 90 ns later each
  EXPECT_NEAR(bound.write_latency("b", "max"), wire.write_latency("b", "max"), 300);
}

TEST(Samples, RnrNeighbour) {
  const CauseRun run = sample("rnr-neighbour", {});
  EXPECT_GT(run.counter("a", "requester", "n_rc_resends"), 500u);
  EXPECT_GT(run.write_latency("a", "max"), 1'600'000);
}

}  // namespace
}  // namespace hcasim::test
