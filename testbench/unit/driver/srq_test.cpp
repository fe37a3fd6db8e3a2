// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Shared receive queues: what each verb returns, what it asks of the adapter, what events do.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "unit/driver/srq_fixture.hpp"

namespace hcasim::rvt {
namespace {

TEST_F(Srq, CreateChecksInOrder) {
  ib_srq_init_attr attr = srq_attr(0, 0);
  attr.srq_type = IB_SRQT_XRC;
  EXPECT_EQ(error_of(attr), -EOPNOTSUPP);
  attr.srq_type = IB_SRQT_TM;
  EXPECT_EQ(error_of(attr), -EOPNOTSUPP);
  EXPECT_EQ(error_of(srq_attr(4, 0)), -EINVAL);
  EXPECT_EQ(error_of(srq_attr(4, 32)), -EINVAL);
  EXPECT_EQ(error_of(srq_attr(0, 2)), -EINVAL);
  EXPECT_EQ(error_of(srq_attr(65535, 2)), -EINVAL);
  EXPECT_TRUE(host.srqs.empty());
  EXPECT_FALSE(IS_ERR(create(srq_attr(65534, 31))));
  EXPECT_EQ(ibdev->attrs.max_srq_wr, 65534);
  EXPECT_EQ(ibdev->attrs.max_srq_sge, 31);
}

TEST_F(Srq, CreateUnwindsWhatFails) {
  const std::size_t blocks = host.blocks_allocated();
  for (const int left : {0, 1}) {
    host.allocations_until_failure = left;
    EXPECT_EQ(error_of(srq_attr()), -ENOMEM);
    host.allocations_until_failure = -1;
    EXPECT_EQ(host.blocks_allocated(), blocks);
  }
  host.commands_until_failure = 0;
  EXPECT_EQ(error_of(srq_attr()), -EINVAL);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_srqs_allocated, 0);
  EXPECT_EQ(pd->usecnt, 1);  // the region
}

TEST_F(Srq, AsManyAsTheDeviceHas) {
  for (int i = 0; i < ibdev->attrs.max_srq; ++i) ASSERT_FALSE(IS_ERR(create()));
  EXPECT_EQ(error_of(srq_attr()), -ENOMEM);
  EXPECT_EQ(ib_destroy_srq(srqs.back()), 0);
  srqs.pop_back();
  EXPECT_FALSE(IS_ERR(create()));
}

TEST_F(Srq, ContextOfTheAdapter) {
  ib_srq* srq = create(srq_attr(100, 3));
  const hw::SrqContext& context = on_adapter(srq);
  EXPECT_EQ(context.srqn, rvt(srq)->srqn);
  EXPECT_NE(context.srqn & hw::bar::kSrqBit, 0u);
  EXPECT_EQ(context.pd, ibpd_to_rvtpd(pd)->number);
  EXPECT_EQ(context.size, 101u);
  EXPECT_EQ(context.stride, 64u);
  EXPECT_EQ(context.limit, 0u);
  const ib_qp* qp = make_srq_qp(srq, IB_QPS_INIT);
  EXPECT_EQ(host.qps.at(qp->qp_num).uses_srq, 1);
  EXPECT_EQ(host.qps.at(qp->qp_num).srqn, context.srqn);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_size, 0u);
}

TEST_F(Srq, LimitIsNullAtCreation) {
  ib_srq_init_attr attr = srq_attr();
  attr.attr.srq_limit = 3;
  EXPECT_EQ(query(create(attr)).srq_limit, 0u);
}

class CompatibleSrq : public Srq {
 protected:
  CompatibleSrq() { params.rdmavt_compat = true; }
};
TEST_F(CompatibleSrq, LimitIsKeptAtCreation) {
  ib_srq_init_attr attr = srq_attr();
  attr.attr.srq_limit = 3;
  EXPECT_EQ(query(create(attr)).srq_limit, 3u);
}

