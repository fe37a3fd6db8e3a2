// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What queue pairs are made of: get_allowed_ops, rvt_alloc_rq, rvt_init_qp, rvt_create_qp.
#include <cerrno>
#include <functional>

#include "hcasim/rvt/err_ptr.hpp"
#include "unit/driver/failing_new.hpp"
#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtAllocRq = DriverTest;
using RvtInitQp = DriverTest;
using RvtCreateQp = DriverTest;

TEST(GetAllowedOps, IsTheBaseOfTheTransport) {
  EXPECT_EQ(get_allowed_ops(IB_QPT_RC), 0x00);
  EXPECT_EQ(get_allowed_ops(IB_QPT_UC), 0x20);
  EXPECT_EQ(get_allowed_ops(IB_QPT_UD), 0x60);
  EXPECT_EQ(get_allowed_ops(IB_QPT_SMI), 0x60);
  EXPECT_EQ(get_allowed_ops(IB_QPT_GSI), 0x60);
}

TEST_F(RvtAllocRq, GivesARingAndATailRecord) {
  rvt_rq rq;
  rq.stride = 64;
  rq.size = 3;
  rq.max_sge = 3;
  const std::size_t blocks = host.blocks_allocated();
  ASSERT_EQ(rvt_alloc_rq(device.get(), &rq, 192), 0);
  EXPECT_EQ(host.blocks_allocated(), blocks + 2);
  EXPECT_EQ(rq.wq % 64, 0u);
  std::uint8_t last = 0;
  host.read(rq.wq + 191, &last, 1);
  EXPECT_ANY_THROW(host.read(rq.wq + 192, &last, 1));
  hw::TailRecord record;
  host.read(rq.tail_record, &record, sizeof record);
  EXPECT_EQ(record.tail, 0u);
  EXPECT_EQ(rq.size, 3u);  // the caller's
  EXPECT_EQ(rq.max_sge, 3u);
  rvt_free_rq(device.get(), &rq);
  EXPECT_EQ(host.blocks_allocated(), blocks);
}

TEST_F(RvtAllocRq, NoMemoryLeavesNothing) {
  const std::size_t blocks = host.blocks_allocated();
  for (const int left : {0, 1}) {
    rvt_rq rq;
    host.allocations_until_failure = left;
    EXPECT_EQ(rvt_alloc_rq(device.get(), &rq, 192), -ENOMEM);
    EXPECT_EQ(rq.wq, 0u);
    EXPECT_EQ(rq.tail_record, 0u);
    EXPECT_EQ(host.blocks_allocated(), blocks);
  }
  host.allocations_until_failure = -1;
}

TEST_F(RvtInitQp, SetsWhatBelongsToALifeAndKeepsTheRest) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  rvt_qp* found = rvt(qp);
  ASSERT_EQ(post_send(qp, 1), 0);
  ASSERT_EQ(post_recv(qp, 1), 0);
  take_receive(qp);
  found->s_flags |= 0x80;
  found->r_flags = RVT_R_COMM_EST;
  found->s_mig_state = IB_MIG_ARMED;
  found->s_reserved_used = 1;
  found->last_wqe_raised = found->r_rq.flushed = found->s_draining = true;
  rvt_init_qp(device.get(), found, IB_QPT_RC);
  for (const std::uint32_t cleared :
       {found->remote_qpn, found->qkey, found->qp_access_flags, found->s_next_psn, found->r_psn,
        found->s_head, found->s_last, found->s_reserved_used, found->r_rq.head, found->r_rq.tail,
        std::uint32_t{found->r_flags}}) {
    EXPECT_EQ(cleared, 0u);
  }
  EXPECT_EQ(found->s_flags, RVT_S_SIGNAL_REQ_WR);
  EXPECT_EQ(found->s_ssn, 1u);
  EXPECT_EQ(found->s_avail, 4u);
  EXPECT_EQ(found->s_mig_state, IB_MIG_MIGRATED);
  EXPECT_FALSE(found->last_wqe_raised || found->r_rq.flushed || found->s_draining ||
               found->r_rq.on_adapter);
  hw::TailRecord record;
  host.read(found->r_rq.tail_record, &record, sizeof record);
  EXPECT_EQ(record.tail, 0u);
  // Configuration stays.
  EXPECT_EQ(found->pmtu, 1024u);
  EXPECT_EQ(found->timeout, 14);
  EXPECT_EQ(found->s_retry_cnt, 7);
  EXPECT_EQ(found->s_rnr_retry_cnt, 6);
  EXPECT_EQ(found->r_min_rnr_timer, 12);
  EXPECT_EQ(found->s_max_rd_atomic, 4);
  EXPECT_EQ(found->port_num, 1u);
  EXPECT_EQ(found->state, IB_QPS_RTS);  // the caller's
}

// --- rvt_create_qp ------------------------------------------------------------------------------

