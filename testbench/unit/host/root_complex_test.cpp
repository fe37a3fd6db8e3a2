// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/root_complex.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/pcie_node.hpp"

namespace hcasim {
namespace {

using testing::default_link_ps;
using testing::PcieNode;
using Time = hw::Time;

pcie::Parameters constant_latency() {
  pcie::Parameters p;
  p.read_latency_min_ns = p.read_latency_median_ns = p.read_latency_max_ns = 200;
  return p;
}

TEST(RootComplex, ReadTakesTheSumOfItsStages) {
  PcieNode node(constant_latency());
  const std::uint64_t a = node.memory.allocate(4096, 4096);
  std::uint64_t value = 5;
  node.memory.write(a, &value, 8);
  std::uint64_t got = 0;
  node.endpoint.read(a, &got, 8, node.client, 1);
  node.engine.run_before(hw::kNever);
  const Time taken = default_link_ps(24) + 20'000 + 200'000;  // request, flight, latency
  const Time back = default_link_ps(20 + 8) + 20'000;
  EXPECT_EQ(node.client.done.at(0).at, taken + back);
  EXPECT_EQ(got, 5u);
}

TEST(RootComplex, ReadTakesTheDataOfItsTimeAndNotOneEarlier) {
  PcieNode node(constant_latency());
  const std::uint64_t a = node.memory.allocate(64, 64);
  const Time taken = default_link_ps(24) + 20'000 + 200'000;
  std::uint64_t got[2] = {};
  std::uint64_t late = 1;
  host::PostedWrites posted(node.memory);
  posted.post(a, &late, 8, taken + 1);
  node.endpoint.read(a, &got[0], 8, node.client, 1);
  node.engine.run_before(hw::kNever);
  EXPECT_EQ(got[0], 0u);

  PcieNode other(constant_latency());
  const std::uint64_t b = other.memory.allocate(64, 64);
  host::PostedWrites also_posted(other.memory);
  also_posted.post(b, &late, 8, taken);
  other.endpoint.read(b, &got[1], 8, other.client, 1);
  other.engine.run_before(hw::kNever);
  EXPECT_EQ(got[1], 1u);
}

TEST(RootComplex, ReadWaitsForTheVisibilityOfEarlierWrites) {
  pcie::Parameters p;
  p.read_latency_min_ns = p.read_latency_median_ns = p.read_latency_max_ns = 1;
  PcieNode node(p);
  const std::uint64_t a = node.memory.allocate(64, 64);
  std::uint64_t value = 9;
  std::uint64_t got = 0;
  const Time visible = node.endpoint.write(a, &value, 8);
  node.endpoint.read(a, &got, 8, node.client, 1);
  node.engine.run_before(hw::kNever);
  EXPECT_EQ(got, 9u);
  EXPECT_EQ(node.client.done.at(0).at, visible + default_link_ps(28) + 20'000);
}

TEST(RootComplex, CompletionsShareTheDownstreamLink) {
  PcieNode node(constant_latency());
  const std::uint64_t a = node.memory.allocate(8192, 4096);
  std::vector<std::uint8_t> buffer(8192);
  node.endpoint.read(a, buffer.data(), 4096, node.client, 1);
  node.endpoint.read(a, buffer.data(), 64, node.client, 2);
  node.engine.run_before(hw::kNever);
  const Time taken = default_link_ps(24) + 20'000 + 200'000;
  EXPECT_EQ(node.client.done.at(0).at, taken + default_link_ps(4096 + 16 * 20) + 20'000);
  EXPECT_EQ(node.client.done.at(1).at, taken + default_link_ps(4096 + 17 * 20 + 64) + 20'000);
}

TEST(RootComplex, UnmappedReadIsAnErrorAndUnmappedWriteIsDropped) {
  PcieNode node(constant_latency());
  std::uint64_t got = 3;
  node.endpoint.read(0x1234, &got, 8, node.client, 1);
  node.endpoint.write(0x1234, &got, 8);
  node.engine.run_before(hw::kNever);
  EXPECT_TRUE(node.client.done.at(0).error);
  EXPECT_EQ(got, 3u);
  EXPECT_EQ(node.client.done[0].at,
            default_link_ps(24) + 20'000 + 200'000 + default_link_ps(20) + 20'000);
  EXPECT_EQ(node.root_complex.counters().unmapped_reads, 1u);
  EXPECT_EQ(node.root_complex.counters().unmapped_writes, 1u);
}

TEST(RootComplex, InterruptComesAfterItsDelayBehindEarlierWrites) {
  PcieNode node;
  const std::uint64_t a = node.memory.allocate(4096, 4096);
  std::vector<std::uint8_t> buffer(4096, 1);
  struct Seen {
    PcieNode* node;
    std::uint64_t address;
    Time at = 0;
    std::uint8_t byte = 0;
  } seen{&node, a + 4095};
  const auto handler = [](void* context, std::uint64_t vector) {
    auto* s = static_cast<Seen*>(context);
    s->at = s->node->engine.now();
    s->node->memory.read(s->address, &s->byte, 1);
    EXPECT_EQ(vector, 17u);
  };
  node.interrupts.connect(17, {handler, &seen, 17});
  node.endpoint.write(a, buffer.data(), 4096);
  node.endpoint.interrupt(17);
  node.endpoint.interrupt(18);
  node.engine.run_before(hw::kNever);
  const Time visible = default_link_ps(4096 + 16 * 24 + 28) + 20'000 + 60'000;
  EXPECT_EQ(seen.at, visible + 1'500'000);
  EXPECT_EQ(seen.byte, 1u);
  EXPECT_EQ(node.interrupts.delivered(), 1u);
  EXPECT_EQ(node.interrupts.spurious(), 1u);
  EXPECT_THROW(node.interrupts.connect(2048, {}), sim::SimulationError);
}

TEST(ReadLatency, MedianIsExactAndTheTailBounded) {
  const pcie::Parameters p;
  host::ReadLatency latency(p, 7);
  std::vector<Time> draws(200'000);
  for (Time& draw : draws) draw = latency.draw();
  std::sort(draws.begin(), draws.end());
  EXPECT_GE(draws.front(), 180'000);
  EXPECT_NEAR(static_cast<double>(draws[draws.size() / 2]), 207'000, 150);
  EXPECT_LE(draws.back(), 607'000);
  // Half of what is left exceeds each further distance of the median.
  EXPECT_NEAR(static_cast<double>(draws[draws.size() * 3 / 4]), 234'000, 500);
  EXPECT_NEAR(static_cast<double>(draws[draws.size() * 7 / 8]), 261'000, 900);
}

TEST(ReadLatency, FollowsItsSeed) {
  const pcie::Parameters p;
  host::ReadLatency a(p, 1);
  host::ReadLatency b(p, 1);
  host::ReadLatency c(p, 2);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const Time draw = a.draw();
    EXPECT_EQ(draw, b.draw());
    same += draw == c.draw() ? 1 : 0;
  }
  EXPECT_LT(same, 5);
}

}  // namespace
}  // namespace hcasim
