// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_ruc_loopback: local operations, rdmavt's side of the quirks, time.
#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

// --- Local operations
// -----------------------------------------------------------------------------

class LocalOperations : public RvtRucLoopback {
 protected:
  void SetUp() override {
    RvtRucLoopback::SetUp();
    connect();
    fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);
    const scatterlist pages[] = {{buffer + 12288, 4096}, {buffer + 4096, 4096}};
    ASSERT_EQ(ib_map_mr_sg(fast, pages, 2, nullptr, 4096), 2);
    register_region(kAllRights);
  }
  void TearDown() override {
    EXPECT_EQ(ib_dereg_mr(fast), 0);
    RvtRucLoopback::TearDown();
  }
  void register_region(std::uint32_t access) {
    ib_reg_wr wr;
    wr.wr.opcode = IB_WR_REG_MR;
    wr.wr.wr_id = 100;
    wr.wr.send_flags = IB_SEND_SIGNALED;
    wr.mr = fast;
    wr.key = fast->rkey + 1;
    wr.access = access;
    ASSERT_EQ(ib_post_send(a, &wr.wr, &bad_send), 0);
    ASSERT_EQ(done(), (Dones{{a, 100, IB_WC_SUCCESS}}));
  }
  ib_mr* fast = nullptr;
};

TEST_F(LocalOperations, FastRegisteredRegionIsReachedPageByPage) {
  fill(0, 1, 512);
  Request request{.opcode = IB_WR_RDMA_WRITE, .length = 512, .rkey = fast->rkey};
  request.remote = fast->iova + 4096 - 100 - buffer;
  ASSERT_EQ(post(a, request), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  auto got = bytes_at(12288 + 4096 - 100, 100);
  const auto rest = bytes_at(4096, 412);
  got.insert(got.end(), rest.begin(), rest.end());
  EXPECT_EQ(got, bytes_at(0, 512));
}

TEST_F(LocalOperations, LocalInvTakesTheKeyAway) {
  ASSERT_EQ(post(a, {.opcode = IB_WR_LOCAL_INV, .wr_id = 2, .value = fast->rkey}), 0);
  const auto wcs = poll();
  EXPECT_EQ(wcs.at(0).opcode, IB_WC_LOCAL_INV);
  EXPECT_EQ(wcs.at(0).status, IB_WC_SUCCESS);
  Request request{.opcode = IB_WR_RDMA_WRITE, .rkey = fast->rkey};
  request.remote = fast->iova - buffer;
  ASSERT_EQ(post(a, request), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_REM_ACCESS_ERR}}));
}

TEST_F(LocalOperations, Quirk16_FailedFencedLocalInvEndsTheQueuePair) {
  const Request fenced{.opcode = IB_WR_LOCAL_INV,
                       .wr_id = 2,
                       .flags = IB_SEND_FENCE | IB_SEND_SIGNALED,
                       .value = 0xbad00};
  ASSERT_EQ(post(a, fenced), 0);
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_LOC_PROT_ERR}}));
  expect_states(IB_QPS_ERR, IB_QPS_RTS);
  EXPECT_EQ(rvt(a)->local_ops_pending, 0u);
}

TEST_F(LocalOperations, FencedLocalInvIsCarriedOutByTheEngine) {
  static bool valid_at_post = false;
  device->driver_f.do_send = [](rvt_qp* qp) {
    valid_at_post = qp->local_ops_pending == 1;
    rvt_ruc_loopback(qp);
  };
  const Request fenced{.opcode = IB_WR_LOCAL_INV,
                       .wr_id = 2,
                       .flags = IB_SEND_FENCE | IB_SEND_SIGNALED,
                       .value = fast->rkey};
  ASSERT_EQ(post(a, fenced), 0);
  EXPECT_TRUE(valid_at_post);
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_SUCCESS}}));
  EXPECT_TRUE(to_imr(fast)->mr.lkey_invalid);
}

TEST_F(LocalOperations, SendWithInvTakesTheRespondersKey) {
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_SEND_WITH_INV, .value = fast->rkey}), 0);
  const ib_wc wc = poll().at(0);
  EXPECT_EQ(wc.wc_flags, IB_WC_WITH_INVALIDATE);
  EXPECT_EQ(wc.ex.invalidate_rkey, fast->rkey);
  EXPECT_TRUE(to_imr(fast)->mr.lkey_invalid);
}

TEST_F(LocalOperations, SendWithInvOfAForeignKeyIsAPlainSend) {
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_SEND_WITH_INV, .value = 0xbad00}), 0);
  const auto wcs = poll();
  EXPECT_EQ(wcs.at(0).wc_flags, 0u);
  EXPECT_EQ(wcs.at(0).status, IB_WC_SUCCESS);
  EXPECT_EQ(wcs.at(1).status, IB_WC_SUCCESS);
}

TEST_F(LocalOperations, SendWithInvThatIsRefusedLeavesTheKey) {
  ASSERT_EQ(post_recv_at(b, 7, 8192, 10), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_SEND_WITH_INV, .value = fast->rkey}), 0);
  EXPECT_FALSE(to_imr(fast)->mr.lkey_invalid);
}

