// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_qp_valid_operation, rvt_qp_is_avail, rvt_wc_opcode.
#include <cerrno>
#include <map>

#include "unit/driver/send_fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtQpValidOperation = SendTest;

// Bit 1 << ib_qp_type of the types that have an operation.
const std::map<int, std::uint32_t>& types_of_operations() {
  constexpr std::uint32_t kRc = 1u << IB_QPT_RC;
  constexpr std::uint32_t kConnected = kRc | 1u << IB_QPT_UC;
  constexpr std::uint32_t kAll = kConnected | 1u << IB_QPT_UD | 1u << IB_QPT_SMI | 1u << IB_QPT_GSI;
  static const std::map<int, std::uint32_t> types{{IB_WR_RDMA_WRITE, kConnected},
                                                  {IB_WR_RDMA_WRITE_WITH_IMM, kConnected},
                                                  {IB_WR_RDMA_READ, kRc},
                                                  {IB_WR_ATOMIC_CMP_AND_SWP, kRc},
                                                  {IB_WR_SEND, kAll},
                                                  {IB_WR_ATOMIC_FETCH_AND_ADD, kRc},
                                                  {IB_WR_SEND_WITH_IMM, kAll},
                                                  {IB_WR_SEND_WITH_INV, kRc},
                                                  {IB_WR_REG_MR, kConnected},
                                                  {IB_WR_LOCAL_INV, kConnected}};
  return types;
}

TEST_F(RvtQpValidOperation, EveryOpcodeWithEveryType) {
  ib_ah ah;
  ah.pd = pd;
  const ib_sge data = sge(8);
  for (const ib_qp_type type : {IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD}) {
    ib_qp* other = make_qp(init_attr_of(type));
    rvt(other)->s_max_rd_atomic = 1;
    for (int opcode = 0; opcode <= 0xff; ++opcode) {
      ib_ud_wr wr;
      wr.wr.sg_list = &data;
      wr.wr.num_sge = 1;
      wr.wr.opcode = static_cast<ib_wr_opcode>(opcode);
      wr.ah = &ah;
      const int valid = rvt_qp_valid_operation(rvt(other), rvt_hca_post_parms.data(), &wr.wr);
      const auto known = types_of_operations().find(opcode);
      const bool expected =
          known != types_of_operations().end() && (known->second & 1u << type) != 0;
      EXPECT_EQ(valid > 0, expected) << type << " " << opcode;
      if (!expected) {
        EXPECT_EQ(valid, -EINVAL);
      }
    }
  }
}

TEST_F(RvtQpValidOperation, FollowsTheTable) {
  rvt_operation_table table = rvt_hca_post_parms;
  const ib_sge data = sge(8);
  ib_send_wr wr;
  wr.sg_list = &data;
  wr.num_sge = 1;
  const auto valid = [&] { return rvt_qp_valid_operation(rvt(qp), table.data(), &wr); };
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_send_wr)));
  for (const int unknown : {8, 10, 11, 12, 13, 0x21, 0xf0, 0xf9, 0xfa, 0xff}) {
    wr.opcode = static_cast<ib_wr_opcode>(unknown);
    EXPECT_EQ(valid(), -EINVAL) << unknown;
  }
  wr.opcode = IB_WR_LOCAL_INV;
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_send_wr)));
  wr.opcode = IB_WR_REG_MR;
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_reg_wr)));
  wr.opcode = IB_WR_RDMA_WRITE;
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_rdma_wr)));
  table[IB_WR_RDMA_WRITE].qpt_support = 1u << IB_QPT_UD;
  EXPECT_EQ(valid(), -EINVAL);
  wr.opcode = IB_WR_SEND;
  table[IB_WR_SEND].flags = RVT_OPERATION_PRIV;
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_send_wr)));
  ibpd_to_rvtpd(pd)->user = true;
  EXPECT_EQ(valid(), -EINVAL);
}

TEST_F(RvtQpValidOperation, OfAtomics) {
  ib_sge data = sge(8);
  ib_atomic_wr wr;
  wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
  wr.wr.sg_list = &data;
  const auto valid = [&] {
    return rvt_qp_valid_operation(rvt(qp), rvt_hca_post_parms.data(), &wr.wr);
  };
  EXPECT_EQ(valid(), -EINVAL);  // no element
  wr.wr.num_sge = -1;
  EXPECT_EQ(valid(), -EINVAL);
  wr.wr.num_sge = 1;
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_atomic_wr)));
  data.length = 7;
  EXPECT_EQ(valid(), -EINVAL);
  data.length = 9;  // too long is fine
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_atomic_wr)));
  data = sge(8, 4);
  EXPECT_EQ(valid(), -EINVAL);  // not aligned
  data = sge(8);
  rvt(qp)->s_max_rd_atomic = 0;
  EXPECT_EQ(valid(), -EINVAL);
  wr.wr.opcode = IB_WR_RDMA_READ;
  EXPECT_EQ(valid(), -EINVAL);
}

