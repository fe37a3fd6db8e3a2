// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_post_send, rvt_post_one_wr, rvt_qp_valid_operation, rvt_qp_is_avail: checks, WQE, doorbells.
#include <array>
#include <cerrno>
#include <numeric>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class PostSend : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    qp = make_qp_in(IB_QPS_RTS);
    host.doorbells.clear();
  }
  ib_rdma_wr rdma(ib_wr_opcode opcode, const ib_sge& data) {
    ib_rdma_wr wr;
    wr.wr.opcode = opcode;
    wr.wr.sg_list = &data;
    wr.wr.num_sge = 1;
    wr.remote_addr = 0x1122'3344'5566'7788;
    wr.rkey = 0x99;
    return wr;
  }
  int post(const ib_send_wr& wr) { return ib_post_send(qp, &wr, &bad_send); }

  ib_qp* qp = nullptr;
};

TEST_F(PostSend, WritesTheWqeAndRingsOnce) {
  const std::array<ib_sge, 2> data{sge(100), sge(200, 4096)};
  ib_send_wr wr;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  wr.opcode = IB_WR_SEND_WITH_IMM;
  wr.ex.imm_data = cpu_to_be32(0x0102'0304);
  wr.send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_FENCE;
  ASSERT_EQ(post(wr), 0);
  const hw::SendWqeControl found = control(qp, 0);
  EXPECT_EQ(found.opcode, hw::WrOpcode::kSendWithImm);
  EXPECT_EQ(found.flags, hw::kWqeSignaled | hw::kWqeSolicited | hw::kWqeFence);
  EXPECT_EQ(found.num_sge, 2);
  EXPECT_EQ(found.blocks, 1);
  EXPECT_EQ(found.length, 300u);
  EXPECT_EQ(found.imm_or_key, 0x0102'0304u);
  EXPECT_EQ(found.index, 0u);
  const auto second = in_send_slot<hw::Sge>(qp, 0, 48);
  EXPECT_EQ(second.addr, buffer + 4096);
  EXPECT_EQ(second.length, 200u);
  EXPECT_EQ(second.lkey, mr->lkey);
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kSendDoorbell, qp->qp_num, 1}};
  EXPECT_EQ(host.doorbells, expected);
}

