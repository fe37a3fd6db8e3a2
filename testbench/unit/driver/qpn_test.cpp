// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// init_qpn_table, free_qpn_table, alloc_qpn, rvt_free_qpn.
#include <algorithm>
#include <cerrno>

#include "unit/driver/failing_new.hpp"
#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using testing_support::FailingNew;

class QpnTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kFirstReserved = 0x80'0000;

  int init() { return init_qpn_table(&rdi, &table); }
  int next(std::uint8_t prefix = 0) { return alloc_qpn(&rdi, &table, IB_QPT_RC, 1, prefix); }
  int special(ib_qp_type type, std::uint8_t port) { return alloc_qpn(&rdi, &table, type, port, 0); }
  std::size_t pages() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(table.map, [](const auto& page) { return page != nullptr; }));
  }

  rvt_dev_info rdi;
  rvt_qpn_table table;
};
using InitQpnTable = QpnTest;
using FreeQpnTable = QpnTest;
using AllocQpn = QpnTest;
using RvtFreeQpn = QpnTest;

TEST_F(InitQpnTable, RefusesARangeThatEndsBeforeItBegins) {
  rdi.dparms.qpn_res_start = 10;
  rdi.dparms.qpn_res_end = 9;
  EXPECT_EQ(init(), -EINVAL);
  EXPECT_EQ(pages(), 0u);
  rdi.dparms.qpn_res_end = 10;  // one number
  EXPECT_EQ(init(), 0);
  EXPECT_EQ(pages(), 1u);
}

TEST_F(InitQpnTable, RefusesARangeBeyond24Bits) {
  rdi.dparms.qpn_res_start = rdi.dparms.qpn_res_end = RVT_QPN_MAX;
  EXPECT_EQ(init(), -EINVAL);
  rdi.dparms.qpn_res_start = rdi.dparms.qpn_res_end = RVT_QPN_MAX - 1;
  EXPECT_EQ(init(), 0);
}

TEST_F(InitQpnTable, RangeIsCheckedBeforeMemory) {
  rdi.dparms.qpn_res_end = 0;
  const FailingNew none(0);
  EXPECT_EQ(init(), -EINVAL);
}

TEST_F(InitQpnTable, NoMemoryLeavesWhatWasMarked) {
  const FailingNew two_pages(2);
  EXPECT_EQ(init(), -ENOMEM);
  EXPECT_EQ(pages(), 2u);
  EXPECT_EQ(table.nmaps, kFirstReserved / RVT_BITS_PER_PAGE + 2);
}

TEST_F(InitQpnTable, StartStepAndPages) {
  rdi.dparms.qpn_start = 7;
  rdi.dparms.qpn_inc = 3;
  rdi.dparms.qos_shift = 2;
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(table.last, 7u);
  EXPECT_EQ(table.incr, 12);
  // Pages below the reserved range are counted though none exists yet.
  EXPECT_EQ(table.nmaps, kFirstReserved / RVT_BITS_PER_PAGE + 4);
  EXPECT_EQ(pages(), 4u);
}

TEST_F(InitQpnTable, MarksTheRangeBothEndsIncluded) {
  rdi.dparms.qpn_res_start = 6;
  rdi.dparms.qpn_res_end = 10;
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), 4);
  EXPECT_EQ(next(), 12);
}

TEST_F(FreeQpnTable, FreesEveryPage) {
  free_qpn_table(&table);  // none
  ASSERT_EQ(init(), 0);
  ASSERT_EQ(next(), 2);
  EXPECT_EQ(pages(), 5u);
  free_qpn_table(&table);
  EXPECT_EQ(pages(), 0u);
}

TEST_F(AllocQpn, StepsFollowTheClassesOfService) {
  for (const auto& [shift, expected] : {std::pair{1u, std::array{2, 4, 6}},
                                        {2u, std::array{4, 8, 12}},
                                        {3u, std::array{8, 16, 24}}}) {
    free_qpn_table(&table);
    rdi.dparms.qos_shift = shift;
    ASSERT_EQ(init(), 0);
    EXPECT_EQ((std::array{next(), next(), next()}), expected);
  }
}

TEST_F(AllocQpn, SecondPassInvertsBitZero) {
  ASSERT_EQ(init(), 0);
  table.last = RVT_QPN_MAX - 2;
  EXPECT_EQ(next(), 3);
  EXPECT_EQ(next(), 5);
  table.last = RVT_QPN_MAX - 1;
  EXPECT_EQ(next(), 2);
}

TEST_F(AllocQpn, ReservedNumbersAreSkipped) {
  ASSERT_EQ(init(), 0);
  table.last = kFirstReserved - 4;
  EXPECT_EQ(next(), kFirstReserved - 2);
  EXPECT_EQ(next(), 3);  // nothing lies beyond, so the second pass begins
}

