// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/mmio_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "pcie/bar_port.hpp"
#include "support/pcie_node.hpp"
#include "support/recording_bar.hpp"

namespace hcasim {
namespace {

using testing::default_link_ps;
using testing::PcieNode;
using testing::RecordingBar;
using Time = hw::Time;

constexpr Time kFlight = 20'000;
const Time kStore = default_link_ps(8 + 24);  // a doorbell on the link

struct MmioTest : ::testing::Test {
  explicit MmioTest(const pcie::Parameters& p = {})
      : node(p),
        bar_port(node.engine, "bar", p, node.endpoint),
        mmio(node.engine, p, node.root_complex.downstream(), bar_port) {
    bar_port.set_target(bar);
  }
  void store(std::uint64_t value, Time issue) { mmio.write(0x100, &value, 8, issue); }
  void run() { node.engine.run_before(hw::kNever); }
  void run_until(Time time) {
    node.at.at(time, [] {});
    node.engine.run_before(time + 1);
  }

  PcieNode node;
  RecordingBar bar{node.engine};
  pcie::BarPort bar_port;
  host::MmioPort mmio;
};

TEST_F(MmioTest, StoreArrivesAfterTheLinkAndTheFlight) {
  store(7, 0);
  run();
  ASSERT_EQ(bar.writes.size(), 1u);
  EXPECT_EQ(bar.writes[0].at, kStore + kFlight);
  EXPECT_EQ(bar.writes[0].value(), 7u);
  EXPECT_EQ(bar.writes[0].offset, 0x100u);
}

// Kalia et al., USENIX ATC 2016, counted as there: overheads of 26 and 22 bytes, completions of
// 128, WQEs of 65 bytes in two lines each, read requests left out.
struct TenWqes : MmioTest {
  static pcie::Parameters parameters() {
    pcie::Parameters p;
    p.mwr_overhead_bytes = 26;
    p.cpld_overhead_bytes = 22;
    p.completion_bytes = 128;
    return p;
  }
  TenWqes() : MmioTest(parameters()) {}
};

TEST_F(TenWqes, ByMmioAre1800BytesDownstream) {
  const std::array<std::uint8_t, 128> burst{};
  for (Time i = 0; i < 10; ++i) mmio.write(0x100800, burst.data(), burst.size(), i);
  run();
  EXPECT_EQ(node.root_complex.downstream().bytes(), 1800u);
}

TEST_F(TenWqes, ByOneDoorbellAre1534BytesDownstream) {
  const std::uint64_t ring = node.memory.allocate(1280, 4096);
  std::array<std::uint8_t, 1280> wqes;
  store(7, 0);
  for (const std::uint32_t first : {0u, 512u, 1024u}) {  // as the adapter fetches them
    node.endpoint.read(ring + first, wqes.data() + first, std::min(512u, 1280u - first),
                       node.client, first);
  }
  run();
  EXPECT_EQ(node.root_complex.downstream().bytes(), 1534u);
}

TEST_F(MmioTest, StoreLeavesAtItsIssueTime) {
  store(1, 50'000);
  run();
  EXPECT_EQ(bar.writes.at(0).at, 50'000 + kStore + kFlight);
}

TEST_F(MmioTest, StoresOfSeveralCoresLeaveByIssueTime) {
  store(1, 50'000);
  store(2, 30'000);
  store(3, 50'000);
  run();
  EXPECT_EQ(bar.writes.at(0).value(), 2u);
  EXPECT_EQ(bar.writes.at(1).value(), 1u);
  EXPECT_EQ(bar.writes.at(2).value(), 3u);
  EXPECT_EQ(bar.writes.at(2).at, 50'000 + default_link_ps(2 * 32) + kFlight);
}

TEST_F(MmioTest, BurstIsLinesOfOneTransaction) {
  std::vector<std::uint8_t> wqe(192, 5);
  mmio.write(0x800, wqe.data(), 192, 0);
  run();
  ASSERT_EQ(bar.writes.size(), 1u);
  EXPECT_EQ(bar.writes[0].bytes, wqe);
  EXPECT_EQ(bar.writes[0].at, default_link_ps(3 * (64 + 24)) + kFlight);
}

TEST_F(MmioTest, ImpossibleStoresAreRefused) {
  std::vector<std::uint8_t> data(1024);
  EXPECT_THROW(mmio.write(0, data.data(), 0, 0), sim::SimulationError);
  EXPECT_THROW(mmio.write(0, data.data(), 100, 0), sim::SimulationError);
  EXPECT_THROW(mmio.write(32, data.data(), 128, 0), sim::SimulationError);
  EXPECT_THROW(mmio.write(0, data.data(), 576, 0), sim::SimulationError);
  EXPECT_NO_THROW(mmio.write(0, data.data(), 512, 0));
  run();
}

TEST_F(MmioTest, SharesTheDownstreamLinkWithCompletions) {
  const std::uint64_t a = node.memory.allocate(4096, 4096);
  std::vector<std::uint8_t> buffer(4096);
  node.endpoint.read(a, buffer.data(), 4096, node.client, 0);
  Time taken = 0;
  while (node.root_complex.downstream().bytes() == 0) node.engine.step();
  taken = node.engine.now();  // the completions have just taken the link
  store(1, taken);
  run();
  EXPECT_EQ(bar.writes.at(0).at, taken + default_link_ps(4096 + 16 * 20 + 32) + kFlight);
}

// An adapter that takes odd values as soon as it is told of them.
struct OddAhead : RecordingBar {
  using RecordingBar::RecordingBar;
  bool bar_write_ahead(std::uint64_t, const void* data, std::uint32_t, Time arrival) override {
    std::uint64_t value = 0;
    std::memcpy(&value, data, sizeof value);
    if (value % 2 != 0) ahead.push_back({value, arrival});
    return value % 2 != 0;
  }
  std::vector<std::pair<std::uint64_t, Time>> ahead;
};

TEST_F(MmioTest, StoresThatTheAdapterTakesAheadPassNoneThatWait) {
  struct InOrder : pcie::DeviceSide {
    explicit InOrder(pcie::BarPort& behind) : port(behind) {}
    bool access(pcie::BarSink& sink, const pcie::BarAccess& access, Time arrival) override {
      return port.access_in_order(sink, access, arrival);
    }
    pcie::BarPort& port;
  } device(bar_port);
  OddAhead odd(node.engine);
  bar_port.set_target(odd);
  host::MmioPort in_order(node.engine, {}, node.root_complex.downstream(), device);
  for (std::uint64_t value : {1, 2, 3, 5}) {
    in_order.write(0x100, &value, 8, value == 5 ? 500'000 : 0);
  }
  run();
  const Time last = 500'000 + kStore + kFlight;
  EXPECT_EQ(odd.ahead,
            (std::vector<std::pair<std::uint64_t, Time>>{{1, kStore + kFlight}, {5, last}}));
  ASSERT_EQ(odd.writes.size(), 2u);
  EXPECT_EQ(odd.writes[0].value(), 2u);
  EXPECT_EQ(odd.writes[1].value(), 3u);
  EXPECT_EQ(odd.writes[1].at, 3 * kStore + kFlight);
  EXPECT_EQ(bar_port.counters().writes, 4u);
}

TEST_F(MmioTest, RefusedStoreHoldsUpAllBehindItUntilTheAdapterIsReady) {
  bar.full = true;
  store(1, 0);
  store(2, 0);
  run();
  EXPECT_TRUE(bar.writes.empty());
  EXPECT_EQ(bar.offered, 1);  // it is not offered again and again
  EXPECT_EQ(bar_port.waiting(), 2u);
  node.at.at(900'000, [this] {
    bar.full = false;
    bar_port.bar_ready();
  });
  run();
  ASSERT_EQ(bar.writes.size(), 2u);
  EXPECT_EQ(bar.writes[0].at, 900'000);
  EXPECT_EQ(bar.writes[1].at, 900'000);
  EXPECT_EQ(bar.writes[0].value(), 1u);
  EXPECT_EQ(bar_port.counters().held_up, 1u);
}

pcie::Parameters eight_headers() {
  pcie::Parameters p;
  p.posted_header_credits = 8;
  return p;
}
struct EightHeaders : MmioTest {
  EightHeaders() : MmioTest(eight_headers()) {}
};

TEST_F(EightHeaders, NinthStoreWaitsForACreditToThePicosecond) {
  bar.full = true;
  for (std::uint64_t i = 0; i < 10; ++i) store(i, 0);
  run_until(500'000);
  EXPECT_EQ(mmio.waiting(), 2u);
  EXPECT_EQ(mmio.counters().credit_waits, 1u);
  node.at.at(900'000, [this] {
    bar.full = false;
    bar_port.bar_ready();
  });
  run();
  ASSERT_EQ(bar.writes.size(), 10u);
  EXPECT_EQ(bar.writes[7].at, 900'000);
  // Eight credits travel back, two stores leave at once, and the link brings one after the other.
  EXPECT_EQ(bar.writes[8].at, 900'000 + kFlight + kStore + kFlight);
  EXPECT_EQ(bar.writes[9].at, 900'000 + kFlight + default_link_ps(2 * 32) + kFlight);
}

TEST_F(EightHeaders, BurstNeedsAHeaderForEachLine) {
  std::vector<std::uint8_t> line(64);
  std::vector<std::uint8_t> burst(512);
  mmio.write(0x800, line.data(), 64, 0);
  mmio.write(0x800, burst.data(), 512, 0);
  run();
  const Time first = default_link_ps(88) + kFlight;
  EXPECT_EQ(bar.writes.at(0).at, first);
  EXPECT_EQ(bar.writes.at(1).at, first + kFlight + default_link_ps(8 * 88) + kFlight);
}

TEST_F(MmioTest, LoadComesBehindStoresAndItsAnswerBehindDmaWrites) {
  const std::uint64_t a = node.memory.allocate(4096, 4096);
  std::vector<std::uint8_t> buffer(4096);
  struct Seen {
    sim::Engine* engine;
    Time at = 0;
  } seen{&node.engine};
  std::uint64_t value = 0;
  bar.full = true;
  store(1, 0);
  mmio.read(0x10, value, 0,
            {[](void* context, std::uint64_t) {
               auto* s = static_cast<Seen*>(context);
               s->at = s->engine->now();
             },
             &seen, 0});
  node.at.at(900'000, [&] {
    node.endpoint.write(a, buffer.data(), 4096);
    bar.full = false;
    bar_port.bar_ready();
  });
  run();
  EXPECT_EQ(value, 0x30u);
  EXPECT_EQ(bar.read_at, 900'000);
  EXPECT_EQ(seen.at, 900'000 + default_link_ps(4096 + 16 * 24 + 28) + kFlight);
}

TEST_F(MmioTest, ReadyFromInsideAWriteIsHeard) {
  struct Eager : pcie::BarTarget {
    bool bar_write(std::uint64_t, const void*, std::uint32_t) override {
      if (++calls == 1) {
        port->bar_ready();
        return false;
      }
      return true;
    }
    std::uint64_t bar_read(std::uint64_t) override { return 0; }
    pcie::BarPort* port = nullptr;
    int calls = 0;
  } eager;
  eager.port = &bar_port;
  bar_port.set_target(eager);
  store(1, 0);
  run();
  EXPECT_EQ(eager.calls, 2);
}

}  // namespace
}  // namespace hcasim