TEST_F(PostSend, RemoteAndAtomicParts) {
  const ib_sge data = sge(64);
  ASSERT_EQ(post(rdma(IB_WR_RDMA_WRITE, data).wr), 0);
  const auto peer = in_send_slot<hw::SendWqeRemote>(qp, 0, hw::kSendWqeRemoteOffset);
  EXPECT_EQ(peer.addr, 0x1122'3344'5566'7788u);
  EXPECT_EQ(peer.rkey, 0x99u);
  const ib_sge result = sge(16);
  ib_atomic_wr atomic;
  atomic.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
  atomic.wr.sg_list = &result;
  atomic.wr.num_sge = 1;
  atomic.remote_addr = 0x1000;
  atomic.compare_add = 5;
  atomic.swap = 6;
  atomic.rkey = 7;
  ASSERT_EQ(post(atomic.wr), 0);
  EXPECT_EQ(control(qp, 1).length, 8u);
  EXPECT_EQ(in_send_slot<hw::SendWqeRemote>(qp, 1, 16).rkey, 7u);
  const auto operands = in_send_slot<hw::SendWqeAtomic>(qp, 1, hw::kSendWqeAtomicOffset);
  EXPECT_EQ(operands.compare_add, 5u);
  EXPECT_EQ(operands.swap, 6u);
  const auto element = in_send_slot<hw::Sge>(qp, 1, 48);
  EXPECT_EQ(element.addr, result.addr);
  EXPECT_EQ(element.length, 8u);
}

TEST_F(PostSend, InlineDataIsCopied) {
  std::array<std::uint8_t, 64> bytes;
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  host.write(buffer, bytes.data(), bytes.size());
  const std::array<ib_sge, 2> data{ib_sge{buffer, 40, 0xdead}, ib_sge{buffer + 40, 24, 0xdead}};
  ib_send_wr wr;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  wr.send_flags = IB_SEND_INLINE;
  ASSERT_EQ(post(wr), 0);
  const hw::SendWqeControl found = control(qp, 0);
  EXPECT_EQ(found.num_sge, 0);
  EXPECT_EQ(found.length, 64u);
  EXPECT_EQ(found.flags, hw::kWqeInline);
  EXPECT_EQ(found.blocks, 2);
  EXPECT_EQ((in_send_slot<std::array<std::uint8_t, 64>>(qp, 0, 32)), bytes);
}

TEST_F(PostSend, InlineHasALimitAndNoReads) {
  const ib_sge data = sge(65);
  ib_send_wr wr;
  wr.sg_list = &data;
  wr.num_sge = 1;
  wr.send_flags = IB_SEND_INLINE;
  EXPECT_EQ(post(wr), -EINVAL);
  const ib_sge small = sge(8);
  ib_rdma_wr read = rdma(IB_WR_RDMA_READ, small);
  read.wr.send_flags = IB_SEND_INLINE;
  EXPECT_EQ(post(read.wr), -EINVAL);
  EXPECT_TRUE(host.doorbells.empty());
}

TEST_F(PostSend, StatesThatRefuse) {
  for (const ib_qp_state state : {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR}) {
    ib_qp* other = make_qp_in(state);
    EXPECT_EQ(post_send(other, 1), -EINVAL);
  }
  for (const ib_qp_state state : {IB_QPS_SQD, IB_QPS_ERR}) {
    ib_qp* other = make_qp_in(IB_QPS_RTS);
    ASSERT_EQ(to_state(other, state), 0);
    EXPECT_EQ(post_send(other, 1), 0);
  }
}

TEST_F(PostSend, NumberOfElementsIsCheckedFirst) {
  ib_send_wr wr;
  wr.opcode = IB_WR_BIND_MW;
  wr.num_sge = 3;
  EXPECT_EQ(post(wr), -EINVAL);
  wr.opcode = IB_WR_SEND;
  wr.num_sge = -1;  // rdmavt takes it for 0
  EXPECT_EQ(post(wr), -EINVAL);
  wr.num_sge = 0;
  EXPECT_EQ(post(wr), 0);
  EXPECT_EQ(control(qp, 0).length, 0u);
}

TEST_F(PostSend, ElementsAreChecked) {
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

TEST_F(PostSend, NeighboursAreMerged) {
  const std::array<ib_sge, 2> data{sge(100), sge(28, 100)};
  ib_send_wr wr;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  ASSERT_EQ(post(wr), 0);
  EXPECT_EQ(control(qp, 0).num_sge, 1);
  EXPECT_EQ(in_send_slot<hw::Sge>(qp, 0, 32).length, 128u);
  EXPECT_EQ(rvt(qp)->s_wq[0].num_sge, 1);
}

TEST_F(PostSend, ExactlyMaxSendWrFit) {
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_send(qp, i), 0);
  EXPECT_EQ(post_send(qp, 4), -ENOMEM);
  // Completed by the adapter, though nobody has polled: the slots are free.
  for (std::uint32_t slot = 0; slot < 2; ++slot) ASSERT_TRUE(complete_send(qp, slot));
  EXPECT_EQ(post_send(qp, 4), 0);
  EXPECT_EQ(post_send(qp, 5), 0);
  EXPECT_EQ(post_send(qp, 6), -ENOMEM);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 2u);
  EXPECT_EQ(wc[0].wr_id, 0u);
  EXPECT_EQ(wc[1].wr_id, 1u);
}

TEST_F(PostSend, RingWrapsAndRewritesEveryField) {
  for (std::uint32_t i = 0; i < 23; ++i) {
    ASSERT_EQ(post_send(qp, 100 + i), 0);
    EXPECT_EQ(control(qp, i % 5).index, i % 5);
    ASSERT_TRUE(complete_send(qp, i % 5));
    const auto wc = poll();
    ASSERT_EQ(wc.size(), 1u);
    EXPECT_EQ(wc[0].wr_id, 100 + i);
    EXPECT_EQ(wc[0].byte_len, 64u);
    EXPECT_EQ(wc[0].opcode, IB_WC_SEND);
  }
  EXPECT_EQ(host.rung(hw::bar::kSendDoorbell).back().index, 23u % 5);
}

