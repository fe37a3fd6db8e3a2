// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Completion queues: two writers, one order; notification; overflow.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class CompletionQueue : public DriverTest {
 protected:
  static ib_wc software(std::uint64_t wr_id) {
    ib_wc wc;
    wc.wr_id = wr_id;
    wc.opcode = IB_WC_RECV;
    wc.status = IB_WC_WR_FLUSH_ERR;
    return wc;
  }
  bool enter(ib_cq* queue, std::uint64_t wr_id) {
    return rvt_cq_enter(ibcq_to_rvtcq(queue), software(wr_id), true);
  }
  static std::vector<std::uint64_t> ids(const std::vector<ib_wc>& wc) {
    std::vector<std::uint64_t> found;
    for (const ib_wc& each : wc) found.push_back(each.wr_id);
    return found;
  }
  std::uint32_t consumed(ib_cq* queue) {
    hw::ConsumerRecord record;
    host.read(ibcq_to_rvtcq(queue)->record, &record, sizeof record);
    return record.count;
  }
  int error_of(ib_cq_init_attr attr) {
    ib_cq* made = ib_create_cq(ibdev, nullptr, nullptr, nullptr, &attr);
    if (IS_ERR(made)) return PTR_ERR(made);
    cqs.push_back(made);
    return 0;
  }
};

TEST_F(CompletionQueue, WhoPollsIsToldOfCompletionsOfTheDriver) {
  ASSERT_EQ(error_of({.cqe = 2}), 0);
  int told = 0;
  ibcq_to_rvtcq(cqs.back())->entered = {
      [](void* count, std::uint64_t) { ++*static_cast<int*>(count); }, &told};
  EXPECT_TRUE(enter(cqs.back(), 1));
  EXPECT_TRUE(enter(cqs.back(), 2));
  EXPECT_EQ(told, 2);
  EXPECT_FALSE(enter(cqs.back(), 3));
  EXPECT_EQ(told, 2);
}

TEST_F(CompletionQueue, CreateChecksFlagsThenSize) {
  EXPECT_EQ(error_of({.cqe = 0, .comp_vector = 0, .flags = 1}), -EOPNOTSUPP);
  EXPECT_EQ(error_of({.cqe = 0}), -EINVAL);
  EXPECT_EQ(error_of({.cqe = 4097}), -EINVAL);
  EXPECT_EQ(error_of({.cqe = 4096}), 0);
  EXPECT_EQ(cqs.back()->cqe, 4096);
}

TEST_F(CompletionQueue, VectorsAreTakenModulo) {
  EXPECT_EQ(error_of({.cqe = 1, .comp_vector = -3}), 0);
  EXPECT_EQ(error_of({.cqe = 1, .comp_vector = 7}), 0);
  EXPECT_EQ(host.cqs.at(cqn(cqs.back())).eqn, 1u);
}

TEST_F(CompletionQueue, EachFailureUnwinds) {
  const std::size_t blocks = host.blocks_allocated();
  for (int step = 0; step < 2; ++step) {
    host.allocations_until_failure = step;
    EXPECT_EQ(error_of({.cqe = 4}), -ENOMEM);
  }
  host.allocations_until_failure = -1;
  host.commands_until_failure = 0;
  EXPECT_EQ(error_of({.cqe = 4}), -EINVAL);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_cqs_allocated, 1);
}

TEST_F(CompletionQueue, CountIsLimited) {
  for (int i = device->n_cqs_allocated; i < 64; ++i) ASSERT_EQ(error_of({.cqe = 1}), 0);
  EXPECT_EQ(error_of({.cqe = 1}), -ENOMEM);
  ib_cq* last = cqs.back();
  cqs.pop_back();
  ASSERT_EQ(ib_destroy_cq(last), 0);
  EXPECT_EQ(error_of({.cqe = 1}), 0);
}

TEST_F(CompletionQueue, PollTakesOldestFirstAndPublishes) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(complete_recv(qp, i, 100 + unsigned(i)));
  EXPECT_EQ(poll(cq, 0).size(), 0u);
  const auto first = poll(cq, 2);
  EXPECT_EQ(ids(first), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(first[1].byte_len, 101u);
  EXPECT_EQ(first[1].src_qp, 0x77u);
  EXPECT_EQ(first[1].qp, qp);
  EXPECT_EQ(consumed(cq), 2u);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{2});
  EXPECT_EQ(poll().size(), 0u);
}

