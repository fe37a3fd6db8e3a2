// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Regions made by ib_alloc_mr: mapping, REG_MR, LOCAL_INV, invalidation by the peer.
#include <array>
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

constexpr std::uint64_t kPage = 4096;

class FastRegister : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);
    ASSERT_FALSE(IS_ERR(fast));
    qp = make_qp_in(IB_QPS_RTS);
  }
  void TearDown() override {
    EXPECT_EQ(ib_dereg_mr(fast), 0);
    DriverTest::TearDown();
  }

  int map(std::initializer_list<scatterlist> sg, unsigned* offset = nullptr) {
    return ib_map_mr_sg(fast, sg.begin(), static_cast<int>(sg.size()), offset, kPage);
  }
  std::uint64_t entry(std::uint64_t i) {
    hw::MttEntry mtt;
    host.read(host.mrs.at(to_imr(fast)->mr.hw_key).mtt + i * sizeof mtt, &mtt, sizeof mtt);
    return mtt.address;
  }
  ib_reg_wr registration(std::uint32_t key, std::uint32_t access = IB_ACCESS_LOCAL_WRITE) {
    ib_reg_wr wr;
    wr.wr.opcode = IB_WR_REG_MR;
    wr.mr = fast;
    wr.key = key;
    wr.access = access;
    return wr;
  }
  ib_send_wr invalidation(std::uint32_t key) {
    ib_send_wr wr;
    wr.opcode = IB_WR_LOCAL_INV;
    wr.ex.invalidate_rkey = key;
    return wr;
  }
  int post(const ib_send_wr& wr) { return ib_post_send(qp, &wr, &bad_send); }
  int reg(std::uint32_t key) { return post(registration(key).wr); }
  int check(std::uint64_t addr, std::uint32_t length, std::uint32_t acc = 0) {
    const ib_sge sge{addr, length, fast->lkey};
    rvt_sge taken;
    return rvt_lkey_ok(&device->lkey_table, ibpd_to_rvtpd(pd), &taken, nullptr, &sge, acc);
  }
  std::uint32_t current_key(std::uint32_t slot) {
    return in_send_slot<hw::SendWqeRegister>(qp, slot, hw::kSendWqeRegisterOffset).current_key;
  }

  ib_mr* fast = nullptr;
  ib_qp* qp = nullptr;
};

TEST_F(FastRegister, AllocTellsTheAdapterOfARegionThatIsNotValid) {
  const hw::MptEntry& entry = host.mrs.at(fast->lkey);
  EXPECT_EQ(entry.valid, 0);
  EXPECT_EQ(entry.invalidatable, 1);
  EXPECT_EQ(entry.mtt_entries, 4u);
  EXPECT_EQ(entry.length, 0u);
  EXPECT_EQ(entry.pd, ibpd_to_rvtpd(pd)->number);
  EXPECT_EQ(fast->lkey, fast->rkey);
  EXPECT_EQ(pd->usecnt, 3);
  EXPECT_EQ(check(buffer, 1), -EINVAL);
}

TEST_F(FastRegister, ErrorsOfAlloc) {
  const std::size_t blocks = host.blocks_allocated();
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, 4)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 0)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, (1u << 28) + 1)), -EINVAL);
  host.allocations_until_failure = 0;
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4)), -ENOMEM);
  host.allocations_until_failure = -1;
  host.commands_until_failure = 0;
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4)), -EINVAL);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_mrs_allocated, 2);
}

TEST_F(FastRegister, MappingFillsTheTable) {
  EXPECT_EQ(map({{buffer + 100, 2 * kPage - 100}, {buffer + 8 * kPage, 50}}), 2);
  EXPECT_EQ(fast->iova, buffer + 100);
  EXPECT_EQ(fast->length, 2 * kPage - 50);
  EXPECT_EQ(entry(0), buffer);
  EXPECT_EQ(entry(1), buffer + kPage);
  EXPECT_EQ(entry(2), buffer + 8 * kPage);
  EXPECT_EQ(entry(3), 0u);
}