TEST_F(PostSend, AllWrSignalsEverything) {
  ib_qp_init_attr attr = init_attr();
  attr.sq_sig_type = IB_SIGNAL_ALL_WR;
  ib_qp* all = make_qp_in(IB_QPS_RTS, attr);
  ASSERT_EQ(post_send(all, 1, 0), 0);
  EXPECT_EQ(control(all, 0).flags, hw::kWqeSignaled);
  ASSERT_EQ(post_send(qp, 1, 0), 0);
  EXPECT_EQ(control(qp, 0).flags, 0);
}

TEST_F(PostSend, NumbersCountPacketsAndRequests) {
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

TEST_F(PostSend, CostsAreChargedPerRequest) {
  device->dparms.costs.post_send = 30;
  const hw::Time before = host.charged;
  ASSERT_EQ(post_send(qp, 1), 0);
  EXPECT_EQ(host.charged - before, 30);
}

// --- rvt_qp_valid_operation
// -------------------------------------------------------------------------

TEST_F(PostSend, ValidOperationFollowsTheTable) {
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

TEST_F(PostSend, ValidOperationOfAtomics) {
  ib_sge data = sge(8);
  ib_atomic_wr wr;
  wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
  wr.wr.sg_list = &data;
  const auto valid = [&] {
    return rvt_qp_valid_operation(rvt(qp), rvt_hca_post_parms.data(), &wr.wr);
  };
  EXPECT_EQ(valid(), -EINVAL);  // no element
  wr.wr.num_sge = 1;
  EXPECT_EQ(valid(), static_cast<int>(sizeof(ib_atomic_wr)));
  data.length = 7;
  EXPECT_EQ(valid(), -EINVAL);
  data = sge(8, 4);
  EXPECT_EQ(valid(), -EINVAL);  // not aligned
  data = sge(8);
  rvt(qp)->s_max_rd_atomic = 0;
  EXPECT_EQ(valid(), -EINVAL);
  wr.wr.opcode = IB_WR_RDMA_READ;
  EXPECT_EQ(valid(), -EINVAL);
}

TEST_F(PostSend, ValidOperationOfDatagramsLooksAtTheHandle) {
  rvt_operation_table table = rvt_hca_post_parms;
  table[IB_WR_SEND].qpt_support |= 1u << IB_QPT_UD;
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_UD;
  ib_qp* ud = make_qp(attr);
  ib_ah handle;
  ib_ud_wr wr;
  wr.ah = &handle;
  EXPECT_EQ(rvt_qp_valid_operation(rvt(ud), table.data(), &wr.wr), -EINVAL);
  handle.pd = pd;
  EXPECT_EQ(rvt_qp_valid_operation(rvt(ud), table.data(), &wr.wr),
            static_cast<int>(sizeof(ib_ud_wr)));
}

TEST_F(PostSend, LocalOperationsWithoutAnImplementationAreRefused) {
  rvt_operation_table table = rvt_hca_post_parms;
  table[IB_WR_BIND_MW] = {sizeof(ib_send_wr), 1u << IB_QPT_RC, RVT_OPERATION_LOCAL};
  device->post_parms = table.data();
  ib_send_wr wr;
  wr.opcode = IB_WR_BIND_MW;
  EXPECT_EQ(post(wr), -EINVAL);
  EXPECT_EQ(bad_send, &wr);
}

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

// --- Reserved slots
// ---------------------------------------------------------------------------------

class Reserved : public PostSend {
 protected:
  Reserved() { params.reserved_operations = 1; }
};

TEST_F(Reserved, SlotsAreSetAsideAndCompleteSilently) {
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

// --- Compatibility
// ----------------------------------------------------------------------------------

class Compat : public PostSend {
 protected:
  Compat() { params.rdmavt_compat = true; }
};

TEST_F(Compat, SendWithInvalidateNeedsLocalWriteAsInRdmavt) {
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
