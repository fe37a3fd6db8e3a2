// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_copy_sge and its helpers; rvt_rkey_ok, which makes what they copy to.
#include <array>
#include <numeric>

#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

class CopySgeTest : public LoopbackTest {
 protected:
  void SetUp() override {
    LoopbackTest::SetUp();
    connect();
    std::iota(data.begin(), data.end(), std::uint8_t{1});
  }
  /// Two elements: 10 bytes at 0, 20 at 100.
  rvt_sge_state two() {
    const rvt_mregion* region = &to_imr(mr)->mr;
    rvt_sge_state ss;
    ss.sge = {region, buffer, 10, mr->lkey};
    second = {region, buffer + 100, 20, mr->lkey};
    ss.sg_list = &second;
    ss.num_sge = 2;
    ss.total_len = 30;
    return ss;
  }
  std::vector<std::uint8_t> part(std::uint32_t from, std::uint32_t count) {
    return {data.begin() + from, data.begin() + from + count};
  }

  std::array<std::uint8_t, 30> data{};
  rvt_sge second;
};

using RvtCopySge = CopySgeTest;

TEST_F(RvtCopySge, FillsElementAfterElement) {
  rvt_sge_state ss = two();
  rvt_copy_sge(rvt(b), &ss, data.data(), 7, true, false);
  EXPECT_EQ(bytes_at(0, 7), part(0, 7));
  EXPECT_EQ(ss.sge.length, 3u);
  EXPECT_EQ(ss.num_sge, 2u);
  rvt_copy_sge(rvt(b), &ss, data.data() + 7, 13, true, false);
  EXPECT_EQ(bytes_at(7, 3), part(7, 3));
  EXPECT_EQ(bytes_at(100, 10), part(10, 10));
  EXPECT_EQ(ss.num_sge, 1u);
  rvt_copy_sge(rvt(b), &ss, data.data() + 20, 10, true, false);
  EXPECT_EQ(bytes_at(110, 10), part(20, 10));
  EXPECT_EQ(ss.num_sge, 0u);
  EXPECT_EQ(ss.sge.mr, nullptr);
}

TEST_F(RvtCopySge, WithoutReleaseTheLastElementIsKept) {
  rvt_sge_state ss = two();
  rvt_copy_sge(rvt(b), &ss, data.data(), 30, false, false);
  EXPECT_EQ(ss.sge.mr, &to_imr(mr)->mr);
}

TEST_F(RvtCopySge, NothingIsNothing) {
  rvt_sge_state ss = two();
  rvt_copy_sge(rvt(b), &ss, data.data(), 0, true, true);
  EXPECT_EQ(ss.sge.length, 10u);
  EXPECT_EQ(ss.num_sge, 2u);
}

TEST_F(RvtCopySge, LastEightBytesComeOneByOneAfterAllOthers) {
  for (const std::uint32_t length : {5u, 8u, 9u, 30u}) {
    rvt_sge_state ss = two();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> writes;
    host.on_write = [&](std::uint64_t address, std::uint64_t bytes) {
      writes.emplace_back(address - buffer, bytes);
    };
    rvt_copy_sge(rvt(b), &ss, data.data(), length, true, true);
    host.on_write = nullptr;
    const std::uint32_t last = std::min(length, 8u);
    ASSERT_GE(writes.size(), last);
    const std::uint32_t first = length - last;
    for (std::uint32_t i = 0; i < last; ++i) {
      const std::uint64_t at = first + i < 10 ? first + i : 90 + first + i;
      EXPECT_EQ(writes[writes.size() - last + i], std::pair(at, std::uint64_t{1})) << length;
    }
  }
}

TEST_F(RvtCopySge, ChargesItsTimeUnlessItWasPaidFor) {
  device->dparms.copy_gb_per_s = 2;  // 500 ps a byte
  rvt_sge_state ss = two();
  rvt_copy_sge(rvt(b), &ss, data.data(), 10, true, false);
  EXPECT_EQ(host.charged, 5000);
  device->copy_paid = true;
  rvt_copy_sge(rvt(b), &ss, data.data(), 10, true, false);
  EXPECT_EQ(host.charged, 5000);
  device->copy_paid = false;
}

TEST_F(RvtCopySge, UsersSeeTheLastBytesOfAWriteLast) {
  ibpd_to_rvtpd(pd)->user = true;
  std::uint64_t smallest = UINT64_MAX;
  host.on_write = [&](std::uint64_t address, std::uint64_t bytes) {
    if (address >= buffer + 4096 && address < buffer + 4160) smallest = std::min(smallest, bytes);
  };
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(smallest, 1u);
  smallest = UINT64_MAX;
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE_WITH_IMM), 0);
  EXPECT_EQ(smallest, 64u);
  ibpd_to_rvtpd(pd)->user = false;
  host.on_write = nullptr;
}

