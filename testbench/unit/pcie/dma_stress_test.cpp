// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Random DMA against the real root complex: every byte right, every read ends once, the same again
// with the same seed, and no heap allocation once warm.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/allocation_counter.hpp"
#include "support/pcie_node.hpp"

namespace hcasim {
namespace {

using testing::PcieNode;

constexpr std::size_t kSlots = 32;
constexpr std::uint32_t kPart = 32 * 1024;

// Each slot owns a part of memory: it writes a range, reads another back, compares, and goes on.
class Stress final : public pcie::DmaClient {
 public:
  Stress(const pcie::Parameters& p, std::uint64_t seed, std::uint64_t latency_seed = 1)
      : node_(p, latency_seed), random_(seed), expected_(kSlots * kPart), slots_(kSlots) {
    base_ = node_.memory.allocate(kSlots * kPart, 4096);
  }

  void run(int operations) {
    left_ = operations;
    for (std::uint64_t slot = 0; slot < kSlots; ++slot) issue(slot);
    node_.engine.run_before(hw::kNever);
  }

  void on_dma_read(std::uint64_t token, bool error) override {
    Slot& slot = slots_[token];
    EXPECT_TRUE(slot.busy);
    EXPECT_FALSE(error);
    slot.busy = false;
    ++done;
    if (std::memcmp(slot.buffer.data(), &expected_[slot.offset], slot.bytes) != 0) ++wrong;
    digest = digest * 31 + static_cast<std::uint64_t>(node_.engine.now()) + token;
    issue(token);
  }

  PcieNode& node() { return node_; }

  int done = 0;
  int wrong = 0;
  std::uint64_t digest = 0;

 private:
  struct Slot {
    bool busy = false;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::array<std::uint8_t, 8192> buffer;
  };

  std::uint64_t place(std::uint64_t slot, std::uint32_t bytes) {
    return slot * kPart + random_() % (kPart - bytes);
  }
  void issue(std::uint64_t number) {
    if (left_-- <= 0) return;
    auto bytes = static_cast<std::uint32_t>(random_() % 8192 + 1);
    const std::uint64_t to = place(number, bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) {
      expected_[to + i] = static_cast<std::uint8_t>(random_());
    }
    node_.endpoint.write(base_ + to, &expected_[to], bytes);
    Slot& slot = slots_[number];
    slot.bytes = static_cast<std::uint32_t>(random_() % 8192 + 1);
    slot.offset = place(number, slot.bytes);
    slot.busy = true;
    node_.endpoint.read(base_ + slot.offset, slot.buffer.data(), slot.bytes, *this, number);
  }

  PcieNode node_;
  std::mt19937_64 random_;
  std::vector<std::uint8_t> expected_;
  std::vector<Slot> slots_;
  std::uint64_t base_;
  int left_ = 0;
};

TEST(DmaStress, EveryByteRightWhateverTheCredits) {
  std::mt19937_64 random(11);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    pcie::Parameters p;
    p.tags = static_cast<std::uint32_t>(random() % 40 + 1);
    p.nonposted_header_credits = static_cast<std::uint32_t>(random() % 40 + 1);
    p.posted_header_credits = static_cast<std::uint32_t>(random() % 40 + 1);
    p.posted_data_credits = static_cast<std::uint32_t>(random() % 400 + 1);
    p.read_latency_min_ns = 0;  // a read that its latency lets pass must wait for earlier writes
    p.read_latency_median_ns = 50;
    p.mps_bytes = 128u << random() % 4;
    Stress stress(p, seed);
    stress.run(300);
    EXPECT_EQ(stress.done, 300) << "seed " << seed;
    EXPECT_EQ(stress.wrong, 0) << "seed " << seed;
    EXPECT_EQ(stress.node().endpoint.requests_outstanding(), 0u);
    EXPECT_EQ(stress.node().root_complex.reads_pending(), 0u);
  }
}

TEST(DmaStress, SameSeedSameTimes) {
  Stress a({}, 5, 9);
  Stress b({}, 5, 9);
  Stress other({}, 5, 10);
  a.run(1000);
  b.run(1000);
  other.run(1000);
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_NE(a.digest, other.digest);
}

TEST(DmaStress, NoAllocationOnceWarm) {
  pcie::Parameters p;
  p.tags = 24;  // so that reads wait, too
  Stress stress(p, 1);
  stress.run(3000);
  const testing::AllocationCounter counter;
  stress.run(3000);
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_EQ(stress.done, 6000);
}

// Little's law: one read of MRRS per tag and latency.
TEST(DmaStress, TagsBoundTheReadBandwidth) {
  pcie::Parameters p;
  p.tags = 4;
  p.read_latency_min_ns = p.read_latency_median_ns = p.read_latency_max_ns = 1000;
  PcieNode node(p);
  const std::uint64_t base = node.memory.allocate(8192, 4096);
  std::vector<std::uint8_t> buffer(8192);
  for (int i = 0; i < 100; ++i) node.endpoint.read(base, buffer.data(), 512, node.client, 0);
  node.engine.run_before(hw::kNever);
  const double seconds = static_cast<double>(node.client.done.back().at) * 1e-12;
  const double bound = 4 * 512 / 1.04e-6;  // latency and both propagation delays
  EXPECT_LT(100 * 512 / seconds, bound);
  EXPECT_GT(100 * 512 / seconds, bound * 0.95);
}

}  // namespace
}  // namespace hcasim
