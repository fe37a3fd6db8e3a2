// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The published figures of a PCIe link, out of the model alone: bandwidths are measured by running
// the endpoint against the root complex, byte counts come from the layout of the TLPs.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/pcie_node.hpp"

namespace hcasim {
namespace {

using pcie::LinkRates;
using pcie::Parameters;
using pcie::TlpLayout;

void expect_row(const char* row, double published, double model) {
  std::printf("  %-58s %10.2f %10.4f\n", row, published, model);
  EXPECT_NEAR(model, published, published * 0.001) << row;
}

Parameters gen(std::uint32_t generation, std::uint32_t width, std::uint32_t mps = 256) {
  Parameters p;
  p.generation = generation;
  p.width = width;
  p.mps_bytes = mps;
  p.completion_bytes = mps;  // one completion per MPS
  p.mrrs_bytes = 4096;
  return p;
}

// Keeps a number of operations of a size going; measures payload bits over time in steady state.
class Load final : public pcie::DmaClient {
 public:
  Load(const Parameters& p, bool reads, bool writes, std::uint32_t bytes)
      : node_(p), reads_(reads), writes_(writes), bytes_(bytes), buffer_(bytes) {
    base_ = node_.memory.allocate(bytes, 4096);
  }

  double gbps() {
    if (!reads_) return write_only();
    for (int i = 0; i < 128; ++i) issue();
    const Time begin = run_to(2'000);
    const Time end = run_to(12'000);
    return 10'000.0 * bytes_ * 8000.0 / static_cast<double>(end - begin);
  }
  void on_dma_read(std::uint64_t, bool) override {
    ++done_;
    issue();
  }

 private:
  using Time = hw::Time;

  void issue() {
    node_.endpoint.read(base_, buffer_.data(), bytes_, *this, 0);
    if (writes_) node_.endpoint.write(base_, buffer_.data(), bytes_);
  }
  Time run_to(int done) {
    while (done_ < done) node_.engine.step();
    return node_.engine.now();
  }
  double write_only() {
    constexpr int kWrites = 10'000;
    Time first = 0;
    Time last = 0;
    for (int i = 0; i <= kWrites; ++i) {
      last = node_.endpoint.write(base_, buffer_.data(), bytes_);
      if (i == 0) first = last;
    }
    return kWrites * bytes_ * 8000.0 / static_cast<double>(last - first);
  }

  testing::PcieNode node_;
  bool reads_;
  bool writes_;
  std::uint32_t bytes_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t base_;
  int done_ = 0;
};

double writes(const Parameters& p, std::uint32_t bytes) {
  return Load(p, false, true, bytes).gbps();
}
double reads(const Parameters& p, std::uint32_t bytes) {
  return Load(p, true, false, bytes).gbps();
}

TEST(PcieTable, OverheadsOfTlps) {
  const TlpLayout layout(gen(3, 8));
  expect_row("overhead of a write TLP, bytes", 24, layout.write(0, 64).bytes - 64);
  expect_row("overhead of a read request, bytes", 24, layout.read_requests(0, 64).bytes);
  expect_row("overhead of a completion, bytes", 20, layout.completions(0, 64).bytes - 64);
}

TEST(PcieTable, BytesOfWritesAndReads) {
  for (const std::uint32_t mps : {128u, 256u, 512u, 1024u}) {
    for (const std::uint32_t rcb : {64u, 128u}) {
      Parameters p = gen(3, 8, mps);
      p.mrrs_bytes = 512;
      p.rcb_bytes = rcb;
      p.completion_bytes = rcb;
      const TlpLayout layout(p);
      for (std::uint32_t s = 1; s <= 8192; ++s) {
        ASSERT_EQ(layout.write(0, s).bytes, (s + mps - 1) / mps * 24 + s);
        ASSERT_EQ(layout.read_requests(0, s).bytes, (s + 511) / 512 * 24);
        ASSERT_EQ(layout.completions(0, s).bytes, (s + rcb - 1) / rcb * 20 + s);
      }
    }
  }
}

TEST(PcieTable, EncodingByGeneration) {
  const double lane[] = {2.0, 4.0, 7.8769, 15.7538, 31.5077, 60.5, 121.0};
  for (std::uint32_t g = 1; g <= 7; ++g) {
    expect_row("raw Gb/s of a lane, generations 1 to 7", lane[g - 1],
               LinkRates(gen(g, 1)).raw_gbps());
  }
}

TEST(PcieTable, LimitsOfAckAndFlowControl) {
  const std::uint32_t mps[] = {128, 256, 512, 1024};
  const std::uint32_t gen3[3][4] = {
      {169, 214, 250, 378}, {163, 203, 182, 246}, {144, 168, 182, 246}};
  const std::uint32_t gen2_x8[] = {118, 158, 137, 201};
  for (int m = 0; m < 4; ++m) {
    for (std::uint32_t g = 3; g <= 5; ++g) {
      EXPECT_EQ(LinkRates::dllp_limit(g, 4, mps[m]), gen3[0][m]);
      EXPECT_EQ(LinkRates::dllp_limit(g, 8, mps[m]), gen3[1][m]);
      EXPECT_EQ(LinkRates::dllp_limit(g, 16, mps[m]), gen3[2][m]);
    }
    EXPECT_EQ(LinkRates::dllp_limit(2, 8, mps[m]), gen2_x8[m]);
  }
}

TEST(PcieTable, LinkBandwidth) {
  expect_row("raw, Gen3 x8, Gb/s", 63.02, LinkRates(gen(3, 8)).raw_gbps());
  expect_row("TLPs, Gen3 x8, MPS 256, Gb/s", 57.88, LinkRates(gen(3, 8)).tlp_gbps());
  expect_row("TLPs, Gen3 x16, MPS 256, Gb/s", 113.70, LinkRates(gen(3, 16)).tlp_gbps());
  expect_row("TLPs, Gen4 x16, MPS 256, Gb/s", 227.40, LinkRates(gen(4, 16)).tlp_gbps());
  expect_row("TLPs, Gen5 x16, MPS 256, Gb/s", 454.80, LinkRates(gen(5, 16)).tlp_gbps());
}

TEST(PcieTable, UsefulBandwidthGen3x8) {
  const Parameters p = gen(3, 8);
  expect_row("64 B write, MPS 256, Gb/s", 42.10, writes(p, 64));
  expect_row("64 B read, MPS 256, Gb/s", 44.10, reads(p, 64));
  expect_row("64 B read and write, MPS 256, Gb/s each", 33.08, Load(p, true, true, 64).gbps());
  for (const std::uint32_t bytes : {256u, 512u, 1024u, 4096u}) {
    expect_row(">= 256 B write, MPS 256, Gb/s", 52.92, writes(p, bytes));
    expect_row(">= 256 B read, MPS 256, Gb/s", 53.69, reads(p, bytes));
  }
}

TEST(PcieTable, UsefulBandwidthByMps) {
  const std::uint32_t mps[] = {128, 512, 1024};
  const double write[] = {47.72, 54.75, 57.41};
  const double read[] = {49.01, 55.16, 57.63};
  for (int m = 0; m < 3; ++m) {
    expect_row("1 KiB write, MPS 128, 512, 1024, Gb/s", write[m], writes(gen(3, 8, mps[m]), 1024));
    expect_row("1 KiB read, MPS 128, 512, 1024, Gb/s", read[m], reads(gen(3, 8, mps[m]), 1024));
  }
}

// Ten WQEs of 65 bytes, two lines each: pushed by write-combining stores, or announced by a
// doorbell of 8 bytes and read by DMA in completions of 128 bytes; the requests are not counted.
TEST(PcieTable, DoorbellAgainstWqeByMmio) {
  Parameters p = gen(3, 16);
  p.mwr_overhead_bytes = 26;
  p.mrd_overhead_bytes = 26;
  p.cpld_overhead_bytes = 22;
  p.completion_bytes = 128;
  const TlpLayout layout(p);
  expect_row("10 WQEs of 65 B by MMIO, bytes", 1800, 10 * 2 * layout.write(0, 64).bytes);
  expect_row("10 WQEs of 65 B by doorbell and DMA, bytes", 1534,
             layout.write(0, 8).bytes + layout.completions(0, 10 * 128).bytes);
}

}  // namespace
}  // namespace hcasim
