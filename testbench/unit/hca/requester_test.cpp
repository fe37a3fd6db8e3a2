// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "timing.hpp"

namespace hcasim::testing {
namespace {

// Doorbell, fetch and the read of one WQE with the bench's default times.
Time wqe_arrival(const AdapterBench& bench, Time start, Time read_latency) {
  return bench.edge_after(start) + bench.cycles(4 + 1 + 4) + read_latency;
}

TEST(Requester, MakesAPacketAfterSchedulerAndRequester) {
  for (const auto& [scheduler, requester] :
       {std::pair{2u, 8u}, std::pair{7u, 8u}, std::pair{2u, 19u}}) {
    BenchOptions options;
    options.parameters.scheduler.timing.latency_cycles = scheduler;
    options.parameters.requester.timing.latency_cycles = requester;
    AdapterBench bench(options);
    BenchQp qp = bench.create_qp();
    const Time start = quiet_start(bench);
    bench.send(qp, inline_send());
    const Time arrived = wqe_arrival(bench, start, options.read_latency);
    expect_at(bench, bench.edge_after(arrived) + bench.cycles(scheduler + requester),
              [&] { return bench.port.sent.size() == 1; });
  }
}

// The larger of the two intervals, for packets of one message, of several, and of several queue
// pairs.
TEST(Requester, PacketsFollowEachOtherByTheInterval) {
  for (const auto& [scheduler, requester] :
       {std::pair{1u, 2u}, std::pair{1u, 5u}, std::pair{7u, 3u}, std::pair{25u, 1u}}) {
    BenchOptions options;
    options.parameters.scheduler.timing.interval_cycles = scheduler;
    options.parameters.requester.timing.interval_cycles = requester;
    AdapterBench bench(options);
    hw::QpContext context = AdapterBench::rc_context();
    context.sq_stride = 1024;
    BenchQp qp = bench.create_qp(context);
    const Time start = quiet_start(bench);
    bench.send(qp, inline_send(3 * 256));
    const Time first =
        bench.edge_after(wqe_arrival(bench, start, options.read_latency)) + bench.cycles(10);
    for (std::uint64_t i = 0; i < 3; ++i) {
      expect_at(bench, first + bench.cycles(i * std::max(scheduler, requester)),
                [&] { return bench.port.sent.size() == i + 1; });
    }
  }
}

TEST(Requester, QueuePairsAreServedAtTheIntervalToo) {
  BenchOptions options;
  options.parameters.requester.timing.interval_cycles = 3;
  AdapterBench bench(options);
  std::vector<BenchQp> qps;
  for (int i = 0; i < 4; ++i) qps.push_back(bench.create_qp());
  const Time start = quiet_start(bench);
  for (BenchQp& qp : qps) bench.send(qp, inline_send());
  const Time first =
      bench.edge_after(wqe_arrival(bench, start, options.read_latency)) + bench.cycles(10);
  for (std::uint64_t i = 0; i < 4; ++i) {
    expect_at(bench, first + bench.cycles(3 * i), [&] { return bench.port.sent.size() == i + 1; });
  }
}

TEST(Requester, TakesTurnsWithABoundOnTheBurst) {
  for (const std::uint32_t burst : {1u, 3u}) {
    BenchOptions options;
    options.parameters.scheduler.burst_packets = burst;
    options.parameters.requester.timing.interval_cycles = 400;  // slower than all fetches
    AdapterBench bench(options);
    BenchQp a = bench.create_qp();
    BenchQp b = bench.create_qp();
    quiet_start(bench);
    for (BenchQp* qp : {&a, &b}) {
      for (int i = 0; i < 6; ++i) {
        bench.post_send(*qp, inline_write());
      }
      bench.ring_send(*qp);
    }
    bench.run_for(20 * hw::kMicrosecond);
    std::string order;
    for (const SentPacket& packet : bench.sent()) {
      order += packet.headers.src_qp == a.qpn() ? 'a' : 'b';
    }
    EXPECT_EQ(order, burst == 1 ? "abababababab" : "aaabbbaaabbb");
  }
}

TEST(Requester, WaitsForThePortWhenItsBufferIsFull) {
  BenchOptions options;
  options.byte_time = 100;  // 80 Gb/s
  options.port_lead = 0;
  AdapterBench bench(options);
  BenchQp qp = bench.create_qp();
  const Time start = quiet_start(bench);
  for (int i = 0; i < 3; ++i) {
    bench.post_send(qp, inline_write(64));
  }
  bench.ring_send(qp);
  bench.run_for(10 * hw::kMicrosecond);
  ASSERT_EQ(bench.port.sent.size(), 3u);
  const Time wire = bench.port.sent[1].first_bit - bench.port.sent[0].first_bit;
  for (int i = 1; i < 3; ++i) {
    const SentPacket& before = bench.port.sent[static_cast<std::size_t>(i - 1)];
    const SentPacket& packet = bench.port.sent[static_cast<std::size_t>(i)];
    EXPECT_GE(packet.at, before.first_bit + 62 * 100) << start;
    EXPECT_LT(packet.at, before.first_bit + wire + bench.cycles(2));
  }
}

TEST(Requester, StopsAtTheWindowAndGoesOnWithTheAck) {
  for (const std::uint32_t window : {2u, 5u}) {
    BenchOptions options;
    options.parameters.requester.window_packets = window;
    AdapterBench bench(options);
    hw::QpContext context = AdapterBench::rc_context();
    context.timeout = 0;
    BenchQp qp = bench.create_qp(context);
    quiet_start(bench);
    for (int i = 0; i < 9; ++i) {
      bench.post_send(qp, inline_write());
    }
    bench.ring_send(qp);
    bench.run_for(20 * hw::kMicrosecond);
    const auto first = bench.sent();
    ASSERT_EQ(first.size(), window);
    EXPECT_TRUE(first.back().headers.ack_req);
    bench.arrive(qp, AdapterBench::ack(100));
    bench.run_for(20 * hw::kMicrosecond);
    EXPECT_EQ(psns(bench.sent()), std::vector<std::uint32_t>{100 + window});
  }
}

TEST(Requester, HasNoMoreReadsAndAtomicsOutThanItsLimit) {
  for (const std::uint8_t limit : {std::uint8_t{1}, std::uint8_t{3}}) {
    AdapterBench bench;
    hw::QpContext context = AdapterBench::rc_context();
    context.max_rd_atomic = limit;
    BenchQp qp = bench.create_qp(context);
    const std::uint64_t local = bench.allocate(4096);
    const std::uint32_t key = bench.create_mr(local, 4096);
    quiet_start(bench);
    for (int i = 0; i < 5; ++i) bench.post_send(qp, read_wr(local, key, 8));
    bench.ring_send(qp);
    bench.run_for(20 * hw::kMicrosecond);
    EXPECT_EQ(bench.sent().size(), limit);
    PeerPacket answer = AdapterBench::request(hw::BthOpcode::kRcReadResponseOnly, 100, pattern(8));
    bench.arrive(qp, answer);
    bench.run_for(20 * hw::kMicrosecond);
    EXPECT_EQ(psns(bench.sent()), std::vector<std::uint32_t>{100u + limit});
  }
}

// A fence waits for earlier READs and atomics, and for nothing else.
TEST(Requester, B34_FenceWaitsForReadsOnly) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp();
  const std::uint64_t local = bench.allocate(4096);
  const std::uint32_t key = bench.create_mr(local, 4096);
  quiet_start(bench);
  SendWr fenced = inline_send();
  fenced.flags |= hw::kWqeFence;
  bench.post_send(qp, read_wr(local, key, 8));
  bench.post_send(qp, inline_write());
  bench.post_send(qp, fenced);
  bench.ring_send(qp);
  bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(psns(bench.sent()), (std::vector<std::uint32_t>{100, 101}));
  bench.arrive(qp, AdapterBench::request(hw::BthOpcode::kRcReadResponseOnly, 100, pattern(8)));
  bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(psns(bench.sent()), std::vector<std::uint32_t>{102});  // the WRITE has no ACK yet
}

// LOCAL_INV waits for everything before it.
TEST(Requester, B34_LocalInvalidateWaitsForAll) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp();
  const std::uint64_t area = bench.allocate(4096);
  const std::uint32_t key = bench.create_mr(area, 4096, hw::kLocalWrite, true);
  quiet_start(bench);
  SendWr invalidate = inline_send(0);
  invalidate.opcode = hw::WrOpcode::kLocalInv;
  invalidate.imm_or_key = key;
  bench.post_send(qp, inline_send());
  bench.post_send(qp, invalidate);
  bench.ring_send(qp);
  bench.run_for(20 * hw::kMicrosecond);
  EXPECT_TRUE(bench.poll(qp.send_cq).empty());
  bench.arrive(qp, AdapterBench::ack(100));
  bench.run_for(20 * hw::kMicrosecond);
  const auto done = bench.poll(qp.send_cq);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].opcode, hw::WcOpcode::kLocalInv);
  EXPECT_EQ(done[1].status, hw::WcStatus::kSuccess);
}