TEST_F(CompletionQueue, ImmediateAndInvalidatedKey) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  hw::Cqe cqe{};
  cqe.qpn = qp->qp_num;
  cqe.opcode = hw::WcOpcode::kRecvRdmaWithImm;
  cqe.flags = hw::kCqeWithImm;
  cqe.imm_or_key = 0x0102'0304;
  ASSERT_TRUE(host.complete(cqn(cq), cqe));
  cqe.opcode = hw::WcOpcode::kRecv;
  cqe.flags = hw::kCqeWithInvalidate;
  ASSERT_TRUE(host.complete(cqn(cq), cqe));
  const auto wc = poll();
  EXPECT_EQ(wc[0].opcode, IB_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(be32_to_cpu(wc[0].ex.imm_data), 0x0102'0304u);
  EXPECT_EQ(wc[1].ex.invalidate_rkey, 0x0102'0304u);
}

TEST_F(CompletionQueue, CompletionRetiresUnsignaledSendsBefore) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post_send(qp, i, 0), 0);
  ASSERT_EQ(post_send(qp, 3), 0);
  ASSERT_TRUE(complete_send(qp, 3));
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{3});
  EXPECT_EQ(rvt(qp)->s_last, 4u);
}

TEST_F(CompletionQueue, StrayCompletionsAreCountedNotDelivered) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_TRUE(complete_send(qp, 0));   // nothing posted
  ASSERT_TRUE(complete_send(qp, 99));  // no such slot
  hw::Cqe cqe{};
  cqe.qpn = 0xdead;
  ASSERT_TRUE(host.complete(cqn(cq), cqe));
  EXPECT_TRUE(poll().empty());
  EXPECT_EQ(device->stats.stray_completions, 3u);
  EXPECT_EQ(consumed(cq), 3u);
}

TEST_F(CompletionQueue, DriversEntriesComeBehindTheAdaptersEarlierOnes) {
  ib_cq* queue = make_cq(8);
  ib_qp_init_attr attr = init_attr();
  attr.recv_cq = queue;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_TRUE(complete_recv(qp, 0));
  ASSERT_TRUE(enter(queue, 100));
  ASSERT_TRUE(complete_recv(qp, 1));
  ASSERT_TRUE(enter(queue, 101));
  ASSERT_TRUE(complete_recv(qp, 2));
  EXPECT_EQ(consumed(queue), 0u);  // read by the driver is not taken by the consumer
  EXPECT_EQ(ids(poll(queue, 3)), (std::vector<std::uint64_t>{0, 100, 1}));
  EXPECT_EQ(consumed(queue), 2u);
  EXPECT_EQ(ids(poll(queue)), (std::vector<std::uint64_t>{101, 2}));
  EXPECT_EQ(consumed(queue), 3u);
}

TEST_F(CompletionQueue, ManyLapsOfARingOfOddSize) {
  ib_cq* queue = make_cq(3);
  ib_qp_init_attr attr = init_attr();
  attr.recv_cq = queue;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_EQ(post_recv(qp, i), 0);
    ASSERT_TRUE(complete_recv(qp, i));
    if (i % 2 == 0) continue;
    ASSERT_TRUE(enter(queue, 1000 + i));
    EXPECT_EQ(ids(poll(queue)), (std::vector<std::uint64_t>{i - 1, i, 1000 + i}));
  }
}

