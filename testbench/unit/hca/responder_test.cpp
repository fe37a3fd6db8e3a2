// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "timing.hpp"

namespace hcasim::testing {
namespace {

// A queue pair with a region that the peer may use.
struct Target {
  explicit Target(AdapterBench& bench, hw::QpContext context = AdapterBench::rc_context())
      : qp(bench.create_qp(context)),
        area(bench.allocate(8192, 4096)),
        key(bench.create_mr(area, 8192)) {}
  BenchQp qp;
  std::uint64_t area;
  std::uint32_t key;
};

TEST(Responder, WritesDataAfterItsLatency) {
  for (const std::uint32_t latency : {1u, 8u, 21u}) {
    BenchOptions options;
    options.parameters.responder.timing.latency_cycles = latency;
    AdapterBench bench(options);
    Target target(bench);
    const Time start = quiet_start(bench);
    bench.arrive(target.qp, write_only(500, target.area, target.key, 32));
    expect_at(bench, bench.edge_after(start) + bench.cycles(latency),
              [&] { return bench.dma.writes(target.area).size() == 1; });
    bench.run_idle();
    EXPECT_EQ(bench.bytes(target.area, 32), pattern(32));
  }
}

TEST(Responder, TakesThePacketsAtItsInterval) {
  for (const std::uint32_t interval : {1u, 2u, 9u}) {
    BenchOptions options;
    options.parameters.responder.timing.interval_cycles = interval;
    AdapterBench bench(options);
    Target target(bench);
    const Time start = quiet_start(bench);
    for (std::uint32_t i = 0; i < 4; ++i) {
      bench.arrive(target.qp, write_only(500 + i, target.area + 64 * i, target.key, 32));
    }
    for (std::uint64_t i = 0; i < 4; ++i) {
      expect_at(bench, bench.edge_after(start) + bench.cycles(8 + interval * i),
                [&] { return bench.dma.writes(target.area + 64 * i).size() == 1; });
    }
  }
}

// The wire tells of packets ahead, and a foreign module on it may let one overtake another.
TEST(Responder, PacketsToldOfAheadComeInTheOrderOfArrival) {
  AdapterBench bench;
  Target target(bench);
  const Time start = quiet_start(bench);
  const auto tell = [&](std::uint32_t psn, Time arrival) {
    const PeerPacket packet = write_only(psn, target.area + 64 * (psn - 500), target.key, 32);
    bench.arrive_ahead(arrival, target.qp, packet);
  };
  tell(501, start + bench.cycles(100) + 1);
  tell(500, start + bench.cycles(100));
  tell(502, start + bench.cycles(300));
  const Time first = bench.edge_after(start + bench.cycles(100)) + bench.cycles(8);
  const Time last = bench.edge_after(start + bench.cycles(300)) + bench.cycles(8);
  const auto written = [&](std::uint64_t i) {
    return bench.dma.writes(target.area + 64 * i).size() == 1;
  };
  expect_at(bench, first, [&] { return written(0); });
  expect_at(bench, first + bench.cycles(2), [&] { return written(1); });
  expect_at(bench, last, [&] { return written(2); });
  EXPECT_EQ(bench.counter("responder", "out_of_sequence"), 0u);
}

TEST(Responder, GivesBackPacketsThatHaveNotArrivedWhenItGoes) {
  fabric::PacketPool packets;
  {
    AdapterBench bench;
    fabric::PacketPtr packet = packets.acquire();
    bench.adapter().packet_sink().on_wire(packet, hw::kMillisecond);
    EXPECT_EQ(packets.in_use(), 1u);
  }
  EXPECT_EQ(packets.in_use(), 0u);
}

TEST(Responder, AcknowledgesAfterTheResponseLatency) {
  for (const std::uint32_t latency : {1u, 4u, 17u}) {
    BenchOptions options;
    options.parameters.responder.ack_latency_cycles = latency;
    AdapterBench bench(options);
    Target target(bench);
    const Time start = quiet_start(bench);
    bench.arrive(target.qp, write_only(500, target.area, target.key, 32));
    const Time decided = bench.edge_after(start) + bench.cycles(8);
    expect_at(bench, bench.edge_after(decided) + bench.cycles(latency),
              [&] { return bench.port.sent.size() == 1; });
    EXPECT_EQ(bench.port.sent[0].headers.psn, 500u);
  }
}

// A READ of three packets: gathers an interval apart, each packet when its bytes are in.
TEST(Responder, ReadResponsesFollowEachOtherByTheInterval) {
  for (const std::uint32_t interval : {1u, 2u, 7u}) {
    BenchOptions options;
    options.parameters.responder.timing.interval_cycles = interval;
    AdapterBench bench(options);
    Target target(bench);
    bench.fill(target.area, pattern(700));
    const Time start = quiet_start(bench);
    bench.arrive(target.qp, read_request(500, target.area, target.key, 700));
    const Time decided = bench.edge_after(start) + bench.cycles(8);
    const Time first = bench.edge_after(decided) + bench.cycles(4);
    for (std::uint64_t i = 0; i < 3; ++i) {
      expect_at(bench, first + bench.cycles(interval * i),
                [&] { return bench.dma.reads(target.area + 256 * i).size() == 1; });
    }
    for (std::uint64_t i = 0; i < 3; ++i) {
      expect_at(bench, first + bench.cycles(interval * i) + options.read_latency,
                [&] { return bench.port.sent.size() == i + 1; });
    }
    std::vector<std::uint8_t> data;
    for (const SentPacket& packet : bench.sent()) {
      data.insert(data.end(), packet.payload.begin(), packet.payload.end());
    }
    EXPECT_EQ(data, pattern(700));
  }
}

TEST(Responder, AnAnswerThatComesWhileOthersWaitKeepsItsLatency) {
  AdapterBench bench;
  Target one(bench);
  Target other(bench);
  const Time start = quiet_start(bench);
  bench.arrive(one.qp, write_only(500, one.area, one.key, 32));
  bench.arrive_at(start + bench.cycles(3), other.qp, write_only(500, other.area, other.key, 32));
  const Time first = bench.edge_after(start) + bench.cycles(8 + 1 + 4);
  expect_at(bench, first, [&] { return bench.port.sent.size() == 1; });
  expect_at(bench, first + bench.cycles(3), [&] { return bench.port.sent.size() == 2; });
}

TEST(ReceiveQueuePort, GivesABufferedWqeTwoCyclesAfterTheTake) {
  for (const std::uint32_t mhz : {500u, 250u}) {
    BenchOptions options;
    options.parameters.core_clock_mhz = mhz;
    AdapterBench bench(options);
    Target target(bench);
    bench.receive(target.qp, 77, {{target.area, 256, target.key}});
    const Time start = quiet_start(bench);
    bench.arrive(target.qp, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500, pattern(40)));
    const Time asked = bench.edge_after(start) + bench.cycles(8);
    const Time sampled = bench.edge_after(asked);  // the unit's edge; its answer is there one later
    expect_at(bench, sampled + bench.cycles(1),
              [&] { return bench.dma.writes(target.area).size() == 1; });
  }
}

// The doorbell was just rung: the WQE has to be read first.
TEST(ReceiveQueuePort, WaitsForTheWqeThatIsPostedButNotHere) {
  AdapterBench bench;
  Target target(bench);
  const Time start = quiet_start(bench);
  bench.receive(target.qp, 77, {{target.area, 256, target.key}});
  bench.dma.set_read_latency(target.qp.context.rq_base, 64, 3 * hw::kMicrosecond);
  bench.arrive(target.qp, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500, pattern(40)));
  const Time seen = bench.edge_after(start) + bench.cycles(4);
  // Sampled, chosen, on the port; then the read; then its beat is sampled, judged, on the port.
  const Time asked = bench.edge_after(seen) + bench.cycles(1);
  expect_at(bench, asked, [&] { return bench.dma.reads(target.qp.context.rq_base).size() == 1; });
  const Time here = asked + 3 * hw::kMicrosecond;
  expect_at(bench, bench.edge_after(here) + bench.cycles(1),
            [&] { return bench.dma.writes(target.area).size() == 1; });
  EXPECT_EQ(bench.counter("receive_queue", "takes_waited"), 1u);
}