TEST_F(RvtCreateQp, MakesAQueuePairInReset) {
  ib_qp* qp = make_qp();
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  EXPECT_EQ(rvt(qp)->s_avail, 4u);
  EXPECT_EQ(rvt(qp)->s_size, 5u);
  EXPECT_EQ(rvt(qp)->r_rq.size, 5u);
  EXPECT_EQ(rvt(qp)->s_ssn, 1u);
  EXPECT_EQ(rvt(qp)->s_flags, RVT_S_SIGNAL_REQ_WR);
  EXPECT_FALSE(rvt(qp)->in_table);  // packets do not find it yet
  EXPECT_EQ(device->n_qps_allocated, 1);
  EXPECT_EQ(device->n_rc_qps, 1);
  EXPECT_EQ(pd->usecnt, 2);  // with the region
  EXPECT_EQ(cq->usecnt, 2);
  const hw::QpContext& context = host.qps.at(qp->qp_num);
  EXPECT_EQ(context.state, hw::QpState::kReset);
  EXPECT_EQ(context.sq_size, 5u);
  EXPECT_EQ(context.sq_stride, hw::send_wqe_stride(2, 64));
  EXPECT_EQ(context.rq_size, 5u);
  EXPECT_EQ(context.rq_stride, 64u);
  EXPECT_EQ(context.rq_base % 64, 0u);
}

TEST_F(RvtCreateQp, EachSizeHasItsLimit) {
  const ib_qp_cap limits{0x3fff, 0x3fff, 30, 31, 512};
  for (std::uint32_t ib_qp_cap::*size :
       {&ib_qp_cap::max_send_wr, &ib_qp_cap::max_recv_wr, &ib_qp_cap::max_send_sge,
        &ib_qp_cap::max_recv_sge, &ib_qp_cap::max_inline_data}) {
    ib_qp_init_attr attr = init_attr();
    attr.cap.*size = limits.*size + 1;
    EXPECT_EQ(create_error(attr), -EINVAL);
    attr.cap.*size = limits.*size;
    EXPECT_EQ(create_error(attr), 0);
  }
}

TEST_F(RvtCreateQp, AllSizesZeroIsRefused) {
  ib_qp_init_attr attr = init_attr();
  attr.cap = {};
  EXPECT_EQ(create_error(attr), -EINVAL);
  attr.cap.max_recv_sge = 1;
  EXPECT_EQ(create_error(attr), 0);
}

TEST_F(RvtCreateQp, SpecialTypesNeedAPort) {
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_GSI;
  attr.port_num = 0;
  EXPECT_EQ(create_error(attr), -EINVAL);
  attr.port_num = 2;
  EXPECT_EQ(create_error(attr), -EINVAL);
  attr.port_num = 1;
  EXPECT_EQ(create_error(attr), 0);
  EXPECT_EQ(create_error(attr), -EINVAL);  // exists
}

TEST_F(RvtCreateQp, EveryTypeThatThereIs) {
  for (const ib_qp_type type : {IB_QPT_RC, IB_QPT_UC, IB_QPT_UD}) {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = type;
    EXPECT_EQ(create_error(attr), 0);
    EXPECT_EQ(rvt(qps.back())->allowed_ops, get_allowed_ops(type));
  }
  for (const ib_qp_type type : {IB_QPT_RAW_PACKET, IB_QPT_XRC_INI, IB_QPT_XRC_TGT}) {
    EXPECT_EQ(create_error(init_attr_of(type)), -EOPNOTSUPP);
  }
  EXPECT_EQ(device->n_rc_qps, 1);
}

TEST_F(RvtCreateQp, NetdevUseTakesTheAcceleratedRange) {
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_UD;
  attr.create_flags = IB_QP_CREATE_NETDEV_USE;
  ASSERT_EQ(create_error(attr), 0);
  EXPECT_EQ(qps.back()->qp_num >> 16, 0x81u);
}

TEST_F(RvtCreateQp, ReceiveSizesAreIgnoredWithASharedQueue) {
  ib_qp_init_attr attr = init_attr();
  attr.srq = make_srq();
  attr.cap = {0, UINT32_MAX, 0, UINT32_MAX, 0};
  ib_qp* qp = make_qp(attr);
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(rvt(qp)->r_rq.size, 0u);
  EXPECT_EQ(rvt(qp)->r_rq.wq, 0u);
}

TEST_F(RvtCreateQp, SignalsAllWhenAsked) {
  ib_qp_init_attr attr = init_attr();
  attr.sq_sig_type = IB_SIGNAL_ALL_WR;
  EXPECT_EQ(rvt(make_qp(attr))->s_flags, 0u);
}

TEST_F(RvtCreateQp, NoRoomForAnythingIsLegal) {
  ib_qp_init_attr attr = init_attr();
  attr.cap = {0, 0, 1, 1, 0};
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  EXPECT_EQ(post_recv(qp, 1), -ENOMEM);
  EXPECT_EQ(post_send(qp, 1), -ENOMEM);
}

