// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Regions of the memory that messages of a capture name.
#include "sim/import/replay_regions.hpp"

#include "made_analysis.hpp"

namespace hcasim::sim {
namespace {

TEST(Regions, RdmaKeepsTheLayoutOfItsRegion) {
  Capture capture;
  const auto rdma = [&](hw::WrOpcode opcode, std::uint64_t address, std::uint32_t rkey) {
    CapturedMessage& record = capture.add(opcode, 64);
    record.remote_addr = address;
    record.rkey = rkey;
  };
  rdma(hw::WrOpcode::kRdmaWrite, 0x7f0000001010, 1);
  rdma(hw::WrOpcode::kRdmaRead, 0x7f0000003ff0, 1);
  rdma(hw::WrOpcode::kRdmaWrite, 0x100, 2);
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("reg_mr"), (Lines{"host2 reg_mr r1 length=16384 access=all",
                                          "host2 reg_mr r2 length=4096 access=all"}));
  EXPECT_EQ(trace.lines("post_send"),
            (Lines{"host1 post_send qp1 RDMA_WRITE length=64 remote=r1:16 at=100000ns",
                   "host1 post_send qp1 RDMA_READ length=64 remote=r1:12272 at=101000ns",
                   "host1 post_send qp1 RDMA_WRITE length=64 remote=r2:256 at=102000ns"}));
}

TEST(Regions, RegionOfWildAddressesIsFolded) {
  Capture capture;
  for (const std::uint64_t address : {std::uint64_t{0x1008}, ~std::uint64_t{0xff}}) {
    CapturedMessage& record = capture.add(hw::WrOpcode::kRdmaWrite, 4000);
    record.remote_addr = address;
  }
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("reg_mr"), (Lines{"host2 reg_mr r1 length=8192 access=all"}));
  EXPECT_NE(trace.lines("post_send")[0].find("remote=r1:8 "), std::string::npos);
  EXPECT_NE(trace.lines("post_send")[1].find("remote=r1:3840 "), std::string::npos);
}

TEST(Regions, InvalidatedKeyThatIsUsedAgainIsAnotherRegion) {
  Capture capture;
  for (int i = 0; i < 2; ++i) {
    capture.add(hw::WrOpcode::kRdmaWrite, 8).rkey = 7;
    capture.add(hw::WrOpcode::kSendWithInv, 8).invalidate_rkey = 7;
  }
  const auto trace = convert(capture);
  const Lines sends = trace.lines("post_send");
  EXPECT_EQ(trace.lines("alloc_mr"),
            (Lines{"host2 alloc_mr r1 length=4096", "host2 alloc_mr r2 length=4096"}));
  EXPECT_TRUE(trace.lines("reg_mr").empty());
  EXPECT_EQ(sends[0], "host2 post_send qp1 REG_MR access=all mr=r1");
  EXPECT_EQ(sends[1], "host2 post_send qp1 REG_MR access=all mr=r2");
  EXPECT_NE(sends[2].find("remote=r1:"), std::string::npos);
  EXPECT_NE(sends[3].find("invalidate=r1 "), std::string::npos);
  EXPECT_NE(sends[4].find("remote=r2:"), std::string::npos);
  EXPECT_NE(sends[5].find("invalidate=r2 "), std::string::npos);
  EXPECT_EQ(trace.result.sends, 4U);
}

// With more of them than regions, one is registered again once its invalidation was received.
TEST(Regions, InvalidatedRegionIsRegisteredAgain) {
  Capture capture;
  for (std::size_t i = 0; i <= RegionMap::kAhead; ++i) {
    capture.add(hw::WrOpcode::kSendWithInv, 8 * i).invalidate_rkey = 7;
  }
  CapturedMessage& last = capture.add(hw::WrOpcode::kRdmaWrite, 5000);
  last.rkey = 7;
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("alloc_mr").size(), RegionMap::kAhead);
  EXPECT_EQ(trace.lines("alloc_mr")[1], "host2 alloc_mr r2 length=8192");
  const Lines sends = trace.lines("post_send");
  const std::size_t first = RegionMap::kAhead;  // behind the first registrations
  EXPECT_NE(sends[first].find("invalidate=r1 "), std::string::npos);
  EXPECT_EQ(sends[first + 1], "host2 post_send qp1 REG_MR access=all mr=r1 after=l1");
  EXPECT_NE(sends[first + 2].find("invalidate=r2 "), std::string::npos);
  EXPECT_EQ(sends[first + 3], "host2 post_send qp1 REG_MR access=all mr=r2 after=l2");
  EXPECT_NE(sends[sends.size() - 2].find("invalidate=r1 "), std::string::npos);
  EXPECT_NE(sends.back().find("remote=r2:"), std::string::npos);
  EXPECT_NE(trace.lines("post_recv")[0].find(" label=l1"), std::string::npos);
}

TEST(Regions, AtomicsCarryTheirOperands) {
  Capture capture;
  CapturedMessage& swap = capture.add(hw::WrOpcode::kAtomicCmpAndSwp, 8);
  swap.compare = 1;
  swap.swap_add = 2;
  capture.add(hw::WrOpcode::kAtomicFetchAndAdd, 8).swap_add = 3;
  const Lines sends = convert(capture).lines("post_send");
  EXPECT_EQ(sends[0],
            "host1 post_send qp1 ATOMIC_CMP_AND_SWP length=8 remote=r1:0 compare=1 "
            "swap=2 at=100000ns");
  EXPECT_EQ(sends[1],
            "host1 post_send qp1 ATOMIC_FETCH_AND_ADD length=8 remote=r1:0 add=3 at=101000ns");
}

}  // namespace
}  // namespace hcasim::sim
