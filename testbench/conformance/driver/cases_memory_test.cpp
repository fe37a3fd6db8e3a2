// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Conformance cases of the driver layer, by number: fast registration, groups, failed completions.
#include <array>
#include <cerrno>
#include <limits>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class MemoryCases : public DriverTest {
 protected:
  static constexpr unsigned kPage = 4096;

  void SetUp() override {
    DriverTest::SetUp();
    fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);
    ASSERT_FALSE(IS_ERR(fast));
    const scatterlist page{buffer, kPage};
    ASSERT_EQ(ib_map_mr_sg(fast, &page, 1, nullptr, kPage), 1);
  }
  void TearDown() override {
    EXPECT_EQ(ib_dereg_mr(fast), 0);
    DriverTest::TearDown();
  }
  int reg(ib_qp* qp, std::uint32_t key) {
    ib_reg_wr wr;
    wr.wr.opcode = IB_WR_REG_MR;
    wr.mr = fast;
    wr.key = key;
    wr.access = IB_ACCESS_LOCAL_WRITE;
    return ib_post_send(qp, &wr.wr, &bad_send);
  }
  int invalidate(ib_qp* qp, std::uint32_t key) {
    ib_send_wr wr;
    wr.opcode = IB_WR_LOCAL_INV;
    wr.ex.invalidate_rkey = key;
    return ib_post_send(qp, &wr, &bad_send);
  }
  bool usable(const ib_mr* region) {
    const ib_sge data{region->iova, 8, region->lkey};
    rvt_sge taken;
    return rvt_lkey_ok(&device->lkey_table, ibpd_to_rvtpd(pd), &taken, nullptr, &data,
                       IB_ACCESS_LOCAL_WRITE) == 1;
  }

  ib_mr* fast = nullptr;
};

TEST_F(MemoryCases, B38_Quirk21_RegionsOfUsersAreNotInvalidated) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(invalidate(qp, mr->lkey), -EINVAL);
  EXPECT_NE(bad_send, nullptr);
  EXPECT_TRUE(usable(mr));
  ASSERT_EQ(reg(qp, fast->lkey), 0);
  EXPECT_TRUE(usable(fast));
  EXPECT_EQ(invalidate(qp, fast->lkey), 0);
  EXPECT_FALSE(usable(fast));
}

// The books do not change when the post is refused, whatever for.
TEST_F(MemoryCases, H11_Quirk12_RefusedRegistrationChangesNothing) {
  ib_qp* full = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_send(full, i), 0);
  const std::uint32_t key = fast->lkey;
  EXPECT_EQ(reg(full, ib_inc_rkey(key)), -ENOMEM);
  EXPECT_EQ(reg(make_qp_in(IB_QPS_RTR), ib_inc_rkey(key)), -EINVAL);
  EXPECT_EQ(fast->lkey, key);
  EXPECT_FALSE(usable(fast));
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(reg(qp, key), 0);
  EXPECT_EQ(invalidate(full, key), -ENOMEM);
  EXPECT_TRUE(usable(fast));
}

class GroupCases : public DriverTest {
 protected:
  static constexpr ib_gid kGroup{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}};

  ib_qp* member() {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = IB_QPT_UD;
    ib_qp* qp = make_qp(attr);
    EXPECT_EQ(modify(qp, IB_QPS_INIT, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY), 0);
    return qp;
  }
};

TEST_F(GroupCases, H10_Quirk22_AttachingTwiceIsUndoneByDetachingOnce) {
  ib_qp* qp = member();
  EXPECT_EQ(ib_attach_mcast(qp, &kGroup, 0), 0);
  EXPECT_EQ(ib_attach_mcast(qp, &kGroup, 0), 0);
  EXPECT_EQ(ib_destroy_qp(qp), -EBUSY);
  EXPECT_EQ(ib_detach_mcast(qp, &kGroup, 0), 0);
  EXPECT_EQ(ib_detach_mcast(qp, &kGroup, 0), -EINVAL);
  EXPECT_TRUE(host.members.empty());
  destroy(qp);
}

class CompatibleGroupCases : public GroupCases {
 protected:
  CompatibleGroupCases() { params.rdmavt_compat = true; }
};

TEST_F(CompatibleGroupCases, H10_Quirk22_AttachingTwiceKeepsTheQueuePairAsInRdmavt) {
  ib_qp* qp = member();
  EXPECT_EQ(ib_attach_mcast(qp, &kGroup, 0), 0);
  EXPECT_EQ(ib_attach_mcast(qp, &kGroup, 0), 0);
  EXPECT_EQ(ib_detach_mcast(qp, &kGroup, 0), 0);
  EXPECT_EQ(ib_detach_mcast(qp, &kGroup, 0), -EINVAL);
  EXPECT_EQ(ib_destroy_qp(qp), -EBUSY);
  qp->usecnt = 0;  // or it would outlive the device
}

class WorkCases : public DriverTest {};

// What a failed completion says of opcode and length is the driver's, never the adapter's leftover.
TEST_F(WorkCases, B82_FailedCompletionsNameTheirRequest) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  std::uint32_t slot = 0;
  for (const auto status : {hw::WcStatus::kRetryExcErr, hw::WcStatus::kWrFlushErr}) {
    ib_rdma_wr wr;
    const ib_sge data = sge(100);
    wr.wr.wr_id = 0xabcd + slot;
    wr.wr.opcode = IB_WR_RDMA_READ;
    wr.wr.sg_list = &data;
    wr.wr.num_sge = 1;
    ASSERT_EQ(ib_post_send(qp, &wr.wr, nullptr), 0);
    hw::Cqe cqe{};
    cqe.qpn = qp->qp_num;
    cqe.wqe_index = static_cast<std::uint16_t>(slot);
    cqe.status = status;
    cqe.vendor_err = 0x33;
    cqe.opcode = hw::WcOpcode::kLocalInv;  // left over from another request
    cqe.byte_len = ~0u;
    ASSERT_TRUE(host.complete(cqn(cq), cqe));
    const auto wc = poll();
    ASSERT_EQ(wc.size(), 1u);
    EXPECT_EQ(wc[0].wr_id, 0xabcdu + slot);
    EXPECT_EQ(static_cast<hw::WcStatus>(wc[0].status), status);
    EXPECT_EQ(wc[0].qp, qp);
    EXPECT_EQ(wc[0].vendor_err, 0x33u);
    EXPECT_EQ(wc[0].opcode, IB_WC_RDMA_READ);
    EXPECT_EQ(wc[0].byte_len, 100u);
    ++slot;
  }
}

// A request says how long it is by num_sge alone; what no slot can hold is refused before it is
// read.
TEST_F(WorkCases, B23_RequestsLongerThanASlotAreRefusedUnread) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const int sizes[] = {-1, std::numeric_limits<int>::min(), 3, 256,
                       std::numeric_limits<int>::max()};
  for (const int num_sge : sizes) {
    ib_send_wr send;
    send.num_sge = num_sge;  // and no list
    EXPECT_EQ(ib_post_send(qp, &send, &bad_send), -EINVAL) << num_sge;
    EXPECT_EQ(bad_send, &send);
    ib_recv_wr recv;
    recv.num_sge = num_sge;
    EXPECT_EQ(ib_post_recv(qp, &recv, &bad_recv), -EINVAL) << num_sge;
    EXPECT_EQ(bad_recv, &recv);
  }
  EXPECT_EQ(rvt(qp)->s_head, 0u);
  EXPECT_EQ(rvt(qp)->r_rq.head, 0u);
}

}  // namespace
}  // namespace hcasim::rvt
