// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Conformance cases of the driver layer, by number: posting, flushing and completing.
#include <array>
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class PostingCases : public DriverTest {
 protected:
  static std::vector<std::uint64_t> ids(const std::vector<ib_wc>& wc) {
    std::vector<std::uint64_t> found;
    for (const ib_wc& each : wc) found.push_back(each.wr_id);
    return found;
  }
};

TEST_F(PostingCases, B02_FullCqBringsDownTheQueuePairThatCompletes) {
  ib_cq* small = make_cq(2);
  ib_qp_init_attr attr = init_attr();
  attr.send_cq = small;
  attr.recv_cq = small;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post_send(qp, i), 0);
  ASSERT_TRUE(complete_send(qp, 0));
  ASSERT_TRUE(complete_send(qp, 1));
  ASSERT_FALSE(complete_send(qp, 2));
  host.event(0, hw::EqeType::kCqError, cqn(small));
  host.event(0, hw::EqeType::kQpError, qp->qp_num, 2);
  EXPECT_EQ(cq_seen.events, std::vector{IB_EVENT_CQ_ERR});
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(ids(poll(small)), (std::vector<std::uint64_t>{0, 1}));
  // Polling does not bring it back: the next completion is refused too.
  ib_qp* next = make_qp_in(IB_QPS_RTS, attr);
  ASSERT_EQ(to_state(next, IB_QPS_ERR), 0);
  ASSERT_EQ(post_recv(next, 7), 0);
  EXPECT_TRUE(poll(small).empty());
  EXPECT_EQ(cq_seen.events.size(), 2u);
}

TEST_F(PostingCases, B05_SlotIsReadBeforeItCanBePostedAnew) {
  ib_qp_init_attr attr = init_attr();
  attr.cap.max_send_wr = 1;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(post_send(qp, i), 0);
    ASSERT_TRUE(complete_send(qp, static_cast<std::uint32_t>(i % 2)));
    ASSERT_EQ(post_send(qp, 100 + i, 0), 0);  // takes the freed slot before anybody has polled
    const auto wc = poll();
    ASSERT_EQ(ids(wc), std::vector{i});
    ASSERT_TRUE(complete_send(qp, static_cast<std::uint32_t>((i + 1) % 2)));
    ASSERT_EQ(ids(poll()), std::vector{100 + i});
    // Two posts a round keep the slot of the round's first post at 0, so step once more.
    ASSERT_EQ(post_send(qp, 200), 0);
    ASSERT_TRUE(complete_send(qp, static_cast<std::uint32_t>(i % 2)));
    ASSERT_EQ(poll().size(), 1u);
  }
}

TEST_F(PostingCases, B28_UnsupportedOpcodeIsRejectedAtThePost) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ib_send_wr wr;
  wr.opcode = IB_WR_BIND_MW;
  EXPECT_EQ(ib_post_send(qp, &wr, &bad_send), -EINVAL);
  EXPECT_EQ(bad_send, &wr);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
}

TEST_F(PostingCases, B32_EveryPendingSendFlushesWithAnErrorSignaledOrNot) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  ASSERT_EQ(post_send(qp, 2, 0), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  ASSERT_TRUE(complete_send(qp, 0, hw::WcStatus::kWrFlushErr));
  ASSERT_TRUE(complete_send(qp, 1, hw::WcStatus::kWrFlushErr));
  const auto wc = poll();
  ASSERT_EQ(ids(wc), (std::vector<std::uint64_t>{1, 2}));
  for (const ib_wc& each : wc) EXPECT_EQ(each.status, IB_WC_WR_FLUSH_ERR);
}

TEST_F(PostingCases, B43_CompletionAfterArmingIsNeverLost) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  // The doorbell names the completions that were there: the adapter fires for the next one even if
  // it has written that before the doorbell arrives.
  EXPECT_EQ(host.rung(hw::bar::kCqArmDoorbell).back().index, 1u);
  ASSERT_EQ(post_recv(qp, 2), 0);
  ASSERT_TRUE(complete_recv(qp, 2));
  host.notify(cqn(cq));
  EXPECT_EQ(cq_seen.completions, 1);
}

TEST_F(PostingCases, B44_SendNumbersPassTheWrap) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  ib_qp_attr attr = path();
  attr.qp_state = IB_QPS_RTS;
  attr.sq_psn = 0xff'fff0;
  ASSERT_EQ(ib_modify_qp(qp, &attr, kRtsMask), 0);
  for (std::uint32_t i = 0; i < 64; ++i) {
    ASSERT_EQ(post_send(qp, i), 0);
    ASSERT_TRUE(complete_send(qp, i % 5));
    ASSERT_EQ(poll().size(), 1u);
  }
  ib_qp_init_attr init;
  ib_query_qp(qp, &attr, 0, &init);
  EXPECT_EQ(attr.sq_psn, 0x30u);
}

