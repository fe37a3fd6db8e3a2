// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_get_rwqe: receives of an own ring, and those of a shared queue, which the adapter hands out.
#include "hcasim/hw/receive_queue_ports.hpp"
#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

class GetRwqeTest : public LoopbackTest {
 protected:
  void SetUp() override {
    LoopbackTest::SetUp();
    connect();
  }
  int get(bool wr_id_only = false) { return rvt_get_rwqe(rvt(b), wr_id_only); }
  bool in_hand() { return (rvt(b)->r_aflags & RVT_R_WRID_VALID) != 0; }
};

using RvtGetRwqe = GetRwqeTest;

TEST_F(RvtGetRwqe, TakesTheOldest) {
  ASSERT_EQ(post_recv_at(b, 7, 100, 50), 0);
  ASSERT_EQ(post_recv_at(b, 8, 300, 60), 0);
  EXPECT_EQ(get(), 1);
  EXPECT_TRUE(in_hand());
  EXPECT_EQ(rvt(b)->r_wr_id, 7u);
  EXPECT_EQ(rvt(b)->r_len, 50u);
  EXPECT_EQ(rvt(b)->r_sge.num_sge, 1u);
  EXPECT_EQ(rvt(b)->r_sge.sge.addr, buffer + 100);
  EXPECT_EQ(get(), 1);
  EXPECT_EQ(rvt(b)->r_wr_id, 8u);
  EXPECT_EQ(rvt(b)->r_rq.tail, 2u);
}

TEST_F(RvtGetRwqe, NoneIsZero) {
  EXPECT_EQ(get(), 0);
  EXPECT_FALSE(in_hand());
  EXPECT_EQ(rvt(b)->r_take, rvt_take::kNone);
}

TEST_F(RvtGetRwqe, StateIsLookedAtFirst) {
  ASSERT_EQ(post_recv_at(b, 7, 100, 50, 0xbad00), 0);
  for (const ib_qp_state state : {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_ERR}) {
    rvt(b)->state = state;
    EXPECT_EQ(get(), 0) << state;
  }
  rvt(b)->state = IB_QPS_RTS;
  EXPECT_EQ(rvt(b)->r_rq.tail, 0u);
  EXPECT_EQ(done(), Dones{});
}

TEST_F(RvtGetRwqe, AFaultyOneIsConsumedAndCompleted) {
  ASSERT_EQ(post_recv_at(b, 7, 100, 50, 0xbad00), 0);
  EXPECT_EQ(get(), -1);
  EXPECT_FALSE(in_hand());
  EXPECT_EQ(rvt(b)->r_rq.tail, 1u);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_PROT_ERR}}));
}

TEST_F(RvtGetRwqe, WrIdOnlyDoesNotLookAtElements) {
  ASSERT_EQ(post_recv_at(b, 7, 100, 50, 0xbad00), 0);
  EXPECT_EQ(get(true), 1);
  EXPECT_EQ(rvt(b)->r_wr_id, 7u);
  EXPECT_EQ(done(), Dones{});
}

TEST_F(RvtGetRwqe, Quirk4_ManyPostedFollowFromTheIndicesEachTime) {
  ib_qp_init_attr attr = init_attr();
  attr.cap.max_recv_wr = 100;
  connect(attr);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(post_recv_at(b, i, 0), 0);
  ASSERT_EQ(get(), 1);
  ASSERT_EQ(modify(b, IB_QPS_RESET, IB_QP_STATE), 0);
  raise_to_rts(b, home(a->qp_num));
  EXPECT_EQ(get(), 0);
}

using GetRvtHead = GetRwqeTest;

TEST_F(GetRvtHead, IsWhereTheNextIsPosted) {
  EXPECT_EQ(get_rvt_head(&rvt(b)->r_rq, nullptr), 0u);
  ASSERT_EQ(post_recv_at(b, 7, 0), 0);
  EXPECT_EQ(get_rvt_head(&rvt(b)->r_rq, nullptr), 1u);
}

using InitSge = GetRwqeTest;

