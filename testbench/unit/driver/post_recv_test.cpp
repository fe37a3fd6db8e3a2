// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_post_recv, and what becomes of receives in ERR.
#include <array>
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class PostRecv : public DriverTest {
 protected:
  /// A list of receives with ascending wr_id.
  template <std::size_t N>
  static std::array<ib_recv_wr, N> list(std::uint64_t first) {
    std::array<ib_recv_wr, N> wr;
    for (std::size_t i = 0; i < N; ++i) {
      wr[i].wr_id = first + i;
      wr[i].next = i + 1 < N ? &wr[i + 1] : nullptr;
    }
    return wr;
  }
  template <std::size_t N>
  int post(ib_qp* qp, std::array<ib_recv_wr, N>& wr) {
    for (std::size_t i = 0; i + 1 < N; ++i) wr[i].next = &wr[i + 1];
    return ib_post_recv(qp, wr.data(), &bad_recv);
  }
  static std::vector<std::uint64_t> ids(const std::vector<ib_wc>& wc) {
    std::vector<std::uint64_t> found;
    for (const ib_wc& each : wc) found.push_back(each.wr_id);
    return found;
  }
};

TEST_F(PostRecv, StoresTheReceiveAsItIs) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  const std::array<ib_sge, 2> data{ib_sge{1, 2, 3}, ib_sge{4, 0, 5}};  // keys are not looked at
  ib_recv_wr wr;
  wr.wr_id = 0xabcdef;
  wr.sg_list = data.data();
  wr.num_sge = 2;
  ASSERT_EQ(ib_post_recv(qp, &wr, nullptr), 0);
  const std::uint64_t slot = rvt(qp)->r_rq.wq;
  hw::ReceiveWqe header;
  host.read(slot, &header, sizeof header);
  EXPECT_EQ(header.wr_id, 0xabcdefu);
  EXPECT_EQ(header.num_sge, 2);
  hw::Sge second;
  host.read(slot + 32, &second, sizeof second);
  EXPECT_EQ(second.addr, 4u);
  EXPECT_EQ(second.lkey, 5u);
}

TEST_F(PostRecv, OneDoorbellPerCallFromRtrOn) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  auto wr = list<2>(1);
  ASSERT_EQ(post(qp, wr), 0);
  EXPECT_TRUE(host.rung(hw::bar::kReceiveDoorbell).empty());
  ASSERT_EQ(to_state(qp, IB_QPS_RTR), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 2u);
  EXPECT_TRUE(host.rung(hw::bar::kReceiveDoorbell).empty());
  ASSERT_EQ(post(qp, wr), 0);
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kReceiveDoorbell, qp->qp_num, 4}};
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell), expected);
}

TEST_F(PostRecv, ResetIsRefusedWithTheFirstRequest) {
  ib_qp* qp = make_qp();
  auto wr = list<2>(1);
  EXPECT_EQ(post(qp, wr), -EINVAL);
  EXPECT_EQ(bad_recv, &wr[0]);
}

TEST_F(PostRecv, TooManyElementsIsRefusedBeforeFull) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ib_recv_wr wr;
  wr.num_sge = 3;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -EINVAL);
  wr.num_sge = -1;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -EINVAL);
  wr.num_sge = 0;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -ENOMEM);
}

TEST_F(PostRecv, PartOfAListStaysPosted) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  auto wr = list<6>(1);
  EXPECT_EQ(post(qp, wr), -ENOMEM);
  EXPECT_EQ(bad_recv, &wr[4]);
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell).back().index, 4u);
}

TEST_F(PostRecv, SpaceFollowsTheTailRecordRoundTheRing) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  for (std::uint64_t i = 4; i < 40; ++i) {
    EXPECT_EQ(post_recv(qp, i), -ENOMEM);
    ASSERT_TRUE(complete_recv(qp, i - 4));
    ASSERT_EQ(post_recv(qp, i), 0);
    EXPECT_EQ(ids(poll()), std::vector{i - 4});
  }
}

TEST_F(PostRecv, FlushComesBeforeModifyToErrReturnsAndInOrder) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  const auto wc = poll();
  EXPECT_EQ(ids(wc), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(wc[0].status, IB_WC_SUCCESS);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(wc[i].status, IB_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc[i].opcode, IB_WC_RECV);
    EXPECT_EQ(wc[i].qp, qp);
  }
}

TEST_F(PostRecv, AfterTheFlushAPostCompletesAtOnce) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  const std::size_t bells = host.doorbells.size();
  auto wr = list<6>(1);  // more than the ring holds
  ASSERT_EQ(post(qp, wr), 0);
  EXPECT_EQ(poll().size(), 6u);
  EXPECT_EQ(host.doorbells.size(), bells);
}

TEST_F(PostRecv, BetweenErrorAndFlushAPostIsKeptAndFlushedInOrder) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  rvt_rc_error(rvt(qp), IB_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell).size(), 1u);
  const std::size_t bells = host.doorbells.size();
  ASSERT_EQ(post_recv(qp, 2), 0);
  EXPECT_EQ(host.doorbells.size(), bells);
  EXPECT_TRUE(poll().empty());
  host.settle();
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2}));
  ASSERT_EQ(post_recv(qp, 3), 0);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{3});
}

TEST_F(PostRecv, FlushHappensOnce) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  host.event(0, hw::EqeType::kQpError, qp->qp_num, 12);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_TRUE(host.rung(hw::bar::kQpErrorDoorbell).empty());  // the adapter has stopped by itself
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  host.event(0, hw::EqeType::kQpErrorDone, qp->qp_num, 0);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{1});
}

TEST_F(PostRecv, ErrorOfAQueueTheAdapterNeverHadFlushesAll) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_EQ(post_recv(qp, 2), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(PostRecv, RvtErrorQpIsIdempotentAndIgnoresReset) {
  ib_qp* fresh = make_qp();
  EXPECT_EQ(rvt_error_qp(rvt(fresh), IB_WC_WR_FLUSH_ERR), 0);
  EXPECT_EQ(rvt(fresh)->state, IB_QPS_RESET);
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(rvt_error_qp(rvt(qp), IB_WC_WR_FLUSH_ERR), 0);
  EXPECT_EQ(rvt_error_qp(rvt(qp), IB_WC_WR_FLUSH_ERR), 0);
  EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell).size(), 1u);
}

TEST_F(PostRecv, FlushThatTheAdapterDoesNotAnswerUsesItsRecord) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  host.answers = false;
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), -EIO);
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(PostRecv, ResetEmptiesBothQueuesWithoutCompletions) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(post_recv(qp, i), 0);
    ASSERT_EQ(post_send(qp, i), 0);
  }
  ASSERT_TRUE(complete_send(qp, 0));
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);  // from before
  EXPECT_EQ(wc[0].wr_id, 1u);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
  EXPECT_EQ(rvt(qp)->s_last, 0u);
  bring(qp, IB_QPS_RTS);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 0u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_send(qp, i), 0);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(post_recv(qp, i), 0);
  EXPECT_EQ(post_recv(qp, 4), -ENOMEM);
}

TEST_F(PostRecv, CostsAreChargedPerRequest) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  device->dparms.costs.post_recv = 15;
  const hw::Time before = host.charged;
  auto wr = list<3>(1);
  ASSERT_EQ(post(qp, wr), 0);
  EXPECT_EQ(host.charged - before, 45);
}

}  // namespace
}  // namespace hcasim::rvt
