// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A host interface that is slower than the port.

#include "root_cause.hpp"

namespace hcasim::test {
namespace {

// A WRITE of many packets of 4096 bytes has 82 bytes beside each on the wire.
constexpr double kWireGbps = 100.0 * 4096 / (4096 + 82);

Lines narrow(Lines more) {
  more.push_back("node.b.pcie.generation=3");
  more.push_back("node.b.pcie.width=4");
  return with_read_latency(200, more);
}

CauseRun burst(double bytes, unsigned buffer) {
  const Lines lines = {
      "connect a.q b.q mtu=4096",
      fmt::format("a post_send q RDMA_WRITE length={} remote=mr", static_cast<unsigned>(bytes))};
  return {lines, narrow({fmt::format("node.b.hca.responder.rx_buffer_bytes={}", buffer)})};
}

// While B bytes come in, B * pcie / wire go out; the rest is in the buffer. It is full, and packets
// are discarded, at B = buffer / (1 - pcie / wire). A packet needs room as a whole and gives it
// back as a whole, so that two packets of the buffer may be of no use.
TEST(PcieBackPressure, ABurstThatOutgrowsTheBufferLosesPackets) {
  constexpr double kPacket = 4096;
  for (const unsigned buffer : {65536u, 262016u}) {
    const double stays = 1 - kPcieGbps / kWireGbps;
    const CauseRun below = burst((buffer - 2 * kPacket) / stays - kPacket, buffer);
    const CauseRun above = burst(buffer / stays + kPacket, buffer);
    EXPECT_EQ(below.counter("b", "responder", "rx_discards_phy"), 0u) << buffer;
    EXPECT_GT(above.counter("b", "responder", "rx_discards_phy"), 0u) << buffer;
    EXPECT_GT(above.counter("a", "requester", "n_rc_resends"), 0u) << buffer;
  }
}

// A host that keeps up loses nothing, however long the burst.
TEST(PcieBackPressure, AWideLinkTakesEverything) {
  const CauseRun wide(
      {"connect a.q b.q mtu=4096", "a post_send q RDMA_WRITE length=4000000 remote=mr"},
      {"node.b.hca.responder.rx_buffer_bytes=16384"});
  EXPECT_EQ(wide.counter("b", "responder", "rx_discards_phy"), 0u);
}

constexpr unsigned kWrites = 200;
constexpr unsigned kBytes = 1024;

// What one message takes of the link to the host.
constexpr double kMessageNs = kBytes * 8 / kPcieGbps;

// Many queue pairs of `a` write to b, which itself writes now and then, a few bytes. b's link to
// its host carries what arrives, and also the read requests for b's own WQEs: they wait behind it.
CauseRun incast(double gbps) {
  constexpr unsigned kWriters = 4;
  Lines lines = connections(kWriters, "mtu=1024 max_send_wr=256");
  lines.push_back("connect a.own b.own");
  const double interval_ns = kBytes * 8 / gbps;
  for (unsigned i = 0; i < kWrites; ++i) {
    const double at = 5000 + interval_ns * i;
    lines.push_back(
        fmt::format("a post_send q{} RDMA_WRITE length={} remote=mr unsignaled at={:.3f}ns",
                    i % kWriters, kBytes, at));
    if (i % 20 == 19) {
      lines.push_back(
          fmt::format("b post_send own RDMA_WRITE length=8 inline remote=mr at={:.3f}ns", at));
    }
  }
  return {lines, narrow({})};
}

// The knee is where the payload, in TLPs of 256 bytes, fills the link: kPcieGbps. Below it each
// wait is for one message at most. At f times that the link is behind by t * (f - 1) at time t of
// the burst, which lasts T. A write of b waits for it twice, with the read of its WQE and with its
// completion. It waits longest if it is posted at T / f, for the read then comes through as the
// burst ends: (f - 1) * T / f + (f - 1) * T.
TEST(InNicIncast, ArrivalsBeyondTheHostsRateDelayTheNodesOwnMessages) {
  const double alone = incast(5).write_latency("b", "max");
  EXPECT_LT(incast(0.9 * kPcieGbps).write_latency("b", "max"), alone + 2 * kMessageNs);
  for (const double factor : {1.5, 2.0}) {
    const double burst_ns = kWrites * kBytes * 8 / (factor * kPcieGbps);
    const double wait_ns = (factor - 1) * burst_ns * (1 + 1 / factor);
    const double delay = incast(factor * kPcieGbps).write_latency("b", "max") - alone;
    EXPECT_NEAR(delay / wait_ns, 1, 0.08) << factor;
  }
}

}  // namespace
}  // namespace hcasim::test
