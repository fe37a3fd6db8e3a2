// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What waits for a context, how long, and what does not.

#include "timing.hpp"

namespace hcasim::testing {
namespace {

constexpr Time kRead = 400 * hw::kNanosecond;
constexpr Time kContextRead = 3 * hw::kMicrosecond;
constexpr std::uint64_t kAreaBytes = 512 << 10;

// A cache with one context and its successor, so that the one before is gone.
hca::Parameters::ContextCache one_entry(std::uint32_t bytes) {
  return {.entries = 1, .entry_bytes = bytes};
}

/// A bench whose adapter keeps its contexts in host memory, where reads are slow.
struct MissBench : AdapterBench {
  explicit MissBench(BenchOptions options = {}) : AdapterBench(with_small_tables(options)) {
    area = allocate(kAreaBytes, kAreaBytes);
    adapter().bar_write(hw::bar::kIcmBase, &area, 8);
    dma.set_read_latency(area, kAreaBytes, kContextRead);
  }
  static BenchOptions with_small_tables(BenchOptions options) {
    options.read_latency = kRead;
    options.parameters.device.max_cq = 64;
    return options;
  }
  std::vector<DmaOperation> context_reads() const { return dma.reads(area, kAreaBytes); }
  std::uint64_t cache_counter(const std::string& name) const {
    return counter("context_cache", name);
  }