TEST_F(InitSge, SkipsEmptyElementsWhateverTheirKey) {
  rvt_rwqe wqe;
  wqe.num_sge = 2;
  wqe.sg_list[0] = {buffer, 0, 0xbad00};
  wqe.sg_list[1] = {buffer + 8, 16, mr->lkey};
  EXPECT_EQ(init_sge(rvt(b), &wqe), 1);
  EXPECT_EQ(rvt(b)->r_sge.num_sge, 1u);
  EXPECT_EQ(rvt(b)->r_sge.sge.addr, buffer + 8);
  EXPECT_EQ(rvt(b)->r_len, 16u);
}

TEST_F(InitSge, DoesNotMergeNeighbours) {
  rvt_rwqe wqe;
  wqe.num_sge = 2;
  wqe.sg_list[0] = {buffer, 8, mr->lkey};
  wqe.sg_list[1] = {buffer + 8, 16, mr->lkey};
  EXPECT_EQ(init_sge(rvt(b), &wqe), 1);
  EXPECT_EQ(rvt(b)->r_sge.num_sge, 2u);
  EXPECT_EQ(rvt(b)->r_sge.sg_list[0].addr, buffer + 8);
  EXPECT_EQ(rvt(b)->r_sge.total_len, 24u);
}

TEST_F(InitSge, NoElementsHoldNothing) {
  const rvt_rwqe wqe;
  EXPECT_EQ(init_sge(rvt(b), &wqe), 1);
  EXPECT_EQ(rvt(b)->r_len, 0u);
}

TEST_F(InitSge, NeedsTheRightToWrite) {
  to_imr(mr)->mr.access_flags = IB_ACCESS_REMOTE_READ;
  rvt_rwqe wqe;
  wqe.wr_id = 9;
  wqe.num_sge = 1;
  wqe.sg_list[0] = {buffer, 8, mr->lkey};
  EXPECT_EQ(init_sge(rvt(b), &wqe), 0);
  EXPECT_EQ(rvt(b)->r_sge.num_sge, 0u);
  EXPECT_EQ(done(), (Dones{{b, 9, IB_WC_LOC_PROT_ERR}}));
  to_imr(mr)->mr.access_flags = kAllRights;
}

// --- Receives of a shared queue
// -------------------------------------------------------------------

class RvtGetRwqeShared : public LoopbackTest {
 protected:
  void SetUp() override {
    LoopbackTest::SetUp();
    ib_srq_init_attr attr;
    attr.attr = {8, 2, 0};
    srq = ib_create_srq(pd, &attr);
    srqs.push_back(srq);
    shared = init_attr();
    shared.srq = srq;
    connect(shared);
  }
  int post_shared(std::uint64_t wr_id, std::uint32_t key = 0) {
    const ib_sge data{buffer + 8192, 64, key != 0 ? key : mr->lkey};
    ib_recv_wr wr;
    wr.wr_id = wr_id;
    wr.sg_list = &data;
    wr.num_sge = 1;
    return ib_post_srq_recv(srq, &wr, &bad_recv);
  }
  rvt_srq_takes& takes() { return ibsrq_to_rvtsrq(srq)->takes; }
  std::size_t takes_rung() { return host.rung(hw::bar::kTakeDoorbell).size(); }
  /// The adapter's answer comes now.
  void answer() {
    const auto bell = host.rung(hw::bar::kTakeDoorbell).back();
    host.answer_take(bell.number, bell.index);
  }
  void answer_with(hw::rq::TakeStatus status) {
    const auto bell = host.rung(hw::bar::kTakeDoorbell).back();
    host.event(0, hw::EqeType::kTakeGrant, bell.number,
               bell.index << 8 | static_cast<std::uint32_t>(status));
  }
  /// Another pair on the same queue, in place of `a` and `b`.
  std::pair<ib_qp*, ib_qp*> another_pair() {
    const std::pair before(a, b);
    connect(shared);
    const std::pair made(a, b);
    std::tie(a, b) = before;
    return made;
  }

  ib_qp_init_attr shared;
  ib_srq* srq = nullptr;
};