TEST_F(CompletionQueue, DriversEntryOverflowsAtCqe) {
  ib_cq* queue = make_cq(2);
  EXPECT_TRUE(enter(queue, 1));
  EXPECT_TRUE(enter(queue, 2));
  EXPECT_TRUE(cq_seen.events.empty());
  EXPECT_FALSE(enter(queue, 3));
  EXPECT_FALSE(enter(queue, 4));
  EXPECT_EQ(cq_seen.events, (std::vector{IB_EVENT_CQ_ERR, IB_EVENT_CQ_ERR}));
  EXPECT_EQ(cq_seen.elements[0], queue);
  EXPECT_EQ(ids(poll(queue)), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_FALSE(enter(queue, 5));  // full for ever
}

TEST_F(CompletionQueue, AdaptersEntryWithoutRoomBringsTheQueuePairDown) {
  ib_cq* queue = make_cq(2);
  ib_qp_init_attr attr = init_attr();
  attr.recv_cq = queue;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  ASSERT_EQ(post_recv(qp, 10), 0);
  ASSERT_TRUE(enter(queue, 1));
  ASSERT_TRUE(enter(queue, 2));
  ASSERT_TRUE(complete_recv(qp, 10));  // the adapter does not know of the driver's entries
  EXPECT_EQ(ids(poll(queue)), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(cq_seen.events, std::vector{IB_EVENT_CQ_ERR});
  host.settle();
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
}

TEST_F(CompletionQueue, RefusedSendIsRetiredAllTheSame) {
  ib_cq* queue = make_cq(1);
  ib_qp_init_attr attr = init_attr();
  attr.send_cq = queue;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  ASSERT_EQ(post_send(qp, 1), 0);
  ASSERT_TRUE(enter(queue, 5));
  ASSERT_TRUE(complete_send(qp, 0));
  EXPECT_EQ(ids(poll(queue)), std::vector<std::uint64_t>{5});
  EXPECT_EQ(rvt(qp)->s_last, 1u);
}

// --- Moderation
// -------------------------------------------------------------------------------------

TEST_F(CompletionQueue, ModerationReachesTheAdapter) {
  const rdma_cq_caps caps = ibdev->attrs.cq_caps;
  EXPECT_EQ(caps.max_cq_moderation_count, 65535);
  EXPECT_EQ(caps.max_cq_moderation_period, 4095);
  EXPECT_EQ(rdma_set_cq_moderation(cq, 65535, 4095), 0);
  EXPECT_EQ(host.cqs.at(cqn(cq)).cq_count, 65535);
  EXPECT_EQ(host.cqs.at(cqn(cq)).cq_period, 4095);
  EXPECT_EQ(host.commands.back().mask, std::uint32_t{hw::kCqModeration});
  EXPECT_EQ(rdma_set_cq_moderation(cq, 0, 0), 0);
  EXPECT_EQ(host.cqs.at(cqn(cq)).cq_period, 0);
}

TEST_F(CompletionQueue, ModerationIsRefused) {
  ASSERT_EQ(rdma_set_cq_moderation(cq, 3, 4), 0);
  EXPECT_EQ(rdma_set_cq_moderation(cq, 1, 4096), -EINVAL);
  host.commands_until_failure = 0;
  EXPECT_EQ(rdma_set_cq_moderation(cq, 1, 1), -EINVAL);
  host.set_may_wait(false);
  EXPECT_EQ(rdma_set_cq_moderation(cq, 1, 1), -EDEADLK);
  host.set_may_wait(true);
  EXPECT_EQ(host.cqs.at(cqn(cq)).cq_count, 3);
  host.answers = false;
  EXPECT_EQ(rdma_set_cq_moderation(cq, 1, 1), -EIO);
}

// The adapter alone holds back: what the driver completes is told of at once.
TEST_F(CompletionQueue, CompletionsOfTheDriverAreNotModerated) {
  ASSERT_EQ(rdma_set_cq_moderation(cq, 100, 4095), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(enter(cq, 2));
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
}

// --- Notification
// -----------------------------------------------------------------------------------

TEST_F(CompletionQueue, ArmingTellsTheAdapterWhatHasBeenSeen) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  EXPECT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  EXPECT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS), 1);
  const auto bells = host.rung(hw::bar::kCqArmDoorbell);
  EXPECT_EQ(bells.front(), (FakeHost::Doorbell{hw::bar::kCqArmDoorbell, cqn(cq), 1}));
  EXPECT_EQ(poll().size(), 1u);
  EXPECT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED | IB_CQ_REPORT_MISSED_EVENTS), 0);
}

TEST_F(CompletionQueue, OneCallPerArming) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  host.notify(cqn(cq));
  EXPECT_EQ(cq_seen.completions, 1);
  EXPECT_EQ(ibcq_to_rvtcq(cq)->notify, RVT_CQ_NONE);
  ASSERT_TRUE(enter(cq, 2));
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
}

TEST_F(CompletionQueue, NextCompIsNeverWeakened) {
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
  EXPECT_EQ(host.rung(hw::bar::kCqArmDoorbell).size(), 1u);
  ib_cq* other = make_cq(4);
  ASSERT_EQ(ib_req_notify_cq(other, IB_CQ_SOLICITED), 0);
  EXPECT_EQ(host.rung(hw::bar::kCqArmDoorbell).back().number, cqn(other) | hw::bar::kArmSolicited);
  ASSERT_EQ(ib_req_notify_cq(other, IB_CQ_NEXT_COMP), 0);
  EXPECT_EQ(host.rung(hw::bar::kCqArmDoorbell).back().number, cqn(other));
}

