// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What a pause of the port delays, and what it keeps back.

#include <algorithm>

#include "timing.hpp"

namespace hcasim::testing {
namespace {

constexpr Time kPause = 50 * hw::kMicrosecond;

struct PausedBench : AdapterBench, hca::MessageObserver {
  PausedBench() : AdapterBench({.byte_time = 80}) { adapter().set_observer(this); }
  std::uint64_t message_of(std::uint32_t, std::uint64_t) override { return 1; }
  void stamp(std::uint64_t, hca::Stamp what, Time at) override { stamps[what].push_back(at); }
  void receive_completed(std::uint32_t, std::uint64_t) override {}

  std::map<hca::Stamp, std::vector<Time>> stamps;
};

struct Outcome {
  Time sent = 0;       ///< first bit
  Time completed = 0;  ///< its completion was written
};

Outcome send_and_complete(Time pause) {
  PausedBench bench;
  BenchQp qp = bench.create_qp(AdapterBench::uc_context());
  const Time start = quiet_start(bench);
  if (pause != 0) bench.port.pause();
  bench.send(qp, inline_send());
  bench.run_to(start + pause);
  if (pause != 0) {
    EXPECT_TRUE(bench.dma.writes(qp.send_cq.context.base).empty());
    EXPECT_TRUE(bench.stamps[hca::Stamp::kLastPacketOut].empty());
    bench.port.go_on();
  }
  bench.run_idle();
  const Time sent = bench.sent().at(0).first_bit;
  EXPECT_EQ(bench.stamps[hca::Stamp::kFirstPacketOut], std::vector{sent});
  EXPECT_EQ(bench.stamps[hca::Stamp::kLastPacketOut], std::vector{sent});
  return {sent - start, bench.dma.writes(qp.send_cq.context.base).at(0).at - start};
}

TEST(PausedPort, AnUnreliableSendIsDoneWhenItHasLeft) {
  const Outcome plain = send_and_complete(0);
  const Outcome paused = send_and_complete(kPause);
  EXPECT_EQ(paused.sent, kPause);
  // The pipeline samples the departure at a clock edge.
  const Time later = paused.completed - paused.sent - (plain.completed - plain.sent);
  EXPECT_LE(std::abs(later), hca::CoreClock(hca::Parameters{}.core_clock_mhz).period());
}

TEST(PausedPort, PacketsStayInTheAdapterWhileItIsStopped) {
  AdapterBench bench;
  const std::uint64_t area = bench.allocate(4096);
  const std::uint32_t key = bench.create_mr(area, 4096);
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.port.listener->port_stops();
  bench.send(qp, inline_write());                   // without a gather
  bench.send(qp, read_wr(area, key, 8));            // behind it
  bench.arrive(qp, write_only(500, area, key, 8));  // an answer
  bench.run_for(kPause);
  EXPECT_TRUE(bench.sent().empty());
  bench.port.listener->port_goes_on();
  EXPECT_EQ(opcodes(bench.sent()),
            (std::vector{hw::BthOpcode::kRcWriteOnly, hw::BthOpcode::kRcReadRequest,
                         hw::BthOpcode::kRcAcknowledge}));
}

}  // namespace
}  // namespace hcasim::testing