TEST_F(RvtGetRwqeShared, AsksTheAdapterOnceAndSaysSo) {
  ASSERT_EQ(post_shared(7), 0);
  host.answers_takes = false;
  EXPECT_EQ(rvt_get_rwqe(rvt(b), false), 0);
  EXPECT_EQ(rvt(b)->r_take, rvt_take::kWaiting);
  EXPECT_EQ(rvt_get_rwqe(rvt(b), false), 0);
  EXPECT_EQ(takes_rung(), 1u);
  answer();
  EXPECT_EQ(rvt(b)->r_take, rvt_take::kGranted);
  EXPECT_EQ(rvt_get_rwqe(rvt(b), false), 1);
  EXPECT_EQ(rvt(b)->r_wr_id, 7u);
  EXPECT_EQ(rvt(b)->r_len, 64u);
}

TEST_F(RvtGetRwqeShared, EmptyIsToldOnce) {
  host.answers_takes = false;
  EXPECT_EQ(rvt_get_rwqe(rvt(b), false), 0);
  answer();
  EXPECT_EQ(rvt(b)->r_take, rvt_take::kEmpty);
  EXPECT_EQ(rvt_get_rwqe(rvt(b), false), 0);
  EXPECT_EQ(rvt(b)->r_take, rvt_take::kNone);
  EXPECT_EQ(takes_rung(), 1u);
}

TEST_F(RvtGetRwqeShared, AFailedQueueIsAnError) {
  host.answers_takes = false;
  for (const auto status : {hw::rq::TakeStatus::kFlushed, hw::rq::TakeStatus::kBadQueue,
                            hw::rq::TakeStatus::kFetchError}) {
    EXPECT_EQ(rvt_get_rwqe(rvt(b), false), 0);
    answer_with(status);
    EXPECT_EQ(rvt_get_rwqe(rvt(b), false), -1);
  }
}

TEST_F(RvtGetRwqeShared, KeysAreThoseOfTheQueuesDomain) {
  ib_pd* other = ib_alloc_pd(ibdev);
  srq->pd = other;
  ASSERT_EQ(post_shared(7), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_PROT_ERR}, {a, 1, IB_WC_REM_OP_ERR}}));
  srq->pd = pd;
  EXPECT_EQ(ib_dealloc_pd(other), 0);
}

TEST_F(RvtGetRwqeShared, SendWaitsForTheGrantWithoutRnr) {
  ASSERT_EQ(post_shared(7), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), Dones{});
  EXPECT_NE(rvt(a)->s_flags & RVT_S_WAIT_RWQE, 0u);
  host.settle();
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(port().n_rnr_naks, 0u);
}

TEST_F(RvtGetRwqeShared, EmptyIsAnRnr) {
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  host.run(host.now() + host.command_time);
  EXPECT_EQ(port().n_rnr_naks, 1u);
  ASSERT_EQ(post_shared(7), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}}));
  EXPECT_EQ(port().n_rnr_naks, 1u);
}

TEST_F(RvtGetRwqeShared, OneTakeAtATimeInOrderOfAsking) {
  for (std::uint64_t i = 7; i < 11; ++i) ASSERT_EQ(post_shared(i), 0);
  const auto [c, d] = another_pair();
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 1), 0);
  ASSERT_EQ(post_opcode(c, IB_WR_SEND, 2), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 3), 0);
  EXPECT_EQ(takes_rung(), 1u);
  host.settle();
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS},
                           {a, 1, IB_WC_SUCCESS},
                           {d, 8, IB_WC_SUCCESS},
                           {c, 2, IB_WC_SUCCESS},
                           {b, 9, IB_WC_SUCCESS},
                           {a, 3, IB_WC_SUCCESS}}));
  EXPECT_EQ(takes_rung(), 3u);
}

TEST_F(RvtGetRwqeShared, ReceiveSurvivesItsQueuePair) {
  for (const bool destroyed : {false, true}) {
    for (const bool granted : {false, true}) {
      const auto [c, d] = another_pair();
      host.answers_takes = false;
      ASSERT_EQ(post_shared(20), 0);
      ASSERT_EQ(post_opcode(c, IB_WR_SEND), 0);
      if (granted) answer();
      if (destroyed) {
        destroy(d);
      } else {
        ASSERT_EQ(modify(d, IB_QPS_ERR, IB_QP_STATE), 0);
      }
      if (!granted) answer();
      host.answers_takes = true;
      host.settle();
      EXPECT_EQ(done(), (Dones{{c, 1, IB_WC_RETRY_EXC_ERR}})) << destroyed << granted;
      ASSERT_EQ(post_opcode(a, IB_WR_SEND, 2), 0);
      host.settle();
      EXPECT_EQ(done(), (Dones{{b, 20, IB_WC_SUCCESS}, {a, 2, IB_WC_SUCCESS}}));
      qp_seen = {};
    }
  }
}

