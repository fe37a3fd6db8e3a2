// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Conformance cases of the driver layer, by number: states, errors, teardown; and negative tests.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class StateCases : public DriverTest {
 protected:
  ib_qp_init_attr datagram() {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = IB_QPT_UD;
    return attr;
  }
};

TEST_F(StateCases, B08_TeardownResetsWhatIsLeft) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  EXPECT_EQ(rvt_unregister_device(device.get()), 1u);
  host.settle();
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  EXPECT_EQ(host.timers_pending(), 0u);
}

TEST_F(StateCases, B10_ErrorPathsKeepTheOrderOfLocks) {
  if (!kLocksChecked) GTEST_SKIP() << "built without assertions";
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_NO_THROW(rvt_rc_error(rvt(qp), IB_WC_LOC_PROT_ERR));
  EXPECT_NO_THROW(host.settle());
  EXPECT_NO_THROW(to_state(qp, IB_QPS_ERR));
  const SpinGuard send(rvt(qp)->s_lock);
  EXPECT_THROW(rvt_rc_error(rvt(qp), IB_WC_LOC_PROT_ERR), LockOrderError);
}

TEST_F(StateCases, B11_ErrorsOfCreationAreNegative) {
  host.allocations_until_failure = 0;
  EXPECT_EQ(PTR_ERR(make_qp()), -ENOMEM);
}

// Of every verb that tells of errors, by one call each that must fail.
TEST_F(StateCases, B11_Quirk30_ErrorsOfAllVerbsAreNegative) {
  ib_qp* qp = make_qp();
  ib_srq_init_attr no_receives;
  no_receives.attr = {0, 0, 0};
  const ib_srq_attr too_large{~0u, 0, 0};
  ib_srq_init_attr good;
  good.attr = {4, 1, 0};
  srqs.push_back(ib_create_srq(pd, &good));
  ib_port_attr port;
  const ib_gid no_group{};
  const scatterlist page{buffer, 4096};
  ib_recv_wr recv;
  recv.num_sge = 99;
  const ib_send_wr send;
  const ib_cq_init_attr no_entries;
  for (const std::int64_t error : std::initializer_list<std::int64_t>{
           PTR_ERR(ib_create_cq(ibdev, nullptr, nullptr, nullptr, &no_entries)),
           PTR_ERR(ib_create_srq(pd, &no_receives)), PTR_ERR(ib_reg_user_mr(pd, 0, 0, 0, 0)),
           PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 0)), ib_map_mr_sg(mr, &page, 1, nullptr, 1),
           ib_modify_srq(srqs[0], &too_large, IB_SRQ_MAX_WR), ib_resize_cq(cq, 0),
           ib_query_port(ibdev, 99, &port), ib_attach_mcast(qp, &no_group, 0),
           ib_detach_mcast(qp, &no_group, 0), ib_post_send(qp, &send, nullptr),
           ib_post_recv(qp, &recv, nullptr), ib_post_srq_recv(srqs[0], &recv, nullptr),
           to_state(qp, IB_QPS_RTS), ib_dealloc_pd(pd)}) {
    EXPECT_LT(error, 0);
    EXPECT_GT(error, -4096);
  }
}

TEST_F(StateCases, B13_FailedCreationCanBeRepeatedForEver) {
  const std::size_t blocks = host.blocks_allocated();
  for (int i = 0; i < 100'000; ++i) {
    host.allocations_until_failure = i % 3;
    ASSERT_EQ(PTR_ERR(make_qp(datagram())), -ENOMEM);
  }
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_qps_allocated, 0);
}

TEST_F(StateCases, B14_CompletionQueueIsFreedWhole) {
  const std::size_t blocks = host.blocks_allocated();
  ib_cq_init_attr attr;
  attr.cqe = 16;
  for (int i = 0; i < 100; ++i) {
    ib_cq* made = ib_create_cq(ibdev, nullptr, nullptr, nullptr, &attr);
    ASSERT_FALSE(IS_ERR(made));
    ASSERT_EQ(ib_destroy_cq(made), 0);
  }
  EXPECT_EQ(host.blocks_allocated(), blocks);
}