TEST_F(LocalOperations, ElementWhoseRegionHasShrunkIsALocalFault) {
  device->driver_f.do_send = [](rvt_qp*) {};
  ib_send_wr wr;
  const ib_sge data{fast->iova + 4096, 64, fast->lkey};
  wr.wr_id = 2;
  wr.sg_list = &data;
  wr.num_sge = 1;
  ASSERT_EQ(ib_post_send(a, &wr, &bad_send), 0);
  to_imr(fast)->mr.length = 4096;
  rvt_ruc_loopback(rvt(a));
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_LOC_PROT_ERR}}));
  EXPECT_EQ(rvt(a)->state, IB_QPS_ERR);
}

TEST_F(LocalOperations, UnknownOperationIsALocalOperationError) {
  device->driver_f.do_send = [](rvt_qp*) {};
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  rvt(a)->s_wq[rvt(a)->s_last].opcode = IB_WR_LSO;
  rvt_ruc_loopback(rvt(a));
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_LOC_QP_OP_ERR}}));
  expect_states(IB_QPS_ERR, IB_QPS_RTS);
}

// --- rdmavt's side of the quirks
// ------------------------------------------------------------------

class CompatibleLoopback : public CompatibleLoopbackTest {};

TEST_F(CompatibleLoopback, Quirk16_FailedFencedLocalInvGoesOn) {
  connect();
  const Request fenced{.opcode = IB_WR_LOCAL_INV,
                       .wr_id = 2,
                       .flags = IB_SEND_FENCE | IB_SEND_SIGNALED,
                       .value = 0xbad00};
  ASSERT_EQ(post(a, fenced), 0);
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_LOC_PROT_ERR}}));
  EXPECT_EQ(rvt(a)->state, IB_QPS_RTS);
}

TEST_F(CompatibleLoopback, Quirk17_KeyOfAnEmptyReadIsLookedAt) {
  connect();
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_READ, .length = 0, .rkey = 0xbad00}), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_REM_ACCESS_ERR}}));
  EXPECT_TRUE(qp_seen.events.empty());  // as in rdmavt
}

TEST_F(CompatibleLoopback, Quirk18_UcStopsAfterAFailedSend) {
  connect(IB_QPT_UC);
  destroy(b);
  ASSERT_EQ(post_list(a, 3), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  rvt_ruc_loopback(rvt(a));
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_SUCCESS}}));
}

TEST_F(CompatibleLoopback, Quirk19_TooLongSendIsAnOperationErrorOfTheReceiver) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192, 63), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_QP_OP_ERR}, {a, 1, IB_WC_REM_INV_REQ_ERR}}));
}

TEST_F(CompatibleLoopback, Quirk26_ResponderNeedNotPointBack) {
  connect();
  rvt(b)->remote_qpn = 0x4712;
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 2u);
  EXPECT_EQ(wcs[0].src_qp, 0x4712u);
}

// --- Time
// -----------------------------------------------------------------------------------------

class LoopbackTime : public LoopbackTest {
 protected:
  LoopbackTime() : LoopbackTest(rate()) {}
  static rvt_driver_params rate() {
    rvt_driver_params params;
    params.copy_gb_per_s = 10;  // 100 ps a byte
    return params;
  }
};

TEST_F(LoopbackTime, PosterPaysForTheCopyOfASendAlone) {
  connect();
  const hw::Time before = host.charged;
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .length = 1024}), 0);
  EXPECT_EQ(host.charged - before, 102'400);
  EXPECT_EQ(done().size(), 1u);
}

TEST_F(LoopbackTime, TheEngineLetsTheTimePassBeforeEachCopy) {
  connect();
  const ib_sge data = sge(1000);
  ib_rdma_wr second{{}, buffer + 4096, mr->rkey};
  second.wr.opcode = IB_WR_RDMA_WRITE;
  second.wr.wr_id = 2;
  second.wr.sg_list = &data;
  second.wr.num_sge = 1;
  second.wr.send_flags = IB_SEND_SIGNALED;
  ib_rdma_wr first = second;
  first.wr.wr_id = 1;
  first.wr.next = &second.wr;
  const hw::Time posted = host.now();
  ASSERT_EQ(ib_post_send(a, &first.wr, &bad_send), 0);
  host.run(posted + 99'999);
  EXPECT_EQ(done(), Dones{});
  host.run(posted + 100'000);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
  host.run(posted + 199'999);
  EXPECT_EQ(done(), Dones{});
  host.run(posted + 200'000);
  EXPECT_EQ(done(), (Dones{{a, 2, IB_WC_SUCCESS}}));
  EXPECT_EQ(host.charged, 0);
}

TEST_F(LoopbackTime, AnErrorDoesNotWaitForTheCopy) {
  connect();
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .length = 20'000}), 0);
  host.run(host.now() + 1);
  const hw::Time before = host.now();
  ASSERT_EQ(modify(a, IB_QPS_ERR, IB_QP_STATE), 0);
  host.run(before);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_WR_FLUSH_ERR}}));
}

}  // namespace
}  // namespace hcasim::rvt
