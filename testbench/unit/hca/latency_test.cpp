// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/stages.hpp"
#include "timing.hpp"

namespace hcasim::testing {
namespace {

// One adapter is sender and receiver: what it sends arrives at its other queue pair a wire later.
class OwnPeer {
 public:
  explicit OwnPeer(const BenchOptions& options)
      : bench(options), area(bench.allocate(4096)), from(bench.create_qp()), to(bench.create_qp()) {
    const std::uint32_t key = bench.create_mr(area, 4096);
    bench.receive(to, 1, {{area, 64, key}});
  }
  /// Brings packet `index` to the queue pair that it is for.
  void carry(std::size_t index, const BenchQp& target, std::uint32_t psn, Time wire) {
    const SentPacket packet = bench.port.sent.at(index);
    PeerPacket copy{packet.headers, packet.payload};
    copy.headers.psn = psn;
    bench.arrive_at(packet.at + wire, target, copy);
  }

  AdapterBench bench;
  std::uint64_t area;
  BenchQp from;
  BenchQp to;
};

void check(const hca::Parameters& p, Time wire) {
  BenchOptions options;
  options.parameters = p;
  OwnPeer peer(options);
  AdapterBench& bench = peer.bench;
  const Time start = quiet_start(bench);
  Stages s(start);
  const auto clocked = [&](Stages& stages, const char* name, std::uint32_t cycles) {
    stages.add("to the clock edge", bench.edge_after(stages.at()) - stages.at());
    stages.add(name, bench.cycles(cycles));
  };
  bench.send(peer.from, inline_send(64));
  clocked(s, "doorbell unit", p.doorbell.timing.latency_cycles);
  clocked(s, "WQE fetch", p.wqe_fetch.timing.latency_cycles);
  s.add("read of host memory", options.read_latency);
  clocked(s, "scheduler", p.scheduler.timing.latency_cycles);
  s.add("requester", bench.cycles(p.requester.timing.latency_cycles));
  expect_at(bench, s.at(), [&] { return bench.port.sent.size() == 1; });
  peer.carry(0, peer.to, 500, wire);
  s.add("wire", wire);
  clocked(s, "responder", p.responder.timing.latency_cycles);
  clocked(s, "receive queue: take", 1);
  expect_at(bench, s.at(), [&] { return bench.dma.writes(peer.area).size() == 1; });
  Stages received = s;
  clocked(received, "completion unit", p.completion.timing.latency_cycles);
  received.add("write to host memory", options.write_latency);
  clocked(s, "answer", p.responder.ack_latency_cycles);
  bench.run_to(std::min(s.at(), received.at()) - 1);
  EXPECT_EQ(bench.port.sent.size(), 1u);
  EXPECT_TRUE(bench.poll(peer.to.recv_cq).empty());
  bench.run_to(s.at());
  ASSERT_EQ(bench.port.sent.size(), 2u);
  EXPECT_EQ(bench.port.sent[1].at, s.at());
  peer.carry(1, peer.from, 100, wire);
  expect_at(bench, received.at(), [&] { return bench.poll(peer.to.recv_cq).size() == 1; });
  s.add("wire", wire);
  clocked(s, "responder", p.responder.timing.latency_cycles);
  clocked(s, "completion unit", p.completion.timing.latency_cycles);
  s.add("write to host memory", options.write_latency);
  expect_at(bench, s.at(), [&] { return bench.poll(peer.from.send_cq).size() == 1; });
  EXPECT_EQ(bench.bytes(peer.area, 64), pattern(64));
  std::printf("  doorbell to completion: %.3f ns\n", static_cast<double>(s.at() - start) / 1000);
}

TEST(Latency, OfASendIsTheSumOfItsStages) {
  check({}, 1'234'567);
}

TEST(Latency, FollowsEachOfItsParameters) {
  hca::Parameters p;
  p.core_clock_mhz = 250;
  p.doorbell.timing.latency_cycles = 5;
  p.wqe_fetch.timing.latency_cycles = 7;
  p.scheduler.timing.latency_cycles = 3;
  p.requester.timing.latency_cycles = 11;
  p.responder.timing.latency_cycles = 13;
  p.responder.ack_latency_cycles = 9;
  p.completion.timing.latency_cycles = 6;
  check(p, 1'234'568);
}

}  // namespace
}  // namespace hcasim::testing
