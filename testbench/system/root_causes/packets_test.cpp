// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Packets that cost time in units of the adapter, or on the wire for nothing.

#include "root_cause.hpp"

namespace hcasim::test {
namespace {

// Bytes on the wire beside the payload of a WRITE that is one packet: 82, and a RETH of 16.
constexpr double kOverhead = 82 + 16;

// Time from message to message: what more messages take longer, without what comes but once.
double interval_ns(unsigned bytes, const char* slow_unit) {
  const auto run = [&](unsigned messages) {
    Lines lines = {"connect a.q b.q mtu=4096 max_send_wr=1024"};
    for (unsigned i = 0; i < messages; ++i) {
      lines.push_back(fmt::format("a post_send q RDMA_WRITE length={} remote=mr{}", bytes,
                                  i + 1 < messages ? " unsignaled more" : ""));
    }
    const Lines settings = {fmt::format("{}.interval_cycles=50", slow_unit), "host.post_send_ns=0"};
    return CauseRun(lines, settings).active_ns();
  };
  return (run(600) - run(200)) / 400;
}

// 50 cycles of 500 MHz are 100 ns, in which the wire carries 1250 bytes: below 1152 bytes of
// payload the slowest unit sets the rate, whatever the size, and above it the wire does.
TEST(PacketProcessing, SmallPacketsAreBoundByTheSlowestUnit) {
  for (const char* unit : {"node.a.hca.requester", "node.b.hca.responder"}) {
    for (const unsigned bytes : {16u, 256u, 1100u}) {
      EXPECT_NEAR(interval_ns(bytes, unit), 100, 2) << unit << ' ' << bytes;
    }
    for (const unsigned bytes : {1300u, 2000u}) {
      const double wire = (bytes + kOverhead) / kWireBytesPerNs;
      EXPECT_NEAR(interval_ns(bytes, unit), wire, 0.02 * wire) << unit << ' ' << bytes;
    }
  }
}

// One connection writes; another sends a message for which there is no receive before 2 ms.
struct Neighbours {
  explicit Neighbours(bool rnr, unsigned timer = 1)
      : run(lines(rnr, timer), {"host.post_send_ns=0"}),
        packets(run.counter("a", "requester", "packets")) {}
  static Lines lines(bool rnr, unsigned timer) {
    constexpr unsigned kWrites = 480;
    Lines all = {fmt::format("connect a.late b.late mtu=4096 min_rnr_timer={}", timer),
                 "connect a.q b.q mtu=4096 max_send_wr=512"};
    if (rnr) all.push_back("a post_send late SEND length=1048576 at=1us");
    for (unsigned i = 0; i < kWrites; ++i) {
      all.push_back(fmt::format("a post_send q RDMA_WRITE length=65536 remote=mr{} at=1us",
                                i + 1 < kWrites ? " unsignaled more" : ""));
    }
    if (rnr) all.push_back("b post_recv late length=1048576 at=2ms");
    return all;
  }
  double writes_ns() const { return run.write_latency("a", "max"); }

  CauseRun run;
  std::uint64_t packets;
};

// What an RNR NAK holds up is the connection's own: the responder drops its packets and gives all
// else to the others. But until the NAK is there the requester goes on sending, and each retry
// sends again what nobody takes. The other connection loses the wire time of these packets, 334 ns
// each, and the more of it the shorter the RNR timer.
TEST(ReceiverNotReady, RetriesTakeTheWireFromOthers) {
  const Neighbours alone(false);
  double before = 1;                            // the part of the time that was lost
  for (const unsigned timer : {1u, 5u, 10u}) {  // 10, 60 and 320 us
    const Neighbours both(true, timer);
    const double lost = both.writes_ns() - alone.writes_ns();
    const double wire = static_cast<double>(both.packets - alone.packets) * kPacketNs;
    EXPECT_NEAR(lost / wire, 1, 0.05) << timer;
    EXPECT_LT(lost / alone.writes_ns(), before) << timer;
    before = lost / alone.writes_ns();
  }
}

}  // namespace
}  // namespace hcasim::test