  std::uint64_t area = 0;
};

BenchOptions small_qpc() {
  BenchOptions options;
  options.parameters.qpc_cache = one_entry(512);
  return options;
}

TEST(ContextMiss, TheAdapterAsksForItsArea) {
  MissBench bench;
  hw::Mailbox answer = bench.issue(hw::CommandOpcode::kQueryDevice, 0);
  EXPECT_EQ(hw::load<hw::DeviceLimits>(answer.payload).icm_bytes, kAreaBytes);
}

TEST(ContextMiss, WhatWasJustMadeIsOnChip) {
  MissBench bench;
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.send(qp, inline_write());
  bench.run_for(10 * hw::kMicrosecond);
  EXPECT_EQ(bench.sent().size(), 1u);
  EXPECT_TRUE(bench.context_reads().empty());
  EXPECT_EQ(bench.cache_counter("qpc_cache_miss"), 0u);
  EXPECT_GT(bench.cache_counter("qpc_cache_hit"), 0u);
}

// The doorbell's WQE is read only once the context says where it lies.
TEST(ContextMiss, AWqeFetchWaitsForItsQueuePair) {
  MissBench bench(small_qpc());
  BenchQp old = bench.create_qp();
  bench.create_qp();
  const Time start = quiet_start(bench);
  bench.send(old, inline_write());
  const Time asked = bench.edge_after(bench.edge_after(start) + bench.cycles(4)) + bench.cycles(4);
  const Time read = bench.edge_after(asked + kContextRead) + bench.cycles(4);
  expect_at(bench, asked, [&] { return bench.context_reads().size() == 1; });
  EXPECT_EQ(bench.context_reads()[0].bytes, 512u);
  expect_at(bench, read, [&] { return bench.dma.reads(old.context.sq_base).size() == 1; });
  bench.run_for(10 * hw::kMicrosecond);
  EXPECT_EQ(bench.sent().size(), 1u);
  EXPECT_EQ(bench.cache_counter("qpc_cache_writeback"), 2u);  // creation of the second, and this
}

// Between its WQE's fetch and its turn the context can be pushed out again. `other` comes in while
// the WQE is being read.
TEST(ContextMiss, AQueuePairWhoseTurnItIsWaitsForItsContext) {
  MissBench bench(small_qpc());
  BenchQp old = bench.create_qp();
  BenchQp other = bench.create_qp();
  bench.create_qp();
  const Time start = quiet_start(bench);
  bench.send(old, inline_write());
  bench.arrive_at(start + 200 * hw::kNanosecond, other,
                  AdapterBench::request(hw::BthOpcode::kRcWriteOnly, 500));
  const Time turn = start + kContextRead + kRead;
  bench.run_to(turn + kContextRead);
  EXPECT_EQ(bench.context_reads().size(), 3u);  // old, other, and old again
  const auto packets = [&] { return opcodes(bench.sent()); };
  EXPECT_EQ(packets(), std::vector{hw::BthOpcode::kRcAcknowledge});
  bench.run_to(turn + kContextRead + 200 * hw::kNanosecond);
  EXPECT_EQ(packets(), std::vector{hw::BthOpcode::kRcWriteOnly});
}

// A packet of a queue pair whose context is away waits for it, later ones behind it in order; one
// of another queue pair passes.
TEST(ContextMiss, APacketWaitsForItsQueuePairAndForNoOther) {
  MissBench bench(small_qpc());
  const std::uint64_t area = bench.allocate(4096);
  const std::uint32_t key = bench.create_mr(area, 4096);
  BenchQp old = bench.create_qp();
  BenchQp young = bench.create_qp();
  const Time start = quiet_start(bench);
  bench.arrive(old, write_only(500, area, key, 64));
  bench.arrive(old, write_only(501, area + 64, key, 64));
  bench.arrive(young, write_only(500, area + 128, key, 64));
  const Time out = bench.edge_after(start) + bench.cycles(8);
  expect_at(bench, out + bench.cycles(4), [&] { return bench.dma.writes(area + 128).size() == 1; });
  EXPECT_TRUE(bench.dma.writes(area, 128).empty());
  expect_at(bench, out + kContextRead, [&] { return bench.dma.writes(area, 128).size() == 2; });
  EXPECT_EQ(bench.dma.writes(area, 128)[0].address, area);
  EXPECT_EQ(bench.context_reads().size(), 1u);
  bench.run_idle();
}

TEST(ContextMiss, WhatIsHeldDoesNotOutgrowTheBuffer) {
  BenchOptions options = small_qpc();
  options.parameters.responder.buffer_packets = 2;
  MissBench bench(options);
  const std::uint64_t area = bench.allocate(4096);
  const std::uint32_t key = bench.create_mr(area, 4096);
  BenchQp old = bench.create_qp();
  bench.create_qp();
  quiet_start(bench);
  for (std::uint32_t psn = 500; psn < 505; ++psn) bench.arrive(old, write_only(psn, area, key, 8));
  bench.run_idle();
  EXPECT_EQ(bench.counter("responder", "rx_buffer_full"), 3u);
  EXPECT_EQ(bench.dma.writes(area, 8).size(), 2u);
}

TEST(ContextMiss, AQueuePairThatIsDestroyedTakesWhatIsHeldWithIt) {
  MissBench bench(small_qpc());
  BenchQp old = bench.create_qp();
  bench.create_qp();
  quiet_start(bench);
  bench.arrive(old, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500));
  bench.run_for(hw::kMicrosecond);
  ASSERT_EQ(bench.context_reads().size(), 1u);
  EXPECT_EQ(bench.issue(hw::CommandOpcode::kDestroyQp, old.qpn()).status, hw::CommandStatus::kOk);
  EXPECT_GE(bench.now(), bench.context_reads()[0].at + kContextRead);  // which was for it
  bench.run_idle();
  EXPECT_TRUE(bench.sent().empty());
}

TEST(ContextMiss, ASenderIsNotDestroyedBeforeItsContextIsHere) {
  MissBench bench(small_qpc());
  BenchQp old = bench.create_qp();
  bench.create_qp();
  quiet_start(bench);
  bench.send(old, inline_write());
  bench.run_for(hw::kMicrosecond);
  ASSERT_EQ(bench.context_reads().size(), 1u);
  EXPECT_EQ(bench.issue(hw::CommandOpcode::kDestroyQp, old.qpn()).status, hw::CommandStatus::kOk);
  EXPECT_GE(bench.now(), bench.context_reads()[0].at + kContextRead);
  EXPECT_TRUE(bench.sent().empty());
}

TEST(ContextMiss, ACompletionWaitsForItsQueueAndThoseBehindItToo) {
  BenchOptions options;
  options.parameters.cqc_cache = one_entry(64);
  MissBench bench(options);
  BenchQp old = bench.create_qp();  // its receive CQ comes after its send CQ
  BenchQp young = bench.create_qp();
  for (BenchQp* qp : {&old, &young}) bench.receive(*qp, 1, {});
  const Time start = quiet_start(bench);
  bench.arrive(old, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500));
  bench.arrive(young, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500));
  const Time made = bench.edge_after(bench.edge_after(start) + bench.cycles(8)) + bench.cycles(1);
  const std::uint64_t ring = old.recv_cq.context.base;
  expect_at(bench, made + kContextRead, [&] { return bench.dma.writes(ring).size() == 1; });
  EXPECT_EQ(bench.dma.writes(young.recv_cq.context.base).size(), 1u);
  bench.run_idle();
}

