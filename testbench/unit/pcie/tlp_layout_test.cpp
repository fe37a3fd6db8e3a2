// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/tlp_layout.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hcasim::pcie {
namespace {

TEST(TlpLayout, NoWriteCrossesFourKibibytes) {
  const TlpLayout layout{Parameters{}};
  EXPECT_EQ(layout.write(0xf80, 256).tlps, 2u);  // 128 and 128
  EXPECT_EQ(layout.write(0xf80, 128).tlps, 1u);
  EXPECT_EQ(layout.write(0xfff, 2).tlps, 2u);
  EXPECT_EQ(layout.write(0x1000, 256).tlps, 1u);
  EXPECT_EQ(layout.first_write(0xfff, 300), 1u);
}

TEST(TlpLayout, NoReadRequestCrossesFourKibibytes) {
  const TlpLayout layout{Parameters{}};
  EXPECT_EQ(layout.read_requests(0xf00, 512).tlps, 2u);
  EXPECT_EQ(layout.read_requests(0xf00, 256).tlps, 1u);
  EXPECT_EQ(layout.read_requests(0, 8192).tlps, 16u);
  EXPECT_EQ(layout.read_requests(1, 8192).tlps, 17u);
}

TEST(TlpLayout, FirstCompletionEndsAtReadCompletionBoundary) {
  Parameters p;
  p.completion_bytes = 256;
  const TlpLayout layout(p);
  EXPECT_EQ(layout.completions(0, 256).tlps, 1u);
  EXPECT_EQ(layout.completions(64, 256).tlps, 1u);  // a boundary of 64 is enough
  EXPECT_EQ(layout.completions(1, 256).tlps, 2u);   // 255 to the boundary, then 1
  EXPECT_EQ(layout.completions(63, 193).tlps, 1u);
  EXPECT_EQ(layout.completions(63, 194).tlps, 2u);
}

TEST(TlpLayout, CompletionIsNeverLargerThanMps) {
  Parameters p;
  p.mps_bytes = 128;
  p.completion_bytes = 512;
  EXPECT_EQ(TlpLayout(p).completions(0, 512).tlps, 4u);
}

TEST(TlpLayout, AgreesWithCuttingOneByOne) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Parameters p;
    p.mps_bytes = 128u << random() % 6;
    p.mrrs_bytes = 128u << random() % 6;
    const TlpLayout layout(p);
    const std::uint64_t address = (std::uint64_t{1} << 32) + random() % 10'000;
    const auto bytes = static_cast<std::uint32_t>(random() % 8192 + 1);
    std::uint32_t tlps = 0;
    std::uint32_t credits = 0;
    for (std::uint32_t done = 0; done < bytes; ++tlps) {
      const std::uint32_t piece = layout.first_write(address + done, bytes - done);
      ASSERT_LE(piece, p.mps_bytes);
      ASSERT_EQ((address + done) / 4096, (address + done + piece - 1) / 4096);
      credits += (piece + 15) / 16;
      done += piece;
    }
    ASSERT_EQ(layout.write(address, bytes).tlps, tlps);
    ASSERT_EQ(layout.data_credits(address, bytes), credits);
    std::uint32_t requests = 0;
    for (std::uint32_t done = 0; done < bytes; ++requests) {
      done += layout.first_read(address + done, bytes - done);
    }
    ASSERT_EQ(layout.read_requests(address, bytes).tlps, requests);
  }
}

}  // namespace
}  // namespace hcasim::pcie