TEST_F(FastRegister, NeighboursShareAPage) {
  EXPECT_EQ(map({{buffer + 10, 20}, {buffer + 30, kPage}, {buffer + 30 + kPage, 7}}), 3);
  EXPECT_EQ(fast->length, 27 + kPage);
  EXPECT_EQ(entry(0), buffer);
  EXPECT_EQ(entry(1), buffer + kPage);
  EXPECT_EQ(entry(2), 0u);
}

TEST_F(FastRegister, MappingStopsAtGapsAndWhenFull) {
  EXPECT_EQ(map({{buffer, 100}, {buffer + kPage, 100}}), 1);  // does not end at a page
  EXPECT_EQ(fast->length, 100u);
  EXPECT_EQ(map({{buffer, kPage}, {buffer + 2 * kPage + 8, 100}}), 1);  // does not begin at one
  unsigned offset = 0;
  EXPECT_EQ(map({{buffer, 2 * kPage}, {buffer + 4 * kPage, 3 * kPage}}, &offset), 1);
  EXPECT_EQ(offset, 2 * kPage);
  EXPECT_EQ(fast->length, 4 * kPage);
  offset = 100;
  EXPECT_EQ(map({{buffer, 5 * kPage}}, &offset), 0);
  EXPECT_EQ(offset, 4 * kPage);
  EXPECT_EQ(fast->iova, buffer + 100);
  EXPECT_EQ(fast->length, 4 * kPage - 100);
  offset = 8;
  EXPECT_EQ(map({{buffer, 16}}, &offset), 1);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(fast->length, 8u);
}

TEST_F(FastRegister, ErrorsOfMapping) {
  const scatterlist one{buffer, 100};
  EXPECT_EQ(ib_map_mr_sg(fast, &one, 1, nullptr, 8192), -EINVAL);
  EXPECT_EQ(ib_map_mr_sg(fast, &one, 0, nullptr, kPage), -EINVAL);
  EXPECT_EQ(ib_map_mr_sg(mr, &one, 1, nullptr, kPage), -EINVAL);
  unsigned offset = 100;
  EXPECT_EQ(map({one}, &offset), -EINVAL);
}