// All faults that a creation can have, in the order in which they are looked for.
class RvtCreateQpFaults : public DriverTest {
 protected:
  struct Fault {
    int expected;
    std::function<void()> apply;
  };

  int create() {
    auto qp = std::make_unique<rvt_qp>();
    qp->ibqp.device = ibdev;
    qp->ibqp.pd = pd;
    qp->ibqp.qp_type = attr.qp_type;
    qp->ibqp.send_cq = qp->ibqp.recv_cq = cq;
    return rvt_create_qp(&qp->ibqp, &attr, nullptr);
  }
  void one_step_allocates(int blocks) { host.allocations_until_failure = blocks; }

  ib_qp_init_attr attr = {.cap = {4, 4, 2, 2, 0}};
  std::vector<Fault> faults{
      {-EOPNOTSUPP, [this] { attr.create_flags = 1; }},
      {-EINVAL, [this] { attr.cap.max_send_wr = 0x4000; }},
      {-EINVAL, [this] { attr.cap.max_recv_sge = 32; }},
      {-EOPNOTSUPP, [this] { attr.qp_type = IB_QPT_RAW_PACKET; }},
      {-ENOMEM, [this] { one_step_allocates(0); }},
      {-ENOSPC,
       [this] {
         device->driver_f.qp_priv_alloc = [](rvt_dev_info*, rvt_qp*) {
           return ERR_PTR<void>(-ENOSPC);
         };
       }},
      {-ENOMEM, [this] { one_step_allocates(1); }},
      {-EBUSY, [this] { device->driver_f.alloc_qpn = [](auto...) { return -EBUSY; }; }},
      {-ENXIO, [this] { device->driver_f.qp_priv_init = [](auto...) { return -ENXIO; }; }},
      {-ENOMEM, [this] { ibdev->attrs.max_qp = 0; }},
      {-EINVAL, [this] { host.commands_until_failure = 0; }},
  };
};

TEST_F(RvtCreateQpFaults, EachIsReportedBeforeAllThatFollow) {
  const std::size_t blocks = host.blocks_allocated();
  const int limit = ibdev->attrs.max_qp;
  for (std::size_t first = 0; first < faults.size(); ++first) {
    attr = {.cap = {4, 4, 2, 2, 0}};
    device->driver_f = {};
    ibdev->attrs.max_qp = limit;
    host.allocations_until_failure = host.commands_until_failure = -1;
    // The earliest last: of two that set the same thing it wins.
    for (std::size_t i = faults.size(); i-- > first;) faults[i].apply();
    EXPECT_EQ(create(), faults[first].expected) << first;
    EXPECT_EQ(host.blocks_allocated(), blocks) << first;
    EXPECT_EQ(device->n_qps_allocated, 0) << first;
    EXPECT_EQ(device->n_rc_qps, 0) << first;
  }
  device->driver_f = {};
  ibdev->attrs.max_qp = limit;
}

TEST_F(RvtCreateQp, NoMemoryForTheTableIsTheLastFault) {
  device->qp_dev.qpn_table.last = RVT_BITS_PER_PAGE;  // a page that neither table has yet
  for (const int left : {0, 1}) {
    const testing_support::FailingNew pages(left);
    EXPECT_EQ(create_error(init_attr()), -ENOMEM);
  }
  EXPECT_EQ(device->n_qps_allocated, 0);
  EXPECT_EQ(create_error(init_attr()), 0);
}

// Every allocation and the command fail once in turn: nothing may be left behind.
TEST_F(RvtCreateQp, FailureAtEachStepUnwindsCompletely) {
  const std::size_t blocks = host.blocks_allocated();
  for (int step = 0; step < 3; ++step) {
    host.allocations_until_failure = step;
    EXPECT_EQ(create_error(init_attr()), -ENOMEM) << step;
    EXPECT_EQ(host.blocks_allocated(), blocks);
  }
  host.allocations_until_failure = -1;
  host.commands_until_failure = 0;
  EXPECT_EQ(create_error(init_attr()), -EINVAL);
  host.failure_status = hw::CommandStatus::kNoResources;
  host.commands_until_failure = 0;
  EXPECT_EQ(create_error(init_attr()), -ENOMEM);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_qps_allocated, 0);
  EXPECT_EQ(device->n_rc_qps, 0);
  EXPECT_EQ(pd->usecnt, 1);
  EXPECT_EQ(cq->usecnt, 0);
}

class OneQp : public DriverTest {
 protected:
  OneQp() { host.limits.max_qp = 1; }
};

TEST_F(OneQp, Quirk8_CountIsTheLastCheckAndUnwinds) {
  ib_qp* qp = make_qp();
  ASSERT_FALSE(IS_ERR(qp));
  const std::size_t blocks = host.blocks_allocated();
  const std::uint32_t last = device->qp_dev.qpn_table.last;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(create_error(init_attr()), -ENOMEM);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  destroy(qp);
  qp = make_qp();
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(qp->qp_num, last + 2 * 101);  // numbers were taken and given back
}

}  // namespace
}  // namespace hcasim::rvt
