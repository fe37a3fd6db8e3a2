// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_post_one_wr: order of checks, elements, numbers.
#include <array>
#include <cerrno>

#include "unit/driver/send_fixture.hpp"

namespace hcasim::rvt {
namespace {

class RvtPostOneWr : public SendTest {
 protected:
  int post_one(const ib_send_wr& wr) {
    const SpinGuard guard(rvt(qp)->s_hlock);
    return rvt_post_one_wr(rvt(qp), &wr, &call_send);
  }
  bool call_send = true;
};

// Each request has all faults but those of the requests before it.
TEST_F(RvtPostOneWr, ChecksInOrder) {
  static int asked = 0;
  asked = 0;
  fill();
  device->driver_f.setup_wqe = [](rvt_qp*, const rvt_swqe*, bool*) { return --asked; };
  const ib_sge bad_key[3] = {{buffer, 8, 0xbad}, {}, {}};
  ib_send_wr wr;
  wr.sg_list = bad_key;
  wr.num_sge = 3;
  wr.opcode = IB_WR_BIND_MW;
  EXPECT_EQ(post_one(wr), -EINVAL);  // elements
  wr.num_sge = 1;
  EXPECT_EQ(post_one(wr), -EINVAL);  // operation
  wr.opcode = IB_WR_SEND;
  EXPECT_EQ(post_one(wr), -ENOMEM);  // room
  ASSERT_TRUE(complete_send(qp, 0));
  EXPECT_EQ(post_one(wr), -EINVAL);  // keys
  EXPECT_EQ(asked, 0);
  const ib_sge data = sge(8);
  wr.sg_list = &data;
  EXPECT_EQ(post_one(wr), -1);  // the driver above
  device->driver_f = {};
  EXPECT_EQ(rvt(qp)->s_head, 4u);
  EXPECT_EQ(rvt(qp)->s_ssn, 5u);  // those that were refused took no number
  EXPECT_EQ(rvt(qp)->s_next_psn, 0x204u);
  EXPECT_EQ(post_one(wr), 0);
  EXPECT_EQ(rvt(qp)->s_ssn, 6u);
}

TEST_F(RvtPostOneWr, RingsNothing) {
  ib_send_wr wr;
  EXPECT_EQ(post_one(wr), 0);
  EXPECT_EQ(rvt(qp)->s_head, 1u);
  EXPECT_EQ(rvt(qp)->s_avail, 3u);
  EXPECT_TRUE(host.doorbells.empty());
}

TEST_F(RvtPostOneWr, TellsWhetherOnePacketIsEnough) {
  ib_send_wr wr;
  ib_sge data = sge(1024);
  wr.sg_list = &data;
  wr.num_sge = 1;
  ASSERT_EQ(post_one(wr), 0);
  EXPECT_TRUE(call_send);
  data.length = 1025;
  ASSERT_EQ(post_one(wr), 0);
  EXPECT_FALSE(call_send);
}

TEST_F(RvtPostOneWr, OnePacketIsEnoughForADatagram) {
  const rdma_ah_attr to = path().ah_attr;
  ib_ah* ah = rdma_create_ah(pd, &to);
  qp = make_qp_in(IB_QPS_RTS, init_attr_of(IB_QPT_UD));
  const ib_sge data = sge(4096);
  ib_ud_wr wr;
  wr.wr.sg_list = &data;
  wr.wr.num_sge = 1;
  wr.ah = ah;
  EXPECT_EQ(post_one(wr.wr), 0);
  EXPECT_TRUE(call_send);
  rdma_destroy_ah(ah);
}

TEST_F(RvtPostOneWr, NumberOfElements) {
  ib_send_wr wr;
  wr.opcode = IB_WR_BIND_MW;
  wr.num_sge = 3;
  EXPECT_EQ(post(wr), -EINVAL);
  wr.opcode = IB_WR_SEND;
  wr.num_sge = 0;
  EXPECT_EQ(post(wr), 0);
  EXPECT_EQ(control(qp, 0).length, 0u);
}

TEST_F(RvtPostOneWr, Quirk11_ANegativeNumberOfElementsIsNotZero) {
  ib_send_wr wr;
  wr.num_sge = -1;
  EXPECT_EQ(post(wr), -EINVAL);
}

TEST_F(RvtPostOneWr, ElementsAreChecked) {
  ib_send_wr wr;
  ib_sge data = sge(64);
  wr.sg_list = &data;
  wr.num_sge = 1;
  data.lkey ^= 1;
  EXPECT_EQ(post(wr), -EINVAL);
  data = sge(kBufferBytes);
  data.addr += 1;
  EXPECT_EQ(post(wr), -EINVAL);
  data.length = 0;  // not looked at
  data.lkey = 0xbad;
  EXPECT_EQ(post(wr), 0);
  EXPECT_EQ(control(qp, 0).num_sge, 0);
}

TEST_F(RvtPostOneWr, OperationsThatWriteNeedTheRight) {
  ib_mr* read_only = ib_reg_user_mr(pd, buffer, 4096, buffer, 0);
  const ib_sge data{buffer, 64, read_only->lkey};
  ib_rdma_wr wr = rdma(IB_WR_RDMA_READ, data);
  EXPECT_EQ(post_one(wr.wr), -EINVAL);
  for (const ib_wr_opcode opcode : {IB_WR_RDMA_WRITE, IB_WR_SEND, IB_WR_SEND_WITH_INV}) {
    wr.wr.opcode = opcode;
    EXPECT_EQ(post_one(wr.wr), 0);
  }
  EXPECT_EQ(ib_dereg_mr(read_only), 0);
}

TEST_F(RvtPostOneWr, Quirk27_MessageOf2To31BytesAtMost) {
  ib_mr* large = ib_reg_user_mr(pd, buffer, 1ull << 32, buffer, 0);
  const std::array<ib_sge, 2> data{ib_sge{buffer, 1u << 31, large->lkey},
                                   ib_sge{buffer + (1ull << 31), 1, large->lkey}};
  ib_send_wr wr;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  EXPECT_EQ(post_one(wr), -EINVAL);
  wr.num_sge = 1;
  EXPECT_EQ(post_one(wr), 0);
  EXPECT_EQ(ib_dereg_mr(large), 0);
}

TEST_F(RvtPostOneWr, NeighboursAreMerged) {
  const std::array<ib_sge, 2> data{sge(100), sge(28, 100)};
  ib_send_wr wr;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  ASSERT_EQ(post(wr), 0);
  EXPECT_EQ(control(qp, 0).num_sge, 1);
  EXPECT_EQ(in_send_slot<hw::Sge>(qp, 0, 32).length, 128u);
  EXPECT_EQ(rvt(qp)->s_wq[0].num_sge, 1);
}

TEST_F(RvtPostOneWr, NumbersCountPacketsAndRequests) {
  const ib_sge data = sge(2049);  // three packets of 1024 bytes
  ASSERT_EQ(post(rdma(IB_WR_RDMA_READ, data).wr), 0);
  ASSERT_EQ(post_send(qp, 1), 0);
  const rvt_swqe& first = rvt(qp)->s_wq[0];
  const rvt_swqe& second = rvt(qp)->s_wq[1];
  EXPECT_EQ(first.psn, 0x200u);
  EXPECT_EQ(first.lpsn, 0x202u);
  EXPECT_EQ(first.ssn, 1u);
  EXPECT_EQ(second.psn, 0x203u);
  EXPECT_EQ(second.lpsn, 0x203u);
  EXPECT_EQ(second.ssn, 2u);
}

TEST_F(RvtPostOneWr, LocalOperationsWithoutAnImplementationAreRefused) {
  rvt_operation_table table = rvt_hca_post_parms;
  table[IB_WR_BIND_MW] = {sizeof(ib_send_wr), 1u << IB_QPT_RC, RVT_OPERATION_LOCAL};
  device->post_parms = table.data();
  ib_send_wr wr;
  wr.opcode = IB_WR_BIND_MW;
  EXPECT_EQ(post(wr), -EINVAL);
  EXPECT_EQ(bad_send, &wr);
}

TEST_F(RvtPostOneWr, LocalOperationsLookForRoomFirst) {
  fill();
  ib_send_wr wr;
  wr.opcode = IB_WR_LOCAL_INV;
  wr.ex.invalidate_rkey = 0xbad;
  EXPECT_EQ(post_one(wr), -ENOMEM);
  ASSERT_TRUE(complete_send(qp, 0));
  EXPECT_EQ(post_one(wr), -EINVAL);
  EXPECT_EQ(rvt(qp)->s_ssn, 5u);
}

TEST_F(RvtPostOneWr, LocalOperationTakesASlotButNoNumber) {
  ib_mr* fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
  ib_reg_wr wr;
  wr.wr.opcode = IB_WR_REG_MR;
  wr.mr = fast;
  wr.key = fast->lkey;
  EXPECT_EQ(post_one(wr.wr), 0);
  EXPECT_EQ(rvt(qp)->s_head, 1u);
  EXPECT_EQ(rvt(qp)->s_ssn, 1u);
  EXPECT_EQ(rvt(qp)->s_next_psn, 0x200u);
  EXPECT_EQ(ib_dereg_mr(fast), 0);
}

TEST_F(RvtPostOneWr, RegionOfAnotherDomainIsNoAccess) {
  ib_pd* foreign = ib_alloc_pd(ibdev);
  ib_mr* fast = ib_alloc_mr(foreign, IB_MR_TYPE_MEM_REG, 1);
  ib_reg_wr wr;
  wr.wr.opcode = IB_WR_REG_MR;
  wr.mr = fast;
  wr.key = fast->lkey;
  EXPECT_EQ(post_one(wr.wr), -EACCES);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
  EXPECT_EQ(ib_dereg_mr(fast), 0);
  EXPECT_EQ(ib_dealloc_pd(foreign), 0);
}

TEST_F(RvtPostOneWr, ReservedOperationTakesNoOrdinarySlot) {
  rvt_operation_table table = rvt_hca_post_parms;
  table[IB_WR_RESERVED1] = {sizeof(ib_rdma_wr), 1u << IB_QPT_RC, RVT_OPERATION_USE_RESERVE};
  device->post_parms = table.data();
  const ib_sge data = sge(64);
  EXPECT_EQ(post_one(rdma(IB_WR_RESERVED1, data).wr), -ENOMEM);  // none is set aside
  device->dparms.reserved_operations = 1;
  EXPECT_EQ(post_one(rdma(IB_WR_RESERVED1, data).wr), 0);
  EXPECT_EQ(rvt(qp)->s_avail, 4u);
  EXPECT_EQ(rvt(qp)->s_wq[0].send_flags, RVT_SEND_RESERVE_USED);
  device->dparms.reserved_operations = 0;
}

class Compat : public SendTest {
 protected:
  Compat() { params.rdmavt_compat = true; }
};

TEST_F(Compat, Quirk1_SendWithInvalidateNeedsLocalWriteAsInRdmavt) {
  ib_mr* read_only = ib_reg_user_mr(pd, buffer, 4096, buffer, 0);
  const ib_sge data{buffer, 64, read_only->lkey};
  ib_send_wr wr;
  wr.opcode = IB_WR_SEND_WITH_INV;
  wr.sg_list = &data;
  wr.num_sge = 1;
  EXPECT_EQ(post(wr), -EINVAL);
  wr.opcode = IB_WR_SEND;
  EXPECT_EQ(post(wr), 0);
  EXPECT_EQ(ib_dereg_mr(read_only), 0);
}

}  // namespace
}  // namespace hcasim::rvt
