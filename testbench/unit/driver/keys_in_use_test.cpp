// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which queue pairs use a key: rvt_swqe_has_lkey, rvt_qp_sends_has_lkey, rvt_qp_mr_clean.
#include <array>
#include <cerrno>

#include "unit/driver/send_fixture.hpp"

namespace hcasim::rvt {
namespace {

class KeysInUse : public SendTest {
 protected:
  void SetUp() override {
    SendTest::SetUp();
    other = ib_reg_user_mr(pd, buffer, kBufferBytes, buffer, IB_ACCESS_LOCAL_WRITE);
  }
  void TearDown() override {
    EXPECT_EQ(ib_dereg_mr(other), 0);
    SendTest::TearDown();
  }
  bool in_slot(std::uint32_t slot, const ib_mr* region) {
    return rvt_swqe_has_lkey(rvt(qp), slot, region->lkey);
  }
  bool in_sends(const ib_mr* region) { return rvt_qp_sends_has_lkey(rvt(qp), region->lkey); }
  int post_elements(std::initializer_list<ib_sge> elements, std::uint32_t flags = 0) {
    ib_send_wr wr;
    wr.sg_list = elements.begin();
    wr.num_sge = static_cast<int>(elements.size());
    wr.send_flags = flags;
    return post(wr);
  }

  ib_mr* other = nullptr;
};
using RvtSwqeHasLkey = KeysInUse;
using RvtQpSendsHasLkey = KeysInUse;
using RvtQpMrClean = KeysInUse;

TEST_F(RvtSwqeHasLkey, LooksAtEveryElement) {
  ASSERT_EQ(post_elements({sge(8), {buffer + 64, 8, other->lkey}}), 0);
  ASSERT_EQ(post_elements({sge(8)}), 0);
  EXPECT_TRUE(in_slot(0, mr));
  EXPECT_TRUE(in_slot(0, other));
  EXPECT_TRUE(in_slot(1, mr));
  EXPECT_FALSE(in_slot(1, other));
}

TEST_F(RvtSwqeHasLkey, EveryKeyOfARegionIsItsKey) {
  ASSERT_EQ(post_elements({sge(8)}), 0);
  EXPECT_TRUE(rvt_swqe_has_lkey(rvt(qp), 0, mr->lkey ^ 0xff));
  EXPECT_FALSE(rvt_swqe_has_lkey(rvt(qp), 0, mr->lkey + 0x100));
}

TEST_F(RvtSwqeHasLkey, EmptyElementsAndInlineDataUseNone) {
  ASSERT_EQ(post_elements({{buffer, 0, other->lkey}, sge(8)}), 0);
  EXPECT_FALSE(in_slot(0, other));
  ASSERT_EQ(post_elements({{buffer, 8, other->lkey}}, IB_SEND_INLINE), 0);
  EXPECT_FALSE(in_slot(1, other));
}

TEST_F(RvtSwqeHasLkey, LocalOperationsUseTheRegionTheyName) {
  ib_mr* fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
  ib_reg_wr reg;
  reg.wr.opcode = IB_WR_REG_MR;
  reg.mr = fast;
  reg.key = fast->lkey;
  ASSERT_EQ(post(reg.wr), 0);
  ib_send_wr invalidate;
  invalidate.opcode = IB_WR_LOCAL_INV;
  invalidate.ex.invalidate_rkey = fast->lkey;
  ASSERT_EQ(post(invalidate), 0);
  EXPECT_TRUE(in_slot(0, fast));
  EXPECT_TRUE(in_slot(1, fast));
  EXPECT_FALSE(in_slot(0, mr));
  EXPECT_EQ(ib_dereg_mr(fast), 0);
}

TEST_F(RvtSwqeHasLkey, OfDatagrams) {
  const rdma_ah_attr to = path().ah_attr;
  ib_ah* ah = rdma_create_ah(pd, &to);
  qp = make_qp_in(IB_QPS_RTS, init_attr_of(IB_QPT_UD));
  const ib_sge data = sge(8);
  ib_ud_wr wr;
  wr.wr.sg_list = &data;
  wr.wr.num_sge = 1;
  wr.ah = ah;
  ASSERT_EQ(post(wr.wr), 0);
  EXPECT_TRUE(in_slot(0, mr));
  EXPECT_FALSE(in_slot(0, other));
  rdma_destroy_ah(ah);
}

TEST_F(RvtQpSendsHasLkey, LooksAtWhatIsNotComplete) {
  EXPECT_FALSE(in_sends(mr));
  ASSERT_EQ(post_elements({{buffer, 8, other->lkey}}, IB_SEND_SIGNALED), 0);
  ASSERT_EQ(post_elements({sge(8)}, IB_SEND_SIGNALED), 0);
  EXPECT_TRUE(in_sends(other));
  EXPECT_TRUE(in_sends(mr));
  ASSERT_TRUE(complete_send(qp, 0));  // nobody has polled
  EXPECT_FALSE(in_sends(other));
  EXPECT_TRUE(in_sends(mr));
}

TEST_F(RvtQpSendsHasLkey, GoesRoundTheRing) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(post_send(qp, i), 0);
    ASSERT_TRUE(complete_send(qp, i));
    poll();
  }
  ASSERT_EQ(post_send(qp, 4), 0);
  ASSERT_EQ(post_elements({{buffer, 8, other->lkey}}), 0);
  EXPECT_EQ(rvt(qp)->s_head, 1u);
  EXPECT_TRUE(in_sends(other));
}

TEST_F(RvtQpMrClean, BringsDownWhoUsesTheRegionOnly) {
  ASSERT_EQ(post_elements({sge(8)}), 0);
  rvt_qp_mr_clean(rvt(qp), other->lkey);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RTS);
  rvt_qp_mr_clean(rvt(qp), mr->lkey);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell).size(), 1u);
  rvt_qp_mr_clean(rvt(qp), mr->lkey);
  EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell).size(), 1u);
}

TEST_F(RvtQpMrClean, LeavesErrResetAndSpecialOnesAlone) {
  ASSERT_EQ(post_elements({sge(8)}), 0);
  rvt_qp* found = rvt(qp);
  for (const ib_qp_state state : {IB_QPS_ERR, IB_QPS_RESET}) {
    found->state = state;
    rvt_qp_mr_clean(found, mr->lkey);
    EXPECT_EQ(found->state, state);
  }
  found->state = IB_QPS_RTS;
  for (const ib_qp_type type : {IB_QPT_SMI, IB_QPT_GSI}) {
    qp->qp_type = type;
    rvt_qp_mr_clean(found, mr->lkey);
    EXPECT_EQ(found->state, IB_QPS_RTS);
  }
  qp->qp_type = IB_QPT_RC;
  EXPECT_TRUE(host.rung(hw::bar::kQpErrorDoorbell).empty());
}

}  // namespace
}  // namespace hcasim::rvt