TEST_F(RvtQpValidOperation, OfDatagramsLooksAtTheHandle) {
  rvt_operation_table table = rvt_hca_post_parms;
  table[IB_WR_SEND].qpt_support |= 1u << IB_QPT_UD;
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_UD;
  ib_qp* ud = make_qp(attr);
  ib_ah handle;
  ib_ud_wr wr;
  wr.ah = &handle;
  EXPECT_EQ(rvt_qp_valid_operation(rvt(ud), table.data(), &wr.wr), -EINVAL);  // another domain
  handle.pd = pd;
  EXPECT_EQ(rvt_qp_valid_operation(rvt(ud), table.data(), &wr.wr),
            static_cast<int>(sizeof(ib_ud_wr)));
}

// --- rvt_qp_is_avail ----------------------------------------------------------------------------

class RvtQpIsAvail : public SendTest {
 protected:
  RvtQpIsAvail() { params.reserved_operations = 1; }
  int available(bool reserved = false) { return rvt_qp_is_avail(rvt(qp), device.get(), reserved); }
};

TEST_F(RvtQpIsAvail, LooksNoFurtherWhileSlotsAreKnownFree) {
  rvt(qp)->s_avail = 1;
  rvt(qp)->s_head = 5;  // the ring is full
  EXPECT_EQ(available(), 0);
  EXPECT_EQ(rvt(qp)->s_avail, 1u);
  rvt(qp)->s_head = 0;
}

TEST_F(RvtQpIsAvail, CountsAnewWhenNoneIsKnown) {
  fill();
  EXPECT_EQ(rvt(qp)->s_avail, 0u);
  EXPECT_EQ(available(), -ENOMEM);
  EXPECT_EQ(rvt(qp)->s_avail, 0u);
  // Completed by the adapter, though nobody has polled.
  for (const std::uint32_t slot : {0u, 1u}) ASSERT_TRUE(complete_send(qp, slot));
  EXPECT_EQ(available(), 0);
  EXPECT_EQ(rvt(qp)->s_avail, 2u);
}

TEST_F(RvtQpIsAvail, CountsRoundTheEndOfTheRing) {
  EXPECT_EQ(rvt(qp)->s_size, 6u);
  rvt(qp)->s_avail = 0;
  rvt(qp)->s_last = 4;
  rvt(qp)->s_head = 1;  // three in use
  EXPECT_EQ(available(), 0);
  EXPECT_EQ(rvt(qp)->s_avail, 1u);
  rvt(qp)->s_avail = 0;
  rvt(qp)->s_head = 2;
  EXPECT_EQ(available(), -ENOMEM);
  rvt(qp)->s_reserved_used = 1;  // one of them is a reserved operation
  EXPECT_EQ(available(), 0);
  EXPECT_EQ(rvt(qp)->s_avail, 1u);
  rvt(qp)->s_last = rvt(qp)->s_head = 0;
}

TEST_F(RvtQpIsAvail, ReservedOperationsLookAtTheirOwnSlotsOnly) {
  fill();
  EXPECT_EQ(available(true), 0);
  rvt(qp)->s_reserved_used = 1;
  EXPECT_EQ(available(true), -ENOMEM);
  ASSERT_TRUE(complete_send(qp, 0));
  EXPECT_EQ(available(true), -ENOMEM);  // though the ring has room
  rvt(qp)->s_reserved_used = 0;
}

TEST_F(RvtQpIsAvail, SlotsAreSetAsideAndCompleteSilently) {
  rvt_operation_table table = rvt_hca_post_parms;
  table[IB_WR_RESERVED1] = {sizeof(ib_rdma_wr), 1u << IB_QPT_RC, RVT_OPERATION_USE_RESERVE};
  device->post_parms = table.data();
  EXPECT_EQ(rvt(qp)->s_size, 6u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_send(qp, i), 0);
  EXPECT_EQ(post_send(qp, 4), -ENOMEM);
  const ib_sge data = sge(64);
  const ib_rdma_wr reserved = rdma(IB_WR_RESERVED1, data);
  EXPECT_EQ(post(reserved.wr), 0);
  EXPECT_EQ(rvt(qp)->s_reserved_used, 1u);
  EXPECT_EQ(post(reserved.wr), -ENOMEM);
  ASSERT_TRUE(complete_send(qp, 4, hw::WcStatus::kWrFlushErr));
  EXPECT_TRUE(poll().empty());
  EXPECT_EQ(rvt(qp)->s_reserved_used, 0u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_send(qp, i), 0);
  EXPECT_EQ(post_send(qp, 4), -ENOMEM);
}

// --- rvt_wc_opcode ------------------------------------------------------------------------------

TEST(WcOpcode, OfEverySendOpcode) {
  EXPECT_EQ(rvt_wc_opcode(IB_WR_RDMA_WRITE), IB_WC_RDMA_WRITE);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_RDMA_WRITE_WITH_IMM), IB_WC_RDMA_WRITE);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_SEND), IB_WC_SEND);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_SEND_WITH_IMM), IB_WC_SEND);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_SEND_WITH_INV), IB_WC_SEND);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_RDMA_READ), IB_WC_RDMA_READ);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_ATOMIC_CMP_AND_SWP), IB_WC_COMP_SWAP);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_ATOMIC_FETCH_AND_ADD), IB_WC_FETCH_ADD);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_LOCAL_INV), IB_WC_LOCAL_INV);
  EXPECT_EQ(rvt_wc_opcode(IB_WR_REG_MR), IB_WC_REG_MR);
}

}  // namespace
}  // namespace hcasim::rvt