TEST_F(FastRegister, RegistrationIsAWqeAndCountsFromThePostOn) {
  ASSERT_EQ(map({{buffer + 100, 2 * kPage}}), 1);
  EXPECT_EQ(check(buffer + 100, 8), -EINVAL);
  const std::uint32_t old_key = fast->lkey;
  ib_reg_wr wr = registration(old_key + 1, IB_ACCESS_REMOTE_READ | IB_ACCESS_RELAXED_ORDERING);
  wr.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE | IB_SEND_FENCE;
  wr.wr.wr_id = 77;
  fast->iova = 0x5000'0000;
  const ib_sge data{0x5000'0000, 2 * kPage, old_key + 1};
  ib_send_wr send;
  send.sg_list = &data;
  send.num_sge = 1;
  wr.wr.next = &send;
  ASSERT_EQ(post(wr.wr), 0);
  const hw::SendWqeControl found = control(qp, 0);
  EXPECT_EQ(found.opcode, hw::WrOpcode::kRegMr);
  EXPECT_EQ(found.flags, hw::kWqeSignaled | hw::kWqeFence);
  EXPECT_EQ(found.blocks, 1);
  EXPECT_EQ(found.num_sge, 0);
  EXPECT_EQ(found.length, 2 * kPage);
  EXPECT_EQ(found.imm_or_key, old_key + 1);
  const auto remote = in_send_slot<hw::SendWqeRemote>(qp, 0, hw::kSendWqeRemoteOffset);
  EXPECT_EQ(remote.addr, 0x5000'0000u);
  EXPECT_EQ(remote.rkey, unsigned{IB_ACCESS_REMOTE_READ});
  const auto table = in_send_slot<hw::SendWqeRegister>(qp, 0, hw::kSendWqeRegisterOffset);
  EXPECT_EQ(table.current_key, old_key);
  EXPECT_EQ(table.mtt_entries, 3u);
  EXPECT_EQ(table.first_offset, 100u);
  EXPECT_EQ(fast->lkey, old_key + 1);
  EXPECT_EQ(fast->rkey, old_key + 1);
  EXPECT_EQ(check(0x5000'0000, 2 * kPage), 1);
  EXPECT_EQ(check(0x5000'0000, 2 * kPage + 1), -EINVAL);
  EXPECT_EQ(check(0x5000'0000, 8, IB_ACCESS_LOCAL_WRITE), -EINVAL);
  EXPECT_EQ(host.rung(hw::bar::kSendDoorbell).size(), 1u);
  // It has no place among sequence numbers and no length.
  EXPECT_EQ(rvt(qp)->s_wq[1].ssn, 1u);
  EXPECT_EQ(rvt(qp)->s_wq[1].psn, 0x200u);
  ASSERT_TRUE(complete_send(qp, 0));
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].opcode, IB_WC_REG_MR);
  EXPECT_EQ(wcs[0].wr_id, 77u);
  EXPECT_EQ(wcs[0].byte_len, 0u);
}

TEST_F(FastRegister, RegistrationsThatAreRefused) {
  EXPECT_EQ(reg(fast->lkey + 0x100), -EINVAL);
  ib_reg_wr wr = registration(mr->lkey);
  wr.mr = mr;
  EXPECT_EQ(post(wr.wr), -EINVAL);
  wr.mr = nullptr;
  EXPECT_EQ(post(wr.wr), -EINVAL);
  ib_pd* other = ib_alloc_pd(ibdev);
  ib_mr* foreign = ib_alloc_mr(other, IB_MR_TYPE_MEM_REG, 1);
  wr.mr = foreign;
  wr.key = foreign->lkey;
  EXPECT_EQ(post(wr.wr), -EACCES);
  EXPECT_EQ(bad_send, &wr.wr);
  EXPECT_EQ(post(invalidation(foreign->lkey)), -EINVAL);
  EXPECT_EQ(ib_dereg_mr(foreign), 0);
  EXPECT_EQ(ib_dealloc_pd(other), 0);
  fast->length = std::uint64_t{1} << 32;
  EXPECT_EQ(reg(fast->lkey), -EINVAL);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
}

TEST_F(FastRegister, NothingHappensInAFullQueue) {
  ASSERT_EQ(map({{buffer, kPage}}), 1);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_send(qp, i), 0);
  const std::uint32_t key = fast->lkey;
  EXPECT_EQ(reg(key + 1), -ENOMEM);
  EXPECT_EQ(fast->lkey, key);
  EXPECT_EQ(check(buffer, 8), -EINVAL);
}

TEST_F(FastRegister, LocalInvalidationEndsTheKeyAtThePost) {
  ASSERT_EQ(map({{buffer, kPage}}), 1);
  ASSERT_EQ(reg(fast->lkey), 0);
  EXPECT_EQ(check(buffer, 8), 1);
  EXPECT_EQ(post(invalidation(0)), -EINVAL);
  EXPECT_EQ(post(invalidation(fast->lkey + 1)), -EINVAL);
  EXPECT_EQ(post(invalidation(mr->lkey)), -EINVAL);
  ib_send_wr wr = invalidation(fast->lkey);
  wr.send_flags = IB_SEND_SIGNALED;
  ASSERT_EQ(post(wr), 0);
  EXPECT_EQ(control(qp, 1).opcode, hw::WrOpcode::kLocalInv);
  EXPECT_EQ(control(qp, 1).imm_or_key, fast->lkey);
  EXPECT_EQ(check(buffer, 8), -EINVAL);
  EXPECT_EQ(post(wr), 0);  // twice does no harm
  ASSERT_TRUE(complete_send(qp, 1));
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].opcode, IB_WC_LOCAL_INV);
  ASSERT_EQ(reg(fast->lkey), 0);
  EXPECT_EQ(check(buffer, 8), 1);
}

TEST_F(FastRegister, PeerInvalidatesWithAReceive) {
  ASSERT_EQ(map({{buffer, kPage}}), 1);
  ASSERT_EQ(reg(fast->lkey), 0);
  hw::Cqe cqe{};
  cqe.qpn = qp->qp_num;
  cqe.opcode = hw::WcOpcode::kRecv;
  cqe.imm_or_key = fast->lkey;
  cqe.flags = hw::kCqeWithImm;
  ASSERT_TRUE(host.complete(cqn(cq), cqe));
  EXPECT_EQ(poll().size(), 1u);
  EXPECT_EQ(check(buffer, 8), 1);
  cqe.flags = hw::kCqeWithInvalidate;
  cqe.imm_or_key = fast->lkey + 1;  // not the key it has now
  ASSERT_TRUE(host.complete(cqn(cq), cqe));
  EXPECT_EQ(poll().size(), 1u);
  EXPECT_EQ(check(buffer, 8), 1);
  cqe.imm_or_key = fast->lkey;
  ASSERT_TRUE(host.complete(cqn(cq), cqe));
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].wc_flags, IB_WC_WITH_INVALIDATE);
  EXPECT_EQ(wcs[0].ex.invalidate_rkey, fast->lkey);
  EXPECT_EQ(check(buffer, 8), -EINVAL);
}

// The adapter finds a region by the key that it has there, which is not always the driver's.
TEST_F(FastRegister, CurrentKeyFollowsWhatTheAdapterDid) {
  ASSERT_EQ(map({{buffer, kPage}}), 1);
  const std::uint32_t key = fast->lkey;
  ASSERT_EQ(reg(key + 1), 0);
  ASSERT_EQ(reg(key + 2), 0);  // behind one that is pending
  EXPECT_EQ(current_key(0), key);
  EXPECT_EQ(current_key(1), key + 1);
  ASSERT_TRUE(complete_send(qp, 0));
  ASSERT_TRUE(complete_send(qp, 1, hw::WcStatus::kWrFlushErr));
  EXPECT_EQ(poll().size(), 2u);
  ASSERT_EQ(reg(key + 3), 0);
  EXPECT_EQ(current_key(2), key + 1);
  ASSERT_EQ(post_send(qp, 1), 0);
  ASSERT_TRUE(complete_send(qp, 3));  // and with it the REG_MR, which was not signaled
  EXPECT_EQ(poll().size(), 1u);
  ASSERT_EQ(reg(key + 4), 0);
  EXPECT_EQ(current_key(4), key + 3);
  EXPECT_EQ(to_imr(fast)->mr.reg_posts, 1u);
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(to_imr(fast)->mr.reg_posts, 0u);
  EXPECT_EQ(to_imr(fast)->mr.hw_key, key + 4);  // else it would have been flushed
  EXPECT_EQ(rvt(qp)->s_reg_used, 0u);
}

TEST_F(FastRegister, DeregistrationFindsTheRegionUnderItsOldKey) {
  ib_mr* lost = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
  const std::uint32_t key = lost->lkey;
  const hw::MptEntry entry = host.mrs.at(key);
  host.mrs.erase(key);
  host.mrs[key + 5] = entry;  // by a REG_MR that nobody heard of
  host.knows_objects = true;
  EXPECT_EQ(ib_dereg_mr(lost), 0);
  EXPECT_FALSE(host.mrs.contains(key + 5));
}

TEST_F(FastRegister, DeregistrationBringsDownWhoRegisters) {
  ib_qp* other = make_qp_in(IB_QPS_RTS);
  ib_mr* gone = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
  ib_reg_wr wr = registration(gone->lkey + 1);
  wr.mr = gone;
  ASSERT_EQ(post(wr.wr), 0);
  EXPECT_EQ(ib_dereg_mr(gone), 0);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(rvt(other)->state, IB_QPS_RTS);
}

}  // namespace
}  // namespace hcasim::rvt