TEST_F(PostingCases, B53_ErrorInsideAListIsReportedAndTheRestIsNotQueued) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  std::array<ib_send_wr, 3> wr;
  for (std::size_t i = 0; i < 3; ++i) {
    wr[i].wr_id = i + 1;
    wr[i].next = i < 2 ? &wr[i + 1] : nullptr;
  }
  wr[1].opcode = IB_WR_LSO;
  EXPECT_EQ(ib_post_send(qp, wr.data(), &bad_send), -EINVAL);
  EXPECT_EQ(bad_send, &wr[1]);
  EXPECT_EQ(rvt(qp)->s_head, 1u);
  const auto bells = host.rung(hw::bar::kSendDoorbell);
  ASSERT_EQ(bells.size(), 1u);
  EXPECT_EQ(bells[0].index, 1u);
}

TEST_F(PostingCases, B55_FlushCompletionHasTheOpcodeOfItsRequest) {
  ib_qp* qp = make_qp_in(IB_QPS_ERR);
  ib_rdma_wr wr;
  wr.wr.opcode = IB_WR_RDMA_WRITE;
  ASSERT_EQ(ib_post_send(qp, &wr.wr, nullptr), 0);
  ASSERT_TRUE(complete_send(qp, 0, hw::WcStatus::kWrFlushErr));
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].opcode, IB_WC_RDMA_WRITE);
  EXPECT_EQ(wc[0].status, IB_WC_WR_FLUSH_ERR);
}

TEST_F(PostingCases, B56_B70_DrainMarkersAreAcceptedThoughTheRingWasFull) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  ASSERT_EQ(post_recv(qp, 99), 0);
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2, 3, 4, 99}));
  ASSERT_EQ(post_send(qp, 98), 0);
  EXPECT_EQ(host.rung(hw::bar::kSendDoorbell).back().index, 1u);
}

TEST_F(PostingCases, B67_B94_ReceivesPostedLongAfterTheFlushFlushToo) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  host.settle();
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_EQ(post_recv(qp, i), 0);
    const auto wc = poll();
    ASSERT_EQ(ids(wc), std::vector{i});
    EXPECT_EQ(wc[0].status, IB_WC_WR_FLUSH_ERR);
  }
}

TEST_F(PostingCases, B68_OverflowCountsTheExactlyFullRing) {
  ib_cq* small = make_cq(3);
  ib_wc wc;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(small), wc, false));
  EXPECT_FALSE(rvt_cq_enter(ibcq_to_rvtcq(small), wc, false));
  EXPECT_EQ(poll(small).size(), 3u);
}

TEST_F(PostingCases, B74_ARequestIsRejectedOrAcceptedNeverBoth) {
  ib_qp* qp = make_qp_in(IB_QPS_ERR);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_send(qp, i), 0);
  EXPECT_EQ(post_send(qp, 4), -ENOMEM);
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    ASSERT_TRUE(complete_send(qp, slot, hw::WcStatus::kWrFlushErr));
  }
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(PostingCases, B76_LengthIsTheTrueSumAndHasALimit) {
  const std::uint64_t huge = 0x8000'0000;
  // The region is never touched by the post, so it need not exist in memory.
  ib_mr* wide = ib_reg_user_mr(pd, buffer, huge, buffer, 0);
  ASSERT_FALSE(IS_ERR(wide));
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  std::array<ib_sge, 2> data{ib_sge{buffer, 0x8000'0000, wide->lkey},
                             ib_sge{buffer, 0x8000'0000, wide->lkey}};
  ib_send_wr wr;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  EXPECT_EQ(ib_post_send(qp, &wr, nullptr), -EINVAL);  // 2^32 in 32 bits would be 0
  data[0].length = 1;
  EXPECT_EQ(ib_post_send(qp, &wr, nullptr), -EINVAL);
  wr.num_sge = 1;
  wr.sg_list = &data[1];
  EXPECT_EQ(ib_post_send(qp, &wr, nullptr), 0);
  EXPECT_EQ(control(qp, 0).length, 0x8000'0000u);
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(ib_dereg_mr(wide), 0);
}

TEST_F(PostingCases, B77_WrappedSlotHoldsNothingOfTheFormerRequest) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const ib_sge data = sge(64);
  for (std::uint32_t i = 0; i < 5; ++i) {
    ib_rdma_wr wr;
    wr.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
    wr.wr.ex.imm_data = 0xffff'ffff;
    wr.wr.sg_list = &data;
    wr.wr.num_sge = 1;
    wr.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE | IB_SEND_SOLICITED;
    wr.remote_addr = ~0ull;
    wr.rkey = ~0u;
    ASSERT_EQ(ib_post_send(qp, &wr.wr, nullptr), 0);
    ASSERT_TRUE(complete_send(qp, i));
    ASSERT_EQ(poll().size(), 1u);
  }
  ib_send_wr plain;
  ASSERT_EQ(ib_post_send(qp, &plain, nullptr), 0);
  EXPECT_EQ(control(qp, 0).opcode, hw::WrOpcode::kSend);
  EXPECT_EQ(control(qp, 0).flags, 0);
  EXPECT_EQ(control(qp, 0).num_sge, 0);
  EXPECT_EQ(control(qp, 0).imm_or_key, 0u);
  EXPECT_EQ(in_send_slot<hw::SendWqeRemote>(qp, 0, 16).addr, 0u);
  EXPECT_EQ(in_send_slot<hw::Sge>(qp, 0, 32).addr, 0u);
}

TEST_F(PostingCases, B83_CauseComesBeforeTheFlushes) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(post_send(qp, i), 0);
  ASSERT_TRUE(complete_send(qp, 0, hw::WcStatus::kRemAccessErr));
  host.event(0, hw::EqeType::kQpError, qp->qp_num, 10);
  ASSERT_TRUE(complete_send(qp, 1, hw::WcStatus::kWrFlushErr));
  ASSERT_TRUE(complete_send(qp, 2, hw::WcStatus::kWrFlushErr));
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 3u);
  EXPECT_EQ(wc[0].status, IB_WC_REM_ACCESS_ERR);
  EXPECT_EQ(wc[1].status, IB_WC_WR_FLUSH_ERR);
  EXPECT_EQ(wc[2].status, IB_WC_WR_FLUSH_ERR);
}

TEST_F(PostingCases, B85_DestroyWithWorkOutstandingCompletesNothing) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(post_send(qp, i), 0);
    ASSERT_EQ(post_recv(qp, 10 + i), 0);
  }
  ASSERT_TRUE(complete_recv(qp, 11));
  const std::uint32_t qpn = qp->qp_num;
  destroy(qp);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{11});  // was there before
  hw::Cqe late{};
  late.qpn = qpn;
  ASSERT_TRUE(host.complete(cqn(cq), late));
  EXPECT_TRUE(poll().empty());
}