TEST_F(Srq, BusyWhileQueuePairsUseIt) {
  ib_srq* srq = create();
  ib_qp* first = make_srq_qp(srq, IB_QPS_RESET);
  ib_qp* second = make_srq_qp(srq);
  EXPECT_EQ(srq->usecnt, 2);
  EXPECT_EQ(ib_destroy_srq(srq), -EBUSY);
  destroy(first);
  EXPECT_EQ(ib_destroy_srq(srq), -EBUSY);
  destroy(second);
  EXPECT_EQ(ib_destroy_srq(srq), 0);
  srqs.clear();
  EXPECT_TRUE(host.srqs.empty());
}

TEST_F(Srq, ItsQueuePairsHaveNoReceiveQueue) {
  ib_srq* srq = create();
  ib_qp_init_attr attr = init_attr();
  attr.srq = srq;
  attr.cap.max_recv_wr = 1u << 20;
  attr.cap.max_recv_sge = 1000;
  ib_qp* qp = make_qp(attr);
  ASSERT_FALSE(IS_ERR(qp));
  for (const ib_qp_state state : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_ERR}) {
    EXPECT_EQ(post_recv(qp, 1), -EINVAL);
    EXPECT_NE(bad_recv, nullptr);
    ASSERT_EQ(to_state(qp, state), 0);
  }
  EXPECT_EQ(post_recv(qp, 1), -EINVAL);
  ib_qp_attr found;
  ib_qp_init_attr init;
  ASSERT_EQ(ib_query_qp(qp, &found, 0, &init), 0);
  EXPECT_EQ(found.cap.max_recv_wr, 0u);
  EXPECT_EQ(found.cap.max_recv_sge, 0u);
  EXPECT_EQ(init.srq, srq);
  EXPECT_TRUE(poll().empty());
}

TEST_F(Srq, LimitUpToMaxWr) {
  ib_srq* srq = create();
  EXPECT_EQ(set_limit(srq, 5), -EINVAL);
  EXPECT_EQ(set_limit(srq, 4), 0);  // nothing is posted, and yet
  EXPECT_EQ(query(srq).srq_limit, 4u);
  EXPECT_EQ(on_adapter(srq).limit, 4u);
  EXPECT_TRUE(srq_seen.events.empty());
  EXPECT_EQ(modify_srq(srq, 0, 1, 1), 0);  // neither bit: nothing
  EXPECT_EQ(query(srq).srq_limit, 4u);
  EXPECT_EQ(query(srq).max_wr, 4u);
  EXPECT_EQ(set_limit(srq, 0), 0);
  EXPECT_EQ(query(srq).srq_limit, 0u);
}

TEST_F(Srq, LimitThatTheAdapterRefusesIsNotSet) {
  ib_srq* srq = create();
  ASSERT_EQ(set_limit(srq, 3), 0);
  host.commands_until_failure = 0;
  EXPECT_EQ(set_limit(srq, 2), -EINVAL);
  EXPECT_EQ(rvt(srq)->limit, 3u);
}

TEST_F(Srq, EventClearsTheLimitItBelongsTo) {
  ib_srq* srq = create();
  ASSERT_EQ(set_limit(srq, 3), 0);
  const std::uint32_t old = on_adapter(srq).arm_number;
  ASSERT_EQ(set_limit(srq, 2), 0);
  host.event(0, hw::EqeType::kSrqLimit, rvt(srq)->srqn, old);  // was on its way
  EXPECT_EQ(rvt(srq)->limit, 2u);
  host.event(0, hw::EqeType::kSrqLimit, rvt(srq)->srqn, on_adapter(srq).arm_number);
  EXPECT_EQ(rvt(srq)->limit, 0u);
  EXPECT_EQ(events(IB_EVENT_SRQ_LIMIT_REACHED), 2u);  // one for each arming
  EXPECT_EQ(srq_seen.elements[0], srq);
}

TEST_F(Srq, EventBeforeTheAnswerOfItsCommand) {
  ib_srq* srq = create();
  host.on_command = [&](const hw::Mailbox& mailbox) {
    const auto context = hw::load<hw::SrqContext>(mailbox.payload);
    host.event(0, hw::EqeType::kSrqLimit, context.srqn, context.arm_number);
  };
  ASSERT_EQ(set_limit(srq, 3), 0);
  host.on_command = nullptr;
  EXPECT_EQ(rvt(srq)->limit, 0u);
  EXPECT_EQ(events(IB_EVENT_SRQ_LIMIT_REACHED), 1u);
}

