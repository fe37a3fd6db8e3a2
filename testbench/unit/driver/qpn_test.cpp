// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Queue pair numbers: allocation, exhaustion, reuse, and the tables that find queue pairs by them.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class QpnTable : public testing::Test {
 protected:
  int next(std::uint8_t prefix = 0) { return alloc_qpn(&rdi, &table, IB_QPT_RC, 1, prefix); }
  rvt_dev_info rdi;
  rvt_qpn_table table;
};

TEST_F(QpnTable, InitRefusesARangeThatEndsBeforeItBegins) {
  rdi.dparms.qpn_res_start = 10;
  rdi.dparms.qpn_res_end = 9;
  EXPECT_EQ(init_qpn_table(&rdi, &table), -EINVAL);
  rdi.dparms.qpn_res_end = 10;
  EXPECT_EQ(init_qpn_table(&rdi, &table), 0);
}

TEST_F(QpnTable, InitCountsPagesBelowAndInTheReservedRange) {
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  EXPECT_EQ(table.nmaps, 0x80'0000u / RVT_BITS_PER_PAGE + 4);
  EXPECT_EQ(table.incr, 2);
  EXPECT_EQ(table.last, 0u);
}

TEST_F(QpnTable, ReservedNumbersAreSkipped) {
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  table.last = 0x80'0000 - 2;
  EXPECT_EQ(next(), 3);  // nothing lies beyond, so the second pass begins
  table.last = 0x80'0000 - 4;
  EXPECT_EQ(next(), 0x80'0000 - 2);
}

TEST_F(QpnTable, FreedNumberComesBackOnlyAfterTheWrap) {
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  EXPECT_EQ(next(), 2);
  rvt_free_qpn(&table, 2);
  EXPECT_EQ(next(), 4);
  table.last = RVT_QPN_MAX - 1;  // an odd number: the next pass is even
  EXPECT_EQ(next(), 2);
}

TEST_F(QpnTable, FreeOfAnUnknownPageIsIgnored) {
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  rvt_free_qpn(&table, 0x10'0000);
  EXPECT_EQ(next(), 2);
}

TEST_F(QpnTable, PrefixIsStrippedBeforeTheBitIsFreed) {
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  table.last = 0xfffe;
  const int qpn = next(RVT_AIP_QP_PREFIX);
  EXPECT_EQ(qpn, 3);
  rvt_free_qpn(&table, 0x81'0000u | 3);
  table.last = 1;
  EXPECT_EQ(next(), 3);
}

TEST_F(QpnTable, SpecialNumbersOncePerPortAndKind) {
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  EXPECT_EQ(alloc_qpn(&rdi, &table, IB_QPT_SMI, 1, 0), 0);
  EXPECT_EQ(alloc_qpn(&rdi, &table, IB_QPT_GSI, 1, 0), 1);
  EXPECT_EQ(alloc_qpn(&rdi, &table, IB_QPT_GSI, 2, 0), 1);
  EXPECT_EQ(alloc_qpn(&rdi, &table, IB_QPT_GSI, 2, 0), -EINVAL);
  rvt_free_special_qpn(&table, 1, 2);
  EXPECT_EQ(alloc_qpn(&rdi, &table, IB_QPT_GSI, 2, 0), 1);
}

TEST_F(QpnTable, NoNumberLeftIsNoMemory) {
  rdi.dparms.qos_shift = 7;  // steps of 128 make the exhaustion quick
  ASSERT_EQ(init_qpn_table(&rdi, &table), 0);
  int given = 0;
  int qpn = 0;
  while ((qpn = next()) >= 0) {
    ASSERT_GT(qpn, 1);
    ++given;
  }
  EXPECT_EQ(qpn, -ENOMEM);
  EXPECT_GT(given, 200'000);
  rvt_free_qpn(&table, 128);
  EXPECT_EQ(next(), 128);
}

TEST(Bucket, IsTheHashOfTheTracepoints) {
  rvt_dev_info rdi;
  ASSERT_EQ(rvt_driver_qp_init(&rdi), 0);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 2), 195u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 3), 37u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 4), 135u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 6), 74u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 8), 14u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 10), 209u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 12), 149u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 14), 88u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 16), 28u);
}

TEST(DriverQpInit, RefusesAnEmptyTableAndABadRange) {
  rvt_dev_info rdi;
  rdi.dparms.qp_table_size = 0;
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -EINVAL);
  rdi.dparms.qp_table_size = 256;
  rdi.dparms.qpn_res_end = 0;
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -ENOMEM);
}

class QpTableTest : public DriverTest {};

TEST_F(QpTableTest, PacketsFindAQueuePairFromInitUntilReset) {
  ib_qp* qp = make_qp();
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qp->qp_num), nullptr);
  EXPECT_EQ(rvt_find_qp(device.get(), qp->qp_num), rvt(qp));
  ASSERT_EQ(to_state(qp, IB_QPS_INIT), 0);
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qp->qp_num), rvt(qp));
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qp->qp_num), rvt(qp));
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qp->qp_num), nullptr);
}

TEST_F(QpTableTest, WalkGoesBucketByBucketNewestFirst) {
  device->qp_dev.qp_table_bits = 0;  // all in one chain
  std::vector<rvt_qp*> expected;
  for (int i = 0; i < 4; ++i) expected.insert(expected.begin(), rvt(make_qp_in(IB_QPS_INIT)));
  make_qp();  // in RESET, so not visited
  const auto iter = rvt_qp_iter_init(device.get(), 0, nullptr);
  EXPECT_EQ(iter->specials, 2u);
  std::vector<rvt_qp*> visited;
  while (rvt_qp_iter_next(iter.get()) == 0) visited.push_back(iter->qp);
  EXPECT_EQ(visited, expected);
}

TEST_F(QpTableTest, RemoveFromTheMiddleKeepsTheChain) {
  device->qp_dev.qp_table_bits = 0;
  ib_qp* first = make_qp_in(IB_QPS_INIT);
  ib_qp* second = make_qp_in(IB_QPS_INIT);
  ib_qp* third = make_qp_in(IB_QPS_INIT);
  rvt_remove_qp(device.get(), rvt(second));
  rvt_remove_qp(device.get(), rvt(second));  // no effect
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, first->qp_num), rvt(first));
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, second->qp_num), nullptr);
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, third->qp_num), rvt(third));
}

TEST_F(QpTableTest, FreeAllResetsWhatIsLeft) {
  ib_qp* running = make_qp_in(IB_QPS_RTS);
  make_qp();
  EXPECT_EQ(rvt_free_all_qps(device.get()), 1u);
  EXPECT_EQ(rvt(running)->state, IB_QPS_RESET);
  EXPECT_EQ(rvt_free_all_qps(device.get()), 0u);
}

}  // namespace
}  // namespace hcasim::rvt
