// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Address handles, and sends of UD queue pairs.
#include <cerrno>
#include <cstring>

#include "driver/cq_internal.hpp"
#include "driver/event_queue.hpp"
#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class DatagramTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ah = rdma_create_ah(pd, &attr);
    ASSERT_FALSE(IS_ERR(ah));
    ib_qp_init_attr init = init_attr();
    init.qp_type = IB_QPT_UD;
    qp = make_qp(init);
    ib_qp_attr to{};
    to.qp_state = IB_QPS_INIT;
    to.port_num = 1;
    to.qkey = 0x123;
    ASSERT_EQ(ib_modify_qp(qp, &to, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY), 0);
    to.qp_state = IB_QPS_RTR;
    ASSERT_EQ(ib_modify_qp(qp, &to, IB_QP_STATE), 0);
    to.qp_state = IB_QPS_RTS;
    to.sq_psn = 0x45;
    ASSERT_EQ(ib_modify_qp(qp, &to, IB_QP_STATE | IB_QP_SQ_PSN), 0);
  }
  void TearDown() override {
    rdma_destroy_ah(ah);
    DriverTest::TearDown();
  }
  ib_ud_wr datagram(const ib_sge& data) {
    ib_ud_wr wr;
    wr.wr.sg_list = &data;
    wr.wr.num_sge = 1;
    wr.ah = ah;
    wr.remote_qpn = 0x77;
    wr.remote_qkey = 0x8000'0001;
    return wr;
  }
  int post(const ib_ud_wr& wr) { return ib_post_send(qp, &wr.wr, nullptr); }

  rdma_ah_attr attr = path().ah_attr;
  ib_ah* ah = nullptr;
  ib_qp* qp = nullptr;
};

TEST_F(DatagramTest, TheWqeSaysWhereItGoes) {
  const ib_sge data = sge(100);
  ASSERT_EQ(post(datagram(data)), 0);
  const auto to = in_send_slot<hw::SendWqeDatagram>(qp, 0, hw::kSendWqeDatagramOffset);
  EXPECT_EQ(to.remote_qpn, 0x77u);
  EXPECT_EQ(to.remote_qkey, 0x8000'0001u);
  EXPECT_EQ(to.av.dgid, attr.grh.dgid.raw);
  EXPECT_EQ(to.av.dmac, attr.roce.dmac);
  EXPECT_EQ(to.av.hop_limit, attr.grh.hop_limit);
  EXPECT_EQ(in_send_slot<hw::Sge>(qp, 0, 96).length, 100u);
  EXPECT_EQ(control(qp, 0).length, 100u);
  EXPECT_EQ(rvt(qp)->s_next_psn, 0x46u);
}

TEST_F(DatagramTest, InlineDataLiesBehindThePath) {
  const std::uint32_t word = 0xdead'beef;
  host.write(buffer, &word, sizeof word);
  const ib_sge data = sge(4);
  ib_ud_wr wr = datagram(data);
  wr.wr.send_flags = IB_SEND_INLINE | IB_SEND_SIGNALED;
  ASSERT_EQ(post(wr), 0);
  EXPECT_EQ(in_send_slot<std::uint32_t>(qp, 0, 96), word);
}

TEST_F(DatagramTest, RefusesWhatCannotBeSent) {
  const ib_sge data = sge(100);
  ib_ud_wr wr = datagram(data);
  wr.wr.opcode = IB_WR_RDMA_WRITE;
  EXPECT_EQ(post(wr), -EINVAL);
  wr = datagram(data);
  wr.ah = nullptr;
  EXPECT_EQ(post(wr), -EINVAL);
  ib_pd* other = ib_alloc_pd(pd->device);
  ib_ah* foreign = rdma_create_ah(other, &attr);
  wr.ah = foreign;
  EXPECT_EQ(post(wr), -EINVAL);
  rdma_destroy_ah(foreign);
  EXPECT_EQ(ib_dealloc_pd(other), 0);
  const ib_sge too_long = sge(host.limits.max_mtu + 1);
  EXPECT_EQ(post(datagram(too_long)), -EINVAL);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
}

TEST_F(DatagramTest, CompletionsTellOfTheSender) {
  const rvt_dev_info* rdi = rvt(qp)->rdi;
  hw::Cqe cqe{};
  cqe.qpn = qp->qp_num;
  cqe.opcode = hw::WcOpcode::kRecv;
  cqe.src_qp = 0x99;
  cqe.byte_len = 140;
  cqe.pkey_index = 3;
  cqe.flags = hw::kCqeGrh;
  ib_wc wc;
  ASSERT_TRUE(rvt_translate_cqe(ibcq_to_rvtcq(cq), cqe, &wc));
  EXPECT_EQ(wc.src_qp, 0x99u);
  EXPECT_EQ(wc.wc_flags, IB_WC_GRH);
  EXPECT_EQ(wc.pkey_index, 3);
  EXPECT_EQ(wc.slid, 0);
  EXPECT_EQ(wc.byte_len, 140u);
  EXPECT_EQ(rdi->stats.stray_completions, 0u);
}

TEST_F(DatagramTest, AFailedSendLeavesTheReceiveQueueAlone) {
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kQpSendError;
  eqe.number = qp->qp_num;
  rvt_handle_event(rvt(qp)->rdi, eqe);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_SQE);
  EXPECT_EQ(post_recv(qp, 1), 0);
  ib_qp_attr to{};
  to.qp_state = IB_QPS_RTS;
  EXPECT_EQ(ib_modify_qp(qp, &to, IB_QP_STATE), 0);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RTS);
}

TEST_F(DatagramTest, HandlesAreCheckedAndCounted) {
  rdma_ah_attr found;
  EXPECT_EQ(rdma_query_ah(ah, &found), 0);
  EXPECT_EQ(found.grh.dgid.raw, attr.grh.dgid.raw);
  rdma_ah_attr wrong = attr;
  wrong.port_num = 2;
  EXPECT_EQ(PTR_ERR(rdma_create_ah(pd, &wrong)), -EINVAL);
  EXPECT_EQ(rdma_modify_ah(ah, &wrong), -EINVAL);
  rdma_ah_attr other = attr;
  other.grh.hop_limit = 3;
  EXPECT_EQ(rdma_modify_ah(ah, &other), 0);
  EXPECT_EQ(rdma_query_ah(ah, &found), 0);
  EXPECT_EQ(found.grh.hop_limit, 3);
  EXPECT_EQ(ib_dealloc_pd(pd), -EBUSY);
  pd->device->attrs.max_ah = 1;
  EXPECT_EQ(PTR_ERR(rdma_create_ah(pd, &attr)), -ENOMEM);
}

}  // namespace
}  // namespace hcasim::rvt