BenchOptions small_translation() {
  BenchOptions options;
  options.parameters.mpt_cache = one_entry(64);
  options.parameters.mtt_cache = one_entry(64);
  return options;
}

/// A region, and another one that came after it.
struct OldRegion {
  explicit OldRegion(MissBench& bench) : area(bench.allocate(4096, 4096)) {
    key = bench.create_mr(area, 4096);
    bench.create_mr(bench.allocate(4096, 4096), 4096);
  }
  std::uint64_t area;
  std::uint32_t key = 0;
};

// The list of pages lies in memory of the ordinary kind.
TEST(ContextMiss, AGatherWaitsForProtectionThenForTranslation) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  SendWr wr = inline_write();
  wr.inline_data.clear();
  wr.sges = {{region.area, 100, region.key}};
  bench.send(qp, wr);
  bench.run_for(20 * hw::kMicrosecond);
  const auto data = bench.dma.reads(region.area, 4096);
  ASSERT_EQ(bench.context_reads().size(), 1u);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0].at - bench.context_reads()[0].at, kContextRead + kRead);
  EXPECT_EQ(bench.sent().size(), 1u);
  EXPECT_EQ(bench.cache_counter("mtt_cache_fetch"), 1u);
}

TEST(ContextMiss, AWriteWaitsForItsTranslationsAndIsCountedOnce) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  BenchQp qp = bench.create_qp();
  const Time start = quiet_start(bench);
  bench.arrive(qp, write_only(500, region.area, region.key, 64));
  const Time out = bench.edge_after(start) + bench.cycles(8);
  expect_at(bench, out + kContextRead + kRead,
            [&] { return bench.dma.writes(region.area, 4096).size() == 1; });
  bench.run_idle();
  EXPECT_EQ(bench.counter("responder", "rx_write_requests"), 1u);
  EXPECT_EQ(bench.cache_counter("mpt_cache_miss"), 1u);
  EXPECT_EQ(bench.cache_counter("mpt_cache_hit"), 0u);
}

// Else the answer to the read could be taken for one to a read of its next life.
TEST(ContextMiss, AResetWaitsForTranslationsThatAreBeingRead) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.arrive(qp, write_only(500, region.area, region.key, 64));
  bench.run_for(hw::kMicrosecond);
  ASSERT_EQ(bench.context_reads().size(), 1u);
  EXPECT_EQ(bench.modify(qp, hw::QpState::kReset), hw::CommandStatus::kOk);
  EXPECT_GE(bench.now(), bench.context_reads()[0].at + kContextRead + kRead);
  EXPECT_TRUE(bench.dma.writes(region.area, 4096).empty());
}

TEST(ContextMiss, AReceiveWaitsForItsTranslationsAndIsCountedOnce) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  BenchQp qp = bench.create_qp();
  bench.receive(qp, 1, {{region.area, 64, region.key}});
  quiet_start(bench);
  bench.arrive(qp, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500, pattern(64)));
  bench.run_idle();
  const auto writes = bench.dma.writes(region.area, 4096);
  ASSERT_EQ(writes.size(), 1u);
  ASSERT_EQ(bench.context_reads().size(), 1u);
  EXPECT_EQ(writes[0].at - bench.context_reads()[0].at, kContextRead + kRead);
  EXPECT_EQ(bench.counter("responder", "rx_send_requests"), 1u);
  EXPECT_EQ(bench.poll(qp.recv_cq).size(), 1u);
  EXPECT_EQ(bench.bytes(region.area, 64), pattern(64));
}

// The request waits for the protection, the data of the answer for the translation.
TEST(ContextMiss, AReadRequestAndItsAnswerWaitForTheirs) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  bench.fill(region.area, pattern(100));
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.arrive(qp, read_request(500, region.area, region.key, 100));
  bench.run_idle();
  ASSERT_EQ(bench.context_reads().size(), 1u);
  const Time asked = bench.context_reads()[0].at;
  const auto data = bench.dma.reads(region.area, 4096);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_GE(data[0].at - asked, kContextRead + kRead);
  EXPECT_LE(data[0].at - asked, kContextRead + kRead + bench.cycles(20));
  EXPECT_EQ(bench.sent().at(0).payload, pattern(100));
  EXPECT_EQ(bench.counter("responder", "rx_read_requests"), 1u);
}