TEST_F(RvtGetRwqeShared, ReceiveSurvivesItsSender) {
  for (const ib_qp_state state : {IB_QPS_ERR, IB_QPS_RESET, IB_QPS_SQD}) {
    for (const bool granted : {false, true}) {
      const auto [c, d] = another_pair();
      host.answers_takes = false;
      ASSERT_EQ(post_shared(20), 0);
      ASSERT_EQ(post_opcode(c, IB_WR_SEND), 0);
      if (granted) answer();
      ASSERT_EQ(modify(c, state, IB_QP_STATE), 0);
      if (!granted) answer();
      host.answers_takes = true;
      host.settle();
      done();
      ASSERT_EQ(post_opcode(a, IB_WR_SEND, 2), 0);
      host.settle();
      EXPECT_EQ(done(), (Dones{{b, 20, IB_WC_SUCCESS}, {a, 2, IB_WC_SUCCESS}})) << state << granted;
      EXPECT_EQ(rvt(d)->state, IB_QPS_RTS);
    }
  }
}

TEST_F(RvtGetRwqeShared, EmptyForOneThatLeftIsNoneForThoseBehind) {
  const auto [c, d] = another_pair();
  host.answers_takes = false;
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 1), 0);
  ASSERT_EQ(post_opcode(c, IB_WR_SEND, 2), 0);
  ASSERT_EQ(modify(b, IB_QPS_ERR, IB_QP_STATE), 0);
  answer();  // judged before what follows
  ASSERT_EQ(post_shared(7), 0);
  EXPECT_EQ(takes_rung(), 2u);
  answer();
  host.settle();
  EXPECT_EQ(port().n_rnr_naks, 0u);
  EXPECT_EQ(done(),
            (Dones{{a, 1, IB_WC_RETRY_EXC_ERR}, {d, 7, IB_WC_SUCCESS}, {c, 2, IB_WC_SUCCESS}}));
}

TEST_F(RvtGetRwqeShared, LastWqeIsReachedAtOnce) {
  host.answers_takes = false;
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  ASSERT_EQ(modify(b, IB_QPS_ERR, IB_QP_STATE), 0);
  EXPECT_EQ(qp_seen.events, (std::vector{IB_EVENT_QP_LAST_WQE_REACHED}));
  EXPECT_EQ(qp_seen.elements[0], b);
}

TEST_F(RvtGetRwqeShared, StrayAnswersAreCounted) {
  host.event(0, hw::EqeType::kTakeGrant, ibsrq_to_rvtsrq(srq)->srqn, 1 << 8);
  EXPECT_EQ(device->stats.stray_events, 1u);
  host.answers_takes = false;
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  host.event(0, hw::EqeType::kTakeGrant, ibsrq_to_rvtsrq(srq)->srqn, (takes().tag + 1) << 8);
  EXPECT_EQ(device->stats.stray_events, 2u);
  EXPECT_TRUE(takes().under_way);
}

TEST_F(RvtGetRwqeShared, WireAndLoopbackShareInOrder) {
  for (std::uint64_t i = 7; i < 10; ++i) ASSERT_EQ(post_shared(i), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 1), 0);
  host.settle();
  host.srqs.at(ibsrq_to_rvtsrq(srq)->srqn).tail = 2;  // a message of the wire took the second
  ASSERT_EQ(post_opcode(a, IB_WR_SEND, 2), 0);
  host.settle();
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS},
                           {a, 1, IB_WC_SUCCESS},
                           {b, 9, IB_WC_SUCCESS},
                           {a, 2, IB_WC_SUCCESS}}));
}

}  // namespace
}  // namespace hcasim::rvt