TEST(Requester, GathersFromAllElementsAndSendsWhenTheLastIsIn) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp();
  const std::uint64_t area = bench.allocate(8192, 4096);
  bench.fill(area, pattern(8192));
  const std::uint32_t key = bench.create_mr(area, 8192);
  const Time start = quiet_start(bench);
  SendWr wr;
  wr.sges = {{area + 10, 40, key}, {area + 4000, 200, key}, {area + 1, 3, key}};
  bench.dma.set_read_latency(area + 4096, 4096, 900 * hw::kNanosecond);
  bench.send(qp, wr);
  const Time made =
      bench.edge_after(wqe_arrival(bench, start, 400 * hw::kNanosecond)) + bench.cycles(10);
  expect_at(bench, made + 900 * hw::kNanosecond, [&] { return bench.port.sent.size() == 1; });
  std::vector<std::uint8_t> expected = bench.bytes(area + 10, 40);
  for (const std::uint8_t byte : bench.bytes(area + 4000, 200)) expected.push_back(byte);
  for (const std::uint8_t byte : bench.bytes(area + 1, 3)) expected.push_back(byte);
  EXPECT_EQ(bench.port.sent[0].payload, expected);
}

// Nobody answers on UC: the work request is done when the last bit has left the port, and its
// completion takes the time of the completion unit and of a write from there.
TEST(Requester, CompletesAnUnreliableSendWhenItHasLeft) {
  BenchOptions options;
  options.byte_time = 80;
  AdapterBench bench(options);
  BenchQp qp = bench.create_qp(AdapterBench::uc_context());
  quiet_start(bench);
  bench.send(qp, inline_send());
  while (bench.port.sent.empty()) bench.engine.step();
  const Time left = bench.port.free_at();
  ASSERT_GT(left, bench.now());
  const Time visible = bench.edge_after(left) + bench.cycles(4) + options.write_latency;
  expect_at(bench, visible, [&] { return bench.poll(qp.send_cq).size() == 1; });
}

}  // namespace
}  // namespace hcasim::testing