TEST_F(Srq, QueryAsksTheAdapterWhereItMay) {
  ib_srq* srq = create();
  ASSERT_EQ(set_limit(srq, 3), 0);
  on_adapter(srq).limit = 0;  // it has fired, the event is on its way
  EXPECT_EQ(query(srq).srq_limit, 0u);
  host.set_may_wait(false);
  EXPECT_EQ(query(srq).srq_limit, 3u);
  EXPECT_EQ(query(srq).max_wr, 4u);
  EXPECT_EQ(query(srq).max_sge, 2u);
}

TEST_F(Srq, EventsOfUnknownQueuesAreStray) {
  create();
  host.event(0, hw::EqeType::kSrqLimit, hw::bar::kSrqBit | 7, 0);
  host.event(0, hw::EqeType::kCommEst, rvt(srqs[0])->srqn, 0);
  EXPECT_EQ(device->stats.stray_events, 2u);
  EXPECT_TRUE(srq_seen.events.empty());
}

TEST_F(Srq, ErrorTakesItsQueuePairsDown) {
  ib_srq* srq = create();
  ib_qp* of_it = make_srq_qp(srq);
  ib_qp* other = make_qp_in(IB_QPS_RTS);
  host.event(0, hw::EqeType::kReceiveQueueError, rvt(srq)->srqn, 0);
  EXPECT_EQ(events(IB_EVENT_SRQ_ERR), 1u);
  EXPECT_EQ(rvt(of_it)->state, IB_QPS_ERR);
  EXPECT_EQ(rvt(other)->state, IB_QPS_RTS);
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kQpErrorDoorbell, of_it->qp_num, 0}};
  EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell), expected);
}

TEST_F(Srq, LastWqeIsRaisedOnceInALife) {
  ib_srq* srq = create();
  ib_qp* qp = make_srq_qp(srq);
  for (int life = 1; life <= 2; ++life) {
    ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
    host.event(0, hw::EqeType::kLastWqe, qp->qp_num);
    host.event(0, hw::EqeType::kLastWqe, qp->qp_num);
    const auto raised =
        std::count(qp_seen.events.begin(), qp_seen.events.end(), IB_EVENT_QP_LAST_WQE_REACHED);
    EXPECT_EQ(raised, life);
    ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
    bring(qp, IB_QPS_RTS);
  }
}

TEST_F(Srq, ResizeKeepsWhatIsPosted) {
  ib_srq* srq = create();
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post(srq, i), 0);
  take(srq, 3);
  for (std::uint64_t i = 4; i < 7; ++i) ASSERT_EQ(post(srq, i), 0);  // round the end
  EXPECT_EQ(resize(srq, 3), -EINVAL);                                // four are posted
  EXPECT_EQ(in_ring(srq), (Ids{3, 4, 5, 6}));
  EXPECT_EQ(query(srq).max_wr, 4u);
  const std::size_t blocks = host.blocks_allocated();
  EXPECT_EQ(resize(srq, 9), 0);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(query(srq).max_wr, 9u);
  EXPECT_EQ(on_adapter(srq).size, 10u);
  EXPECT_EQ(on_adapter(srq).head, 4u);
  EXPECT_EQ(on_adapter(srq).tail, 0u);
  EXPECT_EQ(in_ring(srq), (Ids{3, 4, 5, 6}));
  for (std::uint64_t i = 7; i < 12; ++i) EXPECT_EQ(post(srq, i), 0);
  EXPECT_EQ(post(srq, 12), -ENOMEM);
  take(srq, 7);
  EXPECT_EQ(resize(srq, 2), 0);  // exactly what is posted
  EXPECT_EQ(in_ring(srq), (Ids{10, 11}));
  EXPECT_EQ(post(srq, 12), -ENOMEM);
}