TEST_F(StateCases, B17_UnknownMaskBitsAreRefusedBeforeAnythingElse) {
  ib_qp* qp = make_qp();
  ib_qp_attr attr = path();
  attr.qp_state = IB_QPS_RTS;  // wrong as well, but later
  for (int bit = 21; bit < 31; ++bit) {
    EXPECT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | 1 << bit), -EOPNOTSUPP) << bit;
  }
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
}

TEST_F(StateCases, B22_AlternatePathOnEthernetIsANegativeError) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ib_qp_attr attr = path();
  attr.qp_state = IB_QPS_RTR;
  EXPECT_EQ(ib_modify_qp(qp, &attr, kRtrMask | IB_QP_ALT_PATH), -EINVAL);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_INIT);
}

TEST_F(StateCases, B25_SevenMeansForEverAndMoreIsRefused) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  ib_qp_attr attr = path();
  attr.qp_state = IB_QPS_RTS;
  for (const std::uint8_t retries : {8, 10, 255}) {
    attr.rnr_retry = retries;
    EXPECT_EQ(ib_modify_qp(qp, &attr, kRtsMask), -EINVAL);
  }
  attr.rnr_retry = 7;
  EXPECT_EQ(ib_modify_qp(qp, &attr, kRtsMask), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).rnr_retry, 7);
}

TEST_F(StateCases, B37_Quirk2_RefusedAccessWithoutAReceiveIsAnEvent) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.event(0, hw::EqeType::kQpAccessError, qp->qp_num);
  host.event(0, hw::EqeType::kQpError, qp->qp_num, 8);
  EXPECT_EQ(qp_seen.events, std::vector{IB_EVENT_QP_ACCESS_ERR});
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
}

TEST_F(StateCases, B50_AddressesThatWrapAreOutOfBounds) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const ib_sge data{0xffff'ffff'ffff'fc00, 0x400, mr->lkey};
  ib_send_wr wr;
  wr.sg_list = &data;
  wr.num_sge = 1;
  EXPECT_EQ(ib_post_send(qp, &wr, nullptr), -EINVAL);
}

class SharedReceives : public StateCases {
 protected:
  ib_qp_init_attr shared() {
    ib_srq_init_attr of_queue;
    of_queue.attr = {4, 1, 0};
    srqs.push_back(ib_create_srq(pd, &of_queue));
    ib_qp_init_attr attr = init_attr();
    attr.srq = srqs.back();
    return attr;
  }
};

TEST_F(SharedReceives, B59_QueuePairOnASharedQueueHasNoneOfItsOwn) {
  ib_qp_init_attr attr = shared();
  attr.cap.max_recv_wr = 16;
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  EXPECT_EQ(post_recv(qp, 1), -EINVAL);
  ib_qp_attr found;
  ib_qp_init_attr init;
  ib_query_qp(qp, &found, 0, &init);
  EXPECT_EQ(found.cap.max_recv_wr, 0u);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_size, 0u);
}

TEST_F(SharedReceives, B73_ReceiveSizesAreIgnoredOnASharedQueue) {
  ib_qp_init_attr attr = shared();
  attr.cap.max_recv_wr = 0x4000;
  attr.cap.max_recv_sge = 1000;
  EXPECT_FALSE(IS_ERR(make_qp(attr)));
}

TEST_F(SharedReceives, B64_LastReceiveIsReportedOnce) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS, shared());
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  host.event(0, hw::EqeType::kLastWqe, qp->qp_num);
  host.event(0, hw::EqeType::kLastWqe, qp->qp_num);
  EXPECT_EQ(qp_seen.events, std::vector{IB_EVENT_QP_LAST_WQE_REACHED});
}

