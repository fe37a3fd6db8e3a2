// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_post_send: states, lists, WQEs, doorbells.
#include <array>
#include <cerrno>
#include <numeric>

#include "unit/driver/send_fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtPostSend = SendTest;

TEST_F(RvtPostSend, WritesTheWqeAndRingsOnce) {
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

TEST_F(RvtPostSend, RemoteAndAtomicParts) {
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

TEST_F(RvtPostSend, InlineDataIsCopied) {
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

TEST_F(RvtPostSend, InlineHasALimitAndNoReads) {
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

TEST_F(RvtPostSend, StatesThatRefuseNameTheFirstRequest) {
  for (const ib_qp_state state : {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR}) {
    ib_qp* other = make_qp_in(state);
    ib_send_wr wr[2];
    wr[0].next = &wr[1];
    wr[0].num_sge = 99;  // not looked at
    EXPECT_EQ(rvt_post_send(other, wr, &bad_send), -EINVAL);
    EXPECT_EQ(bad_send, &wr[0]);
    EXPECT_EQ(rvt(other)->s_head, 0u);
  }
  EXPECT_TRUE(host.rung(hw::bar::kSendDoorbell).empty());
}

TEST_F(RvtPostSend, StatesThatAccept) {
  for (const ib_qp_state state : {IB_QPS_SQD, IB_QPS_ERR, IB_QPS_SQE}) {
    ib_qp* other = make_qp_in(IB_QPS_RTS);
    if (state != IB_QPS_SQE) {
      ASSERT_EQ(to_state(other, state), 0);
    }
    rvt(other)->state = state;
    host.doorbells.clear();
    EXPECT_EQ(post_send(other, 1), 0);
    EXPECT_EQ(host.doorbells.size(), 1u);  // the adapter flushes it, or keeps it
    EXPECT_TRUE(poll().empty());
  }
}

TEST_F(RvtPostSend, PartOfAListStaysPosted) {
  ib_send_wr wr[3];
  wr[0].next = &wr[1];
  wr[1].next = &wr[2];
  wr[1].opcode = IB_WR_BIND_MW;
  EXPECT_EQ(rvt_post_send(qp, wr, &bad_send), -EINVAL);
  EXPECT_EQ(bad_send, &wr[1]);
  EXPECT_EQ(rvt(qp)->s_head, 1u);
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kSendDoorbell, qp->qp_num, 1}};
  EXPECT_EQ(host.doorbells, expected);
}

TEST_F(RvtPostSend, NothingAcceptedRingsNothing) {
  ib_send_wr wr;
  wr.opcode = IB_WR_BIND_MW;
  EXPECT_EQ(rvt_post_send(qp, &wr, &bad_send), -EINVAL);
  EXPECT_TRUE(host.doorbells.empty());
}

TEST_F(RvtPostSend, SuccessDoesNotTouchBadWr) {
  ib_send_wr wr;
  const ib_send_wr* untouched = &wr;
  EXPECT_EQ(rvt_post_send(qp, &wr, &untouched), 0);
  EXPECT_EQ(untouched, &wr);
}

TEST_F(RvtPostSend, ExactlyMaxSendWrFit) {
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

TEST_F(RvtPostSend, RingWrapsAndRewritesEveryField) {
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

TEST_F(RvtPostSend, AllWrSignalsEverything) {
  ib_qp_init_attr attr = init_attr();
  attr.sq_sig_type = IB_SIGNAL_ALL_WR;
  ib_qp* all = make_qp_in(IB_QPS_RTS, attr);
  ASSERT_EQ(post_send(all, 1, 0), 0);
  EXPECT_EQ(control(all, 0).flags, hw::kWqeSignaled);
  ASSERT_EQ(post_send(qp, 1, 0), 0);
  EXPECT_EQ(control(qp, 0).flags, 0);
}

TEST_F(RvtPostSend, CostsAreChargedPerRequest) {
  device->dparms.costs.post_send = 30;
  const hw::Time before = host.charged;
  ASSERT_EQ(post_send(qp, 1), 0);
  EXPECT_EQ(host.charged - before, 30);
}

}  // namespace
}  // namespace hcasim::rvt
