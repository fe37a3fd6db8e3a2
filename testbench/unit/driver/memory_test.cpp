// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Protection domains, keys, registration and deregistration.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class Memory : public DriverTest {
 protected:
  Memory() { params.lkey_table_size = 4; }

  int check(std::uint64_t addr, std::uint32_t length, std::uint32_t lkey, std::uint32_t acc = 0) {
    const ib_sge sge{addr, length, lkey};
    rvt_sge taken;
    return rvt_lkey_ok(&device->lkey_table, ibpd_to_rvtpd(pd), &taken, nullptr, &sge, acc);
  }
};

TEST_F(Memory, RegisterTellsTheAdapter) {
  const std::uint64_t start = buffer + 100;
  ib_mr* made = ib_reg_user_mr(pd, start, 10'000, 0x5000'0000, IB_ACCESS_REMOTE_READ);
  ASSERT_FALSE(IS_ERR(made));
  EXPECT_EQ(made->lkey, made->rkey);
  const hw::MptEntry& entry = host.mrs.at(made->lkey);
  EXPECT_EQ(entry.key, made->lkey);
  EXPECT_EQ(entry.pd, ibpd_to_rvtpd(pd)->number);
  EXPECT_EQ(entry.access, unsigned{IB_ACCESS_REMOTE_READ});
  EXPECT_EQ(entry.iova, 0x5000'0000u);
  EXPECT_EQ(entry.length, 10'000u);
  EXPECT_EQ(entry.first_offset, 100u);
  EXPECT_EQ(entry.page_shift, 12);
  EXPECT_EQ(entry.mtt_entries, 3u);
  EXPECT_EQ(entry.valid, 1);
  EXPECT_EQ(entry.invalidatable, 0);
  for (std::uint64_t page = 0; page < 3; ++page) {
    hw::MttEntry mtt;
    host.read(entry.mtt + page * sizeof mtt, &mtt, sizeof mtt);
    EXPECT_EQ(mtt.address, buffer + page * 4096);
  }
  EXPECT_EQ(ib_dereg_mr(made), 0);
}

TEST_F(Memory, LongTranslationsAreWrittenWhole) {
  const std::uint64_t bytes = 150 * 4096;
  const std::uint64_t start = host.allocate(bytes, 4096);
  ib_mr* made = ib_reg_user_mr(pd, start, bytes, start, 0);
  ASSERT_FALSE(IS_ERR(made));
  const hw::MptEntry& entry = host.mrs.at(made->lkey);
  ASSERT_EQ(entry.mtt_entries, 150u);
  hw::MttEntry last;
  host.read(entry.mtt + 149 * sizeof last, &last, sizeof last);
  EXPECT_EQ(last.address, start + 149 * 4096);
  EXPECT_EQ(ib_dereg_mr(made), 0);
}

TEST_F(Memory, ErrorsOfRegistration) {
  const std::size_t blocks = host.blocks_allocated();
  const auto error_of = [&](std::uint64_t start, std::uint64_t length, std::uint32_t access) {
    return PTR_ERR(ib_reg_user_mr(pd, start, length, start, access));
  };
  EXPECT_EQ(error_of(buffer, 0, 0), -EINVAL);
  EXPECT_EQ(error_of(~0ull - 10, 100, 0), -EINVAL);
  EXPECT_EQ(error_of(buffer, 100, IB_ACCESS_REMOTE_WRITE), -EINVAL);
  EXPECT_EQ(error_of(buffer, 100, IB_ACCESS_REMOTE_ATOMIC), -EINVAL);
  EXPECT_EQ(error_of(buffer, 100, IB_ACCESS_ON_DEMAND), -EINVAL);
  host.allocations_until_failure = 0;
  EXPECT_EQ(error_of(buffer, 100, 0), -ENOMEM);
  host.allocations_until_failure = -1;
  host.commands_until_failure = 0;
  EXPECT_EQ(error_of(buffer, 100, 0), -EINVAL);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_mrs_allocated, 1);
  EXPECT_EQ(pd->usecnt, 1);
}

TEST_F(Memory, OptionalRightsAreIgnored) {
  ib_mr* made = ib_reg_user_mr(pd, buffer, 100, buffer, IB_ACCESS_RELAXED_ORDERING);
  ASSERT_FALSE(IS_ERR(made));
  EXPECT_EQ(host.mrs.at(made->lkey).access, 0u);
  EXPECT_EQ(ib_dereg_mr(made), 0);
}

TEST_F(Memory, KeysHaveIndexGenerationAndALowByteOfZero) {
  const std::uint32_t first = mr->lkey;
  EXPECT_EQ(first & 0xff, 0u);
  EXPECT_EQ(first >> 28, 0u);
  EXPECT_EQ(first >> 8 & 0xfffff, 1u);
  ib_mr* second = ib_reg_user_mr(pd, buffer, 100, buffer, 0);
  EXPECT_EQ(second->lkey, 1u << 28 | 2u << 8);
  EXPECT_EQ(ib_dereg_mr(second), 0);
}

TEST_F(Memory, TableFullThenAFreedIndexGetsANewKey) {
  std::vector<ib_mr*> made;
  for (int i = 0; i < 15; ++i) made.push_back(ib_reg_user_mr(pd, buffer, 100, buffer, 0));
  EXPECT_EQ(PTR_ERR(ib_reg_user_mr(pd, buffer, 100, buffer, 0)), -ENOMEM);
  const std::uint32_t old_key = made[3]->lkey;
  ASSERT_EQ(ib_dereg_mr(made[3]), 0);
  made[3] = ib_reg_user_mr(pd, buffer, 100, buffer, 0);
  ASSERT_FALSE(IS_ERR(made[3]));
  EXPECT_EQ(made[3]->lkey >> 28, old_key >> 28);
  EXPECT_NE(made[3]->lkey, old_key);
  for (ib_mr* each : made) EXPECT_EQ(ib_dereg_mr(each), 0);
}

TEST(LkeyTable, KeyZeroIsNeverGiven) {
  rvt_dev_info rdi;
  rdi.dparms.lkey_table_size = 23;  // one bit of generation
  ASSERT_EQ(rvt_driver_mr_init(&rdi), 0);
  rvt_mregion first;
  rdi.lkey_table.gen = 1;  // the next generation is 0 in one bit
  ASSERT_EQ(rvt_alloc_lkey(&rdi.lkey_table, &first), 0);
  EXPECT_EQ(first.lkey, 0x100u);
  for (const std::uint32_t bits : {0u, 24u}) {
    rdi.dparms.lkey_table_size = bits;
    EXPECT_EQ(rvt_driver_mr_init(&rdi), -EINVAL);
  }
}

TEST_F(Memory, LkeyOkChecksKeyDomainBoundsAndRights) {
  EXPECT_EQ(check(buffer, 100, mr->lkey), 1);
  EXPECT_EQ(check(buffer, 100, 0), -EINVAL);
  EXPECT_EQ(check(buffer, 100, mr->lkey + 1), -EINVAL);
  EXPECT_EQ(check(buffer, 100, 0xf000'0000), -EINVAL);
  EXPECT_EQ(check(buffer - 1, 100, mr->lkey), -EINVAL);
  EXPECT_EQ(check(buffer, kBufferBytes, mr->lkey), 1);
  EXPECT_EQ(check(buffer + 1, kBufferBytes, mr->lkey), -EINVAL);
  EXPECT_EQ(check(buffer + kBufferBytes, 1, mr->lkey), -EINVAL);
  EXPECT_EQ(check(~0ull - 10, 100, mr->lkey), -EINVAL);
  EXPECT_EQ(check(buffer, 100, mr->lkey, IB_ACCESS_LOCAL_WRITE), 1);
  ib_mr* read_only = ib_reg_user_mr(pd, buffer, 100, buffer, 0);
  EXPECT_EQ(check(buffer, 100, read_only->lkey, IB_ACCESS_LOCAL_WRITE), -EINVAL);
  to_imr(read_only)->mr.lkey_invalid = true;
  EXPECT_EQ(check(buffer, 100, read_only->lkey), -EINVAL);
  EXPECT_EQ(ib_dereg_mr(read_only), 0);
  ib_pd* other = ib_alloc_pd(ibdev);
  ib_mr* foreign = ib_reg_user_mr(other, buffer, 100, buffer, 0);
  EXPECT_EQ(check(buffer, 100, foreign->lkey), -EINVAL);
  EXPECT_EQ(ib_dereg_mr(foreign), 0);
  EXPECT_EQ(ib_dealloc_pd(other), 0);
}

TEST_F(Memory, RegionMayEndWhereAddressesEnd) {
  const std::uint64_t top = 0 - std::uint64_t{4096};
  ib_mr* last = ib_reg_user_mr(pd, buffer, 4096, top, 0);
  ASSERT_FALSE(IS_ERR(last));
  EXPECT_EQ(check(top, 100, last->lkey), 1);
  EXPECT_EQ(check(top, 4096, last->lkey), 1);
  EXPECT_EQ(check(top + 4000, 97, last->lkey), -EINVAL);
  EXPECT_EQ(ib_dereg_mr(last), 0);
}

TEST_F(Memory, DeregistrationLooksAtQueuePairsOfItsDomainOnly) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  ib_pd other;
  qp->pd = &other;
  ASSERT_EQ(ib_dereg_mr(mr), 0);
  mr = nullptr;
  qp->pd = pd;
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RTS);
}

TEST_F(Memory, MergingStaysInsideTheRegion) {
  rvt_sge last;
  rvt_sge next;
  const rvt_pd* domain = ibpd_to_rvtpd(pd);
  const ib_sge first{buffer, 100, mr->lkey};
  ASSERT_EQ(rvt_lkey_ok(&device->lkey_table, domain, &last, nullptr, &first, 0), 1);
  const ib_sge adjacent{buffer + 100, 50, mr->lkey};
  EXPECT_EQ(rvt_lkey_ok(&device->lkey_table, domain, &next, &last, &adjacent, 0), 0);
  EXPECT_EQ(last.length, 150u);
  const ib_sge gap{buffer + 151, 50, mr->lkey};
  EXPECT_EQ(rvt_lkey_ok(&device->lkey_table, domain, &next, &last, &gap, 0), 1);
  const ib_sge beyond{buffer + 150, kBufferBytes, mr->lkey};
  EXPECT_EQ(rvt_lkey_ok(&device->lkey_table, domain, &next, &last, &beyond, 0), -EINVAL);
}

TEST_F(Memory, DeregistrationBringsDownQueuePairsWithPendingSends) {
  ib_qp* user = make_qp_in(IB_QPS_RTS);
  ib_qp* idle = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(user, 1), 0);
  ASSERT_EQ(post_send(idle, 1), 0);
  ASSERT_TRUE(complete_send(idle, 0));
  EXPECT_TRUE(rvt_qp_sends_has_lkey(rvt(user), mr->lkey));
  EXPECT_FALSE(rvt_qp_sends_has_lkey(rvt(user), mr->lkey + 0x100));
  ASSERT_EQ(ib_dereg_mr(mr), 0);
  mr = nullptr;
  EXPECT_EQ(rvt(user)->state, IB_QPS_ERR);
  EXPECT_EQ(rvt(idle)->state, IB_QPS_RTS);
  const auto bells = host.rung(hw::bar::kQpErrorDoorbell);
  ASSERT_EQ(bells.size(), 1u);
  EXPECT_EQ(bells[0].number, user->qp_num);
}