TEST_F(StateCases, B92_ResetToResetIsNothingAndResetToErrIsRefused) {
  ib_qp* qp = make_qp();
  const std::size_t commands = host.commands.size();
  EXPECT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(host.commands.size(), commands);
  EXPECT_EQ(to_state(qp, IB_QPS_INIT), 0);
  EXPECT_EQ(to_state(make_qp(), IB_QPS_ERR), -EINVAL);
}

TEST_F(StateCases, H9_Quirk9_FalseCurrentStateIsRefused) {
  ib_qp* qp = make_qp();
  ib_qp_attr attr = path();
  attr.cur_qp_state = IB_QPS_SQD;
  attr.qp_state = IB_QPS_SQD;
  EXPECT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE), -EINVAL);
  attr.cur_qp_state = IB_QPS_RTS;
  attr.qp_state = IB_QPS_RTS;
  EXPECT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE), -EINVAL);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  bring(qp, IB_QPS_RTS);
  EXPECT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE), 0);
}

// --- Negative tests
// ---------------------------------------------------------------------------------

TEST_F(StateCases, N_PostReceiveQpStateBadFlow) {
  ib_qp* qp = make_qp(datagram());
  EXPECT_EQ(post_recv(qp, 1), -EINVAL);
}

TEST_F(StateCases, N_PostSendQpStateBadFlow) {
  ib_qp* qp = make_qp(datagram());
  EXPECT_EQ(post_send(qp, 1), -EINVAL);
}

TEST_F(StateCases, N_FullRqBadFlow) {
  for (const std::uint32_t size : {1u, 2u, 15u, 16u, 17u, 384u}) {
    ib_qp_init_attr attr = init_attr();
    attr.cap.max_recv_wr = size;
    ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
    for (std::uint32_t i = 0; i < size; ++i) ASSERT_EQ(post_recv(qp, i), 0);
    EXPECT_EQ(post_recv(qp, size), -ENOMEM);
  }
}

TEST_F(StateCases, N_RqWithLargerSglBadFlow) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ib_recv_wr wr;
  wr.num_sge = 3;
  EXPECT_EQ(ib_post_recv(qp, &wr, &bad_recv), -EINVAL);
  EXPECT_EQ(bad_recv, &wr);
}

TEST_F(StateCases, N_CreateCqBadFlow) {
  ib_cq_init_attr attr;
  attr.cqe = static_cast<unsigned>(ibdev->attrs.max_cqe) + 1;
  EXPECT_EQ(PTR_ERR(ib_create_cq(ibdev, nullptr, nullptr, nullptr, &attr)), -EINVAL);
}

TEST_F(StateCases, N_AtomicInvalidLkey) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const ib_sge data{buffer, 8, mr->lkey + 1};
  ib_atomic_wr wr;
  wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
  wr.wr.sg_list = &data;
  wr.wr.num_sge = 1;
  EXPECT_EQ(ib_post_send(qp, &wr.wr, nullptr), -EINVAL);
}

TEST_F(StateCases, N_ModifyUdQp) {
  ib_qp* qp = make_qp(datagram());
  ib_qp_attr attr = path();
  ib_qp_init_attr init;
  attr.qp_state = IB_QPS_INIT;
  attr.qkey = 0x123;
  ASSERT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY), 0);
  ib_qp_attr found;
  ib_query_qp(qp, &found, 0, &init);
  EXPECT_EQ(found.qkey, 0x123u);
  attr.qp_state = IB_QPS_RTR;
  ASSERT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
  attr.qp_state = IB_QPS_RTS;
  attr.sq_psn = 0x45;
  ASSERT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN), 0);
  ib_query_qp(qp, &found, 0, &init);
  EXPECT_EQ(found.sq_psn, 0x45u);
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  ib_query_qp(qp, &found, 0, &init);
  EXPECT_EQ(found.qp_state, IB_QPS_RESET);
}

}  // namespace
}  // namespace hcasim::rvt