TEST_F(PostingCases, B89_RequestIdentifiersAreOpaque) {
  ib_qp* first = make_qp_in(IB_QPS_RTS);
  ib_qp* second = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(first, ~0ull), 0);
  ASSERT_EQ(post_send(second, 0x8000'0000'0000'0001), 0);
  ASSERT_TRUE(complete_send(second, 0));
  ASSERT_TRUE(complete_send(first, 0));
  const auto wc = poll();
  ASSERT_EQ(ids(wc), (std::vector<std::uint64_t>{0x8000'0000'0000'0001, ~0ull}));
  EXPECT_EQ(wc[0].qp, second);
  EXPECT_EQ(wc[1].qp, first);
}

// --- Hazards
// ----------------------------------------------------------------------------------------

TEST_F(PostingCases, H1_H2_Quirk4_Quirk7_ReceivesDoNotSurviveAReset) {
  ib_qp_init_attr attr = init_attr();
  attr.cap.max_recv_wr = 32;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_TRUE(complete_recv(qp, 0));
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(poll().size(), 32u);
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_INIT), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_RTR), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 0u);
  hw::TailRecord record;
  host.read(rvt(qp)->r_rq.tail_record, &record, sizeof record);
  EXPECT_EQ(record.tail, 0u);
}

TEST_F(PostingCases, H4_Quirk10_PostSendInResetNamesTheFirstRequest) {
  for (const ib_qp_state state : {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR}) {
    ib_qp* qp = make_qp_in(state);
    ib_send_wr second;
    ib_send_wr first;
    first.next = &second;
    bad_send = nullptr;
    EXPECT_EQ(ib_post_send(qp, &first, &bad_send), -EINVAL);
    EXPECT_EQ(bad_send, &first);
  }
}

TEST_F(PostingCases, H5_Quirk1_SendWithInvalidateNeedsNoLocalWrite) {
  ib_mr* read_only = ib_reg_user_mr(pd, buffer, 4096, buffer, 0);
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const ib_sge data{buffer, 64, read_only->lkey};
  ib_send_wr wr;
  wr.opcode = IB_WR_SEND_WITH_INV;
  wr.ex.invalidate_rkey = 0x1234;
  wr.sg_list = &data;
  wr.num_sge = 1;
  EXPECT_EQ(ib_post_send(qp, &wr, nullptr), 0);
  EXPECT_EQ(control(qp, 0).imm_or_key, 0x1234u);
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(ib_dereg_mr(read_only), 0);
}

TEST_F(PostingCases, H12_Quirk13_RefusedRequestBurnsNoSequenceNumber) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const ib_sge bad{buffer, 64, 0xbad};
  ib_send_wr wr;
  wr.sg_list = &bad;
  wr.num_sge = 1;
  EXPECT_EQ(ib_post_send(qp, &wr, nullptr), -EINVAL);
  EXPECT_EQ(rvt(qp)->s_ssn, 1u);
  EXPECT_EQ(rvt(qp)->s_next_psn, 0x200u);
  EXPECT_EQ(rvt(qp)->s_avail, 4u);
}

}  // namespace
}  // namespace hcasim::rvt