TEST_F(AllocQpn, PrefixBoundsTheNumberTo16Bits) {
  ASSERT_EQ(init(), 0);
  table.last = RVT_AIP_QPN_MAX - 4;
  EXPECT_EQ(next(RVT_AIP_QP_PREFIX), RVT_AIP_QPN_MAX - 2);
  EXPECT_EQ(next(RVT_AIP_QP_PREFIX), 3);
  table.last = RVT_AIP_QPN_MAX - 2;
  EXPECT_EQ(next(), RVT_AIP_QPN_MAX);  // no bound without the prefix
}

TEST_F(AllocQpn, SpecialNumbersOncePerPortAndKind) {
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(special(IB_QPT_SMI, 1), 0);
  EXPECT_EQ(special(IB_QPT_GSI, 1), 1);
  EXPECT_EQ(special(IB_QPT_GSI, 2), 1);
  EXPECT_EQ(special(IB_QPT_GSI, 2), -EINVAL);
  EXPECT_EQ(special(IB_QPT_SMI, 1), -EINVAL);
  EXPECT_EQ(table.last, 0u);
  rvt_free_special_qpn(&table, 1, 2);
  EXPECT_EQ(special(IB_QPT_GSI, 2), 1);
  EXPECT_EQ(special(IB_QPT_GSI, 1), -EINVAL);
}

TEST_F(AllocQpn, NoNumberLeftIsNoMemory) {
  rdi.dparms.qos_shift = 7;  // steps of 128 make the exhaustion quick
  ASSERT_EQ(init(), 0);
  int given = 0;
  int qpn = 0;
  std::uint32_t last = 0;
  while ((qpn = next()) >= 0) {
    ASSERT_GT(qpn, 1);
    last = static_cast<std::uint32_t>(qpn);
    ++given;
  }
  EXPECT_EQ(qpn, -ENOMEM);
  EXPECT_EQ(table.last, last);
  EXPECT_EQ(table.nmaps, RVT_QPNMAP_ENTRIES);
  EXPECT_GT(given, 200'000);
  rvt_free_qpn(&table, 128);
  EXPECT_EQ(next(), 128);
}

TEST_F(AllocQpn, NoMemoryForAPageChangesNothing) {
  ASSERT_EQ(init(), 0);
  {
    const FailingNew none(0);
    EXPECT_EQ(next(), -ENOMEM);
  }
  EXPECT_EQ(table.last, 0u);
  EXPECT_EQ(next(), 2);
}

TEST_F(AllocQpn, AnswerOfTheDriverAboveGoesForAllTypes) {
  ASSERT_EQ(init(), 0);
  rdi.driver_f.alloc_qpn = [](rvt_dev_info*, rvt_qpn_table*, ib_qp_type type, std::uint32_t port) {
    return type == IB_QPT_GSI ? -EBUSY : static_cast<int>(1000 + port);
  };
  EXPECT_EQ(next(), 1001);
  EXPECT_EQ(next(), 1001);
  EXPECT_EQ(special(IB_QPT_SMI, 3), 1003);
  EXPECT_EQ(special(IB_QPT_GSI, 1), -EBUSY);
  EXPECT_EQ(table.last, 0u);
}

TEST_F(RvtFreeQpn, NumberComesBackOnlyAfterTheWrap) {
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(next(), 2);
  rvt_free_qpn(&table, 2);
  EXPECT_EQ(table.last, 2u);
  EXPECT_EQ(next(), 4);
  table.last = RVT_QPN_MAX - 1;  // an odd number: the next pass is even
  EXPECT_EQ(next(), 2);
}

TEST_F(RvtFreeQpn, UnknownPageIsIgnored) {
  ASSERT_EQ(init(), 0);
  const std::size_t before = pages();
  rvt_free_qpn(&table, 0x10'0000);
  EXPECT_EQ(pages(), before);
  EXPECT_EQ(next(), 2);
}

TEST_F(RvtFreeQpn, PrefixIsStrippedBeforeTheBitIsFreed) {
  ASSERT_EQ(init(), 0);
  table.last = 1;
  ASSERT_EQ(next(RVT_AIP_QP_PREFIX), 3);
  rvt_free_qpn(&table, std::uint32_t{RVT_AIP_QP_PREFIX} << 16 | 3);
  table.last = 1;
  EXPECT_EQ(next(), 3);
}

TEST_F(RvtFreeQpn, SpecialNumbersStayTaken) {
  ASSERT_EQ(init(), 0);
  ASSERT_EQ(special(IB_QPT_SMI, 1), 0);
  rvt_free_qpn(&table, 0);
  EXPECT_EQ(special(IB_QPT_SMI, 1), -EINVAL);
}

}  // namespace
}  // namespace hcasim::rvt