TEST(ReceiveQueuePort, PublishesTheTailBeforeTheCompletion) {
  AdapterBench bench;
  hw::QpContext context = AdapterBench::rc_context();
  context.rq_size = 3;
  Target target(bench, context);
  for (std::uint32_t i = 0; i < 5; ++i) {
    bench.receive(target.qp, i, {{target.area, 64, target.key}});
    bench.arrive(target.qp, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500 + i));
    bench.run_idle();
    EXPECT_EQ(bench.load<hw::TailRecord>(target.qp.context.tail_record).tail, (i + 1) % 3);
    const auto tails = bench.dma.writes(target.qp.context.tail_record);
    const auto cqes = bench.dma.writes(target.qp.recv_cq.context.base + 64 * i);
    ASSERT_EQ(tails.size(), i + 1);
    ASSERT_EQ(cqes.size(), 1u);
    EXPECT_LT(tails.back().done, cqes[0].done);
  }
}

TEST(Atomic, ReadsAtOnceAndWritesAfterItsLatency) {
  for (const std::uint32_t latency : {1u, 6u, 14u}) {
    BenchOptions options;
    options.parameters.responder.atomic_latency_cycles = latency;
    AdapterBench bench(options);
    Target target(bench);
    bench.store<std::uint64_t>(target.area + 8, 40);
    const Time start = quiet_start(bench);
    bench.arrive(target.qp, fetch_add(500, target.area + 8, target.key, 2));
    const Time read = bench.edge_after(start) + bench.cycles(8);
    expect_at(bench, read, [&] { return bench.dma.reads(target.area + 8).size() == 1; });
    const Time written = bench.edge_after(read + options.read_latency) + bench.cycles(latency);
    expect_at(bench, written, [&] { return bench.dma.writes(target.area + 8).size() == 1; });
    expect_at(bench, bench.edge_after(written) + bench.cycles(4),
              [&] { return bench.port.sent.size() == 1; });
    bench.run_idle();
    EXPECT_EQ(bench.load<std::uint64_t>(target.area + 8), 42u);
    EXPECT_EQ(bench.port.sent[0].headers.atomic_ack.original, 40u);
  }
}

TEST(Atomic, OneAfterTheOther) {
  AdapterBench bench;
  Target one(bench);
  Target other(bench);
  const Time start = quiet_start(bench);
  bench.arrive(one.qp, fetch_add(500, one.area, one.key, 1));
  bench.arrive(other.qp, fetch_add(500, other.area, other.key, 1));
  const Time done =
      bench.edge_after(bench.edge_after(start) + bench.cycles(8) + 400 * hw::kNanosecond) +
      bench.cycles(6);
  expect_at(bench, done, [&] { return bench.dma.reads(other.area).size() == 1; });
}

}  // namespace
}  // namespace hcasim::testing