TEST(ContextMiss, AnAtomicWaitsForItsTranslations) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.arrive(qp, fetch_add(500, region.area, region.key, 5));
  bench.run_idle();
  ASSERT_EQ(bench.context_reads().size(), 1u);
  EXPECT_EQ(bench.dma.reads(region.area).at(0).at - bench.context_reads()[0].at,
            kContextRead + kRead);
  EXPECT_EQ(bench.load<std::uint64_t>(region.area), 5u);
}

// Responses of a READ keep their order while the first waits.
TEST(ContextMiss, TheDataOfAReadWaitsForItsTranslations) {
  MissBench bench(small_translation());
  const OldRegion region(bench);
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  bench.send(qp, read_wr(region.area, region.key, 256 + 100));
  bench.run_for(5 * hw::kMicrosecond);
  ASSERT_EQ(bench.sent().size(), 1u);
  const auto data = pattern(356);
  PeerPacket first = AdapterBench::ack(100, 1);
  first.headers.opcode = hw::BthOpcode::kRcReadResponseFirst;
  first.payload.assign(data.begin(), data.begin() + 256);
  PeerPacket last = AdapterBench::ack(101, 1);
  last.headers.opcode = hw::BthOpcode::kRcReadResponseLast;
  last.payload.assign(data.begin() + 256, data.end());
  bench.arrive(qp, first);
  bench.arrive(qp, last);
  bench.run_idle();
  ASSERT_EQ(bench.context_reads().size(), 1u);
  EXPECT_EQ(bench.dma.writes(region.area).at(0).at - bench.context_reads()[0].at,
            kContextRead + kRead);
  EXPECT_EQ(bench.bytes(region.area, 356), data);
  EXPECT_EQ(bench.cache_counter("mtt_cache_miss"), 1u);
  EXPECT_EQ(bench.cache_counter("mtt_cache_hit"), 1u);  // of the second packet
  EXPECT_EQ(statuses(bench.poll(qp.send_cq)), std::vector{hw::WcStatus::kSuccess});
}

TEST(ContextMiss, AHitTakesItsLatencyInThePipeline) {
  for (const std::uint32_t latency : {0u, 7u}) {
    BenchOptions options;
    options.parameters.qpc_cache.hit_latency_cycles = latency;
    MissBench bench(options);
    BenchQp qp = bench.create_qp();
    const Time start = quiet_start(bench);
    bench.send(qp, inline_write());
    const Time seen = bench.edge_after(start) + bench.cycles(4);
    expect_at(bench, bench.edge_after(seen) + bench.cycles(4 + latency),
              [&] { return bench.dma.reads(qp.context.sq_base).size() == 1; });
  }
}

TEST(ReceiveBuffer, APacketThatFindsNoRoomIsDiscarded) {
  BenchOptions options;
  options.parameters.responder.rx_buffer_bytes = 4096;
  options.write_latency = 5 * hw::kMicrosecond;
  AdapterBench bench(options);
  const std::uint64_t area = bench.allocate(4096);
  const std::uint32_t key = bench.create_mr(area, 4096);
  BenchQp qp = bench.create_qp();
  quiet_start(bench);
  std::uint32_t psn = 500;
  for (int i = 0; i < 16; ++i) bench.arrive(qp, write_only(psn++, area, key, 256));
  bench.run_for(hw::kMicrosecond);
  bench.arrive(qp, write_only(psn, area, key, 1));  // not one byte more
  bench.run_for(hw::kMicrosecond);
  EXPECT_EQ(bench.counter("responder", "rx_discards_phy"), 1u);
  EXPECT_EQ(bench.dma.writes(area, 4096).size(), 16u);
  bench.run_for(4 * hw::kMicrosecond);  // PCIe has taken it all
  bench.arrive(qp, write_only(psn, area, key, 1));
  bench.run_idle();
  EXPECT_EQ(bench.counter("responder", "rx_discards_phy"), 1u);
  EXPECT_EQ(bench.dma.writes(area, 4096).size(), 17u);
}

}  // namespace
}  // namespace hcasim::testing