TEST_F(Srq, ResizeChecksInOrder) {
  ib_srq* srq = create();
  ASSERT_EQ(set_limit(srq, 3), 0);
  const std::size_t before = host.commands.size();
  EXPECT_EQ(resize(srq, 65535), -EINVAL);
  EXPECT_EQ(resize(srq, 2), -EINVAL);  // below the limit
  EXPECT_EQ(modify_srq(srq, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, 8, 9), -EINVAL);
  host.allocations_until_failure = 0;
  EXPECT_EQ(resize(srq, 8), -ENOMEM);
  host.allocations_until_failure = -1;
  EXPECT_EQ(host.commands.size(), before);
  EXPECT_EQ(modify_srq(srq, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, 2, 2), 0);  // the new one counts
  EXPECT_EQ(query(srq).srq_limit, 2u);
  EXPECT_EQ(query(srq).max_wr, 2u);
}

// A post that came while the adapter was refusing is not forgotten.
TEST_F(Srq, ResizeThatFailsLeavesAllAsItWas) {
  ib_srq* srq = create();
  ASSERT_EQ(set_limit(srq, 1), 0);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post(srq, i), 0);
  const std::size_t blocks = host.blocks_allocated();
  host.commands_until_failure = 0;
  host.on_command = [&](const hw::Mailbox&) { EXPECT_EQ(post(srq, 3), 0); };
  EXPECT_EQ(resize(srq, 8), -EINVAL);
  host.on_command = nullptr;
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(in_ring(srq), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell).back().index, 4u);
  EXPECT_EQ(query(srq).max_wr, 4u);
  EXPECT_EQ(query(srq).srq_limit, 1u);
  EXPECT_EQ(resize(srq, 8), 0);
  EXPECT_EQ(in_ring(srq), (Ids{0, 1, 2, 3}));
}

// H8: posts during a resize are kept, wherever they fall; no doorbell reaches a paused queue.
TEST_F(Srq, PostsDuringAResize) {
  ib_srq* srq = create(srq_attr(6));
  ASSERT_EQ(post(srq, 0), 0);
  std::uint64_t next = 1;
  host.on_command = [&](const hw::Mailbox& mailbox) {
    if (mailbox.opcode != hw::CommandOpcode::kModifySrq) return;
    const std::size_t bells = host.rung(hw::bar::kReceiveDoorbell).size();
    EXPECT_EQ(post(srq, next++), 0);
    EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell).size(), bells);
  };
  ASSERT_EQ(resize(srq, 12), 0);
  EXPECT_EQ(in_ring(srq), (Ids{0, 1, 2}));
  EXPECT_EQ(on_adapter(srq).head, 2u);
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell).back().index, 3u);
}

// While the adapter is paused the tail in memory is that of the old ring.
TEST_F(Srq, SpaceDuringAResizeIsThatOfTheNewRing) {
  ib_srq* srq = create(srq_attr(6));
  for (std::uint64_t i = 0; i < 6; ++i) ASSERT_EQ(post(srq, i), 0);
  take(srq, 5);
  std::uint64_t next = 6;
  host.on_command = [&](const hw::Mailbox& mailbox) {
    if (mailbox.mask != hw::kSrqRing) return;
    while (post(srq, next) == 0) ++next;
  };
  ASSERT_EQ(resize(srq, 3), 0);
  host.on_command = nullptr;
  EXPECT_EQ(in_ring(srq), (Ids{5, 6, 7}));
  EXPECT_EQ(next, 8u);
}

TEST_F(Srq, ControlVerbsNeedATask) {
  ib_srq* srq = create();
  host.set_may_wait(false);
  EXPECT_EQ(resize(srq, 8), -EDEADLK);
  EXPECT_EQ(set_limit(srq, 2), -EDEADLK);
  EXPECT_EQ(error_of(srq_attr()), -EDEADLK);
  host.set_may_wait(true);
  EXPECT_EQ(query(srq).srq_limit, 0u);
}

TEST_F(Srq, ADeadAdapterGivesEio) {
  ib_srq* srq = create();
  host.answers = false;
  EXPECT_EQ(resize(srq, 8), -EIO);
  EXPECT_EQ(set_limit(srq, 2), -EIO);
  EXPECT_EQ(error_of(srq_attr()), -EIO);
  EXPECT_EQ(query(srq).max_wr, 4u);
}

}  // namespace
}  // namespace hcasim::rvt