TEST_F(CompletionQueue, Quirk23_BothBitsAreNextComp) {
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED | IB_CQ_NEXT_COMP), 0);
  EXPECT_EQ(host.rung(hw::bar::kCqArmDoorbell).back().number, cqn(cq));
  ib_wc good;
  good.opcode = IB_WC_RECV;
  ASSERT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(cq), good, false));
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
}

TEST_F(CompletionQueue, CompletionsSeenButNotTakenDoNotCountAsFired) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
  EXPECT_EQ(ibcq_to_rvtcq(cq)->notify, IB_CQ_NEXT_COMP);
}

TEST_F(CompletionQueue, DriversEntryFiresWithoutTheAdapter) {
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
  ib_wc good;
  good.opcode = IB_WC_RECV;
  ASSERT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(cq), good, false));
  host.settle();
  EXPECT_EQ(cq_seen.completions, 0);  // neither solicited nor failed
  ASSERT_TRUE(enter(cq, 1));
  EXPECT_EQ(cq_seen.completions, 0);  // not inside the caller
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
  host.notify(cqn(cq));  // the adapter's arming is still there, but nobody waits
  EXPECT_EQ(cq_seen.completions, 1);
}

TEST_F(CompletionQueue, EventOfAnEarlierArmingLeavesTheLaterOne) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(complete_recv(qp, 1));  // fires, but its event is slow
  EXPECT_EQ(poll().size(), 1u);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  host.notify(cqn(cq));
  EXPECT_EQ(cq_seen.completions, 1);
  ASSERT_TRUE(complete_recv(qp, 2));
  host.notify(cqn(cq));
  EXPECT_EQ(cq_seen.completions, 2);
}

TEST_F(CompletionQueue, FiredNextCompMayBeFollowedBySolicited) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
  EXPECT_EQ(ibcq_to_rvtcq(cq)->notify, IB_CQ_SOLICITED);
}

TEST_F(CompletionQueue, EventOfAnArmingForAnyIsNoneForSolicited) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(enter(cq, 1));  // the driver answers it, the adapter does not know
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  host.notify(cqn(cq));
  EXPECT_EQ(cq_seen.completions, 1);
  ASSERT_TRUE(complete_recv(qp, 2));
  host.notify(cqn(cq), 2);
  EXPECT_EQ(cq_seen.completions, 2);
  EXPECT_EQ(ibcq_to_rvtcq(cq)->notify, RVT_CQ_NONE);
}

TEST_F(CompletionQueue, SlowEventIsToldAndLeavesTheArmingForSolicited) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(complete_recv(qp, 1));  // fires, but its event is slow
  ASSERT_EQ(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
  ASSERT_TRUE(complete_recv(qp, 2));
  host.notify(cqn(cq));
  EXPECT_EQ(cq_seen.completions, 1);
  EXPECT_EQ(ibcq_to_rvtcq(cq)->notify, IB_CQ_SOLICITED);
}

TEST_F(CompletionQueue, DestroyCancelsThePendingCall) {
  ib_cq* queue = make_cq(4);
  ASSERT_EQ(ib_req_notify_cq(queue, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(enter(queue, 1));
  // The command waits, so the call comes before the queue is gone, and only once.
  std::erase(cqs, queue);
  ASSERT_EQ(ib_destroy_cq(queue), 0);
  EXPECT_EQ(cq_seen.completions, 1);
  host.settle();
  EXPECT_EQ(cq_seen.completions, 1);
}

TEST_F(CompletionQueue, CostsAreChargedPerCompletion) {
  device->dparms.costs.poll_cqe = 20;
  ASSERT_TRUE(enter(cq, 1));
  ASSERT_TRUE(enter(cq, 2));
  const hw::Time before = host.charged;
  EXPECT_EQ(poll().size(), 2u);
  EXPECT_EQ(host.charged - before, 40);
  EXPECT_EQ(poll().size(), 0u);
  EXPECT_EQ(host.charged - before, 40);
}

}  // namespace
}  // namespace hcasim::rvt