TEST_F(Memory, InlineSendsUseNoKey) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1, IB_SEND_INLINE), 0);
  EXPECT_FALSE(rvt_qp_sends_has_lkey(rvt(qp), mr->lkey));
}

TEST_F(Memory, DeregistrationWithoutAnswerIsBusyThenFrees) {
  host.answers = false;
  const hw::Time begin = host.now();
  EXPECT_EQ(ib_dereg_mr(mr), -EBUSY);
  EXPECT_EQ(host.now() - begin, params.dereg_timeout);
  EXPECT_EQ(device->n_mrs_allocated, 1);
  EXPECT_EQ(ib_dereg_mr(mr), 0);  // the device is known to have failed
  mr = nullptr;
}

TEST_F(Memory, DomainsAreCountedAndNumbersReused) {
  device->dparms.max_pd = 3;
  ib_pd* second = ib_alloc_pd(ibdev);
  ib_pd* third = ib_alloc_pd(ibdev);
  EXPECT_EQ(PTR_ERR(ib_alloc_pd(ibdev)), -ENOMEM);
  const std::uint32_t number = ibpd_to_rvtpd(second)->number;
  EXPECT_EQ(ib_dealloc_pd(second), 0);
  second = ib_alloc_pd(ibdev);
  EXPECT_EQ(ibpd_to_rvtpd(second)->number, number);
  EXPECT_EQ(ib_dealloc_pd(second), 0);
  EXPECT_EQ(ib_dealloc_pd(third), 0);
  EXPECT_EQ(ib_dealloc_pd(pd), -EBUSY);
  rvt_pd user;
  user.ibpd.device = ibdev;
  ib_udata udata;
  EXPECT_EQ(rvt_alloc_pd(&user.ibpd, &udata), 0);
  EXPECT_TRUE(user.user);
  EXPECT_EQ(rvt_dealloc_pd(&user.ibpd, &udata), 0);
}

}  // namespace
}  // namespace hcasim::rvt