using RvtGetSgeLength = CopySgeTest;

TEST_F(RvtGetSgeLength, IsLeastOfRequestElementAndPage) {
  rvt_sge_state ss = two();
  EXPECT_EQ(rvt_get_sge_length(&ss.sge, 7), 7u);
  EXPECT_EQ(rvt_get_sge_length(&ss.sge, 11), 10u);
  rvt_mregion paged;
  paged.fast_register = true;
  paged.page_shift = 12;
  paged.iova = paged.user_base = 0x1'0100;
  const rvt_sge within{&paged, 0x1'0200, 8192, 0};
  EXPECT_EQ(rvt_get_sge_length(&within, 8192), 4096u - 0x200);
  const rvt_sge next{&paged, 0x1'1000, 8192, 0};
  EXPECT_EQ(rvt_get_sge_length(&next, 8192), 4096u);
}

using RvtSkipSge = CopySgeTest;

TEST_F(RvtSkipSge, MovesOnWithoutCopying) {
  fill(0, 0, 200);
  const auto before = bytes_at(0, 200);
  rvt_sge_state ss = two();
  rvt_skip_sge(&ss, 14, true);
  EXPECT_EQ(ss.num_sge, 1u);
  EXPECT_EQ(ss.sge.addr, buffer + 104);
  EXPECT_EQ(ss.sge.length, 16u);
  EXPECT_EQ(bytes_at(0, 200), before);
}

using RvtUpdateSge = CopySgeTest;

TEST_F(RvtUpdateSge, GoesToTheNextElementWhenOneIsDone) {
  rvt_sge_state ss = two();
  rvt_update_sge(&ss, 9, true);
  EXPECT_EQ(ss.sge.length, 1u);
  rvt_update_sge(&ss, 1, true);
  EXPECT_EQ(ss.sge.addr, buffer + 100);
  EXPECT_EQ(ss.num_sge, 1u);
}

class RvtRkeyOk : public LoopbackTest {
 protected:
  void SetUp() override {
    LoopbackTest::SetUp();
    connect();
  }
  int ok(std::uint64_t offset, std::uint32_t length, std::uint32_t key,
         std::uint32_t right = IB_ACCESS_REMOTE_WRITE) {
    return rvt_rkey_ok(rvt(b), &found, length, buffer + offset, key, right);
  }
  rvt_sge found;
};

TEST_F(RvtRkeyOk, TellsWhereItLeads) {
  EXPECT_EQ(ok(100, 50, mr->rkey), 1);
  EXPECT_EQ(found.mr, &to_imr(mr)->mr);
  EXPECT_EQ(found.addr, buffer + 100);
  EXPECT_EQ(found.length, 50u);
}

TEST_F(RvtRkeyOk, EachReasonToRefuse) {
  EXPECT_EQ(ok(0, 1, 0), 0);
  EXPECT_EQ(ok(0, 1, mr->rkey + 1), 0);
  EXPECT_EQ(ok(0, 1, 0xdead'0000), 0);
  EXPECT_EQ(ok(~std::uint64_t{0}, 1, mr->rkey), 0);  // one byte before
  EXPECT_EQ(ok(kBufferBytes - 1, 1, mr->rkey), 1);
  EXPECT_EQ(ok(kBufferBytes - 1, 2, mr->rkey), 0);
  to_imr(mr)->mr.access_flags = IB_ACCESS_REMOTE_READ;
  EXPECT_EQ(ok(0, 1, mr->rkey), 0);
  EXPECT_EQ(ok(0, 1, mr->rkey, IB_ACCESS_REMOTE_READ), 1);
  to_imr(mr)->mr.access_flags = kAllRights;
  to_imr(mr)->mr.lkey_invalid = true;
  EXPECT_EQ(ok(0, 1, mr->rkey), 0);
  to_imr(mr)->mr.lkey_invalid = false;
  ib_pd* other = ib_alloc_pd(ibdev);
  to_imr(mr)->mr.pd = other;
  EXPECT_EQ(ok(0, 1, mr->rkey), 0);
  to_imr(mr)->mr.pd = pd;
  EXPECT_EQ(ib_dealloc_pd(other), 0);
}

}  // namespace
}  // namespace hcasim::rvt
