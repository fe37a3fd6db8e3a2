// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_create_qp and rvt_destroy_qp: order of checks, what is made, what a failure leaves behind.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class CreateQp : public DriverTest {
 protected:
  int error_of(const ib_qp_init_attr& attr) {
    ib_qp* qp = make_qp(attr);
    return IS_ERR(qp) ? PTR_ERR(qp) : 0;
  }
};

TEST_F(CreateQp, MakesAQueuePairInReset) {
  ib_qp* qp = make_qp();
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  EXPECT_EQ(rvt(qp)->s_avail, 4u);
  EXPECT_EQ(rvt(qp)->s_size, 5u);
  EXPECT_EQ(rvt(qp)->r_rq.size, 5u);
  EXPECT_EQ(rvt(qp)->s_ssn, 1u);
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

TEST_F(CreateQp, ChecksFlagsBeforeSizesBeforeType) {
  ib_qp_init_attr attr = init_attr();
  attr.create_flags = 1;
  attr.cap.max_send_wr = 0xffff;
  attr.qp_type = IB_QPT_RAW_PACKET;
  EXPECT_EQ(error_of(attr), -EOPNOTSUPP);
  attr.create_flags = 0;
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr.cap.max_send_wr = 4;
  EXPECT_EQ(error_of(attr), -EOPNOTSUPP);
  EXPECT_EQ(device->n_qps_allocated, 0);
}

TEST_F(CreateQp, EachSizeHasItsLimit) {
  const ib_qp_cap limits{0x3fff, 0x3fff, 30, 31, 512};
  for (std::uint32_t ib_qp_cap::*size :
       {&ib_qp_cap::max_send_wr, &ib_qp_cap::max_recv_wr, &ib_qp_cap::max_send_sge,
        &ib_qp_cap::max_recv_sge, &ib_qp_cap::max_inline_data}) {
    ib_qp_init_attr attr = init_attr();
    attr.cap.*size = limits.*size + 1;
    EXPECT_EQ(error_of(attr), -EINVAL);
    attr.cap.*size = limits.*size;
    EXPECT_EQ(error_of(attr), 0);
  }
}

TEST_F(CreateQp, AllSizesZeroIsRefused) {
  ib_qp_init_attr attr = init_attr();
  attr.cap = {};
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr.cap.max_recv_sge = 1;
  EXPECT_EQ(error_of(attr), 0);
}

TEST_F(CreateQp, SpecialTypesNeedAPort) {
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_GSI;
  attr.port_num = 0;
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr.port_num = 2;
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr.port_num = 1;
  EXPECT_EQ(error_of(attr), 0);
  EXPECT_EQ(error_of(attr), -EINVAL);  // exists
}

TEST_F(CreateQp, EveryTypeThatThereIs) {
  for (const ib_qp_type type : {IB_QPT_RC, IB_QPT_UC, IB_QPT_UD}) {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = type;
    EXPECT_EQ(error_of(attr), 0);
    EXPECT_EQ(rvt(qps.back())->allowed_ops, get_allowed_ops(type));
  }
  EXPECT_EQ(get_allowed_ops(IB_QPT_RC), 0x00);
  EXPECT_EQ(get_allowed_ops(IB_QPT_UC), 0x20);
  EXPECT_EQ(get_allowed_ops(IB_QPT_UD), 0x60);
  EXPECT_EQ(get_allowed_ops(IB_QPT_SMI), 0x60);
  EXPECT_EQ(device->n_rc_qps, 1);
}

TEST_F(CreateQp, NetdevUseTakesTheAcceleratedRange) {
  ib_qp_init_attr attr = init_attr();
  attr.qp_type = IB_QPT_UD;
  attr.create_flags = IB_QP_CREATE_NETDEV_USE;
  ASSERT_EQ(error_of(attr), 0);
  EXPECT_EQ(qps.back()->qp_num >> 16, 0x81u);
}

// Every allocation and the command fail once in turn: nothing may be left behind.
TEST_F(CreateQp, FailureAtEachStepUnwindsCompletely) {
  const std::size_t blocks = host.blocks_allocated();
  for (int step = 0; step < 3; ++step) {
    host.allocations_until_failure = step;
    EXPECT_EQ(error_of(init_attr()), -ENOMEM) << step;
    EXPECT_EQ(host.blocks_allocated(), blocks);
  }
  host.allocations_until_failure = -1;
  host.commands_until_failure = 0;
  EXPECT_EQ(error_of(init_attr()), -EINVAL);
  host.failure_status = hw::CommandStatus::kNoResources;
  host.commands_until_failure = 0;
  EXPECT_EQ(error_of(init_attr()), -ENOMEM);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_qps_allocated, 0);
  EXPECT_EQ(device->n_rc_qps, 0);
  EXPECT_EQ(pd->usecnt, 1);
  EXPECT_EQ(cq->usecnt, 0);
}

class OneQp : public CreateQp {
 protected:
  OneQp() { host.limits.max_qp = 1; }
};

TEST_F(OneQp, CountIsTheLastCheckAndUnwinds) {
  ib_qp* qp = make_qp();
  ASSERT_FALSE(IS_ERR(qp));
  const std::size_t blocks = host.blocks_allocated();
  const std::uint32_t last = device->qp_dev.qpn_table.last;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(error_of(init_attr()), -ENOMEM);
  EXPECT_EQ(host.blocks_allocated(), blocks);
  destroy(qp);
  qp = make_qp();
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(qp->qp_num, last + 2 * 101);  // numbers were taken and given back
}

TEST_F(CreateQp, DestroyWorksInEveryStateAndFreesAll) {
  const std::size_t blocks = host.blocks_allocated();
  for (const ib_qp_state state :
       {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_ERR}) {
    destroy(make_qp_in(state));
    EXPECT_EQ(host.blocks_allocated(), blocks);
    EXPECT_TRUE(host.qps.empty());
    EXPECT_EQ(device->n_qps_allocated, 0);
  }
}

TEST_F(CreateQp, DestroyFreesThoughTheCommandFails) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.answers = false;
  Seen seen;
  rvt_set_event_handler(device.get(), Seen::event, &seen);
  destroy(qp);
  EXPECT_TRUE(rvt_device_failed(device.get()));
  EXPECT_EQ(seen.events, std::vector{IB_EVENT_DEVICE_FATAL});
  EXPECT_EQ(device->n_qps_allocated, 0);
}

TEST_F(CreateQp, GuardsAgainstDestructionInUse) {
  ib_qp* qp = make_qp();
  EXPECT_EQ(ib_destroy_cq(cq), -EBUSY);
  EXPECT_EQ(ib_dealloc_pd(pd), -EBUSY);
  qp->usecnt = 1;
  EXPECT_EQ(ib_destroy_qp(qp), -EBUSY);
  qp->usecnt = 0;
}

TEST_F(CreateQp, NoRoomForAnythingIsLegal) {
  ib_qp_init_attr attr = init_attr();
  attr.cap = {0, 0, 1, 1, 0};
  ib_qp* qp = make_qp_in(IB_QPS_RTS, attr);
  EXPECT_EQ(post_recv(qp, 1), -ENOMEM);
  EXPECT_EQ(post_send(qp, 1), -ENOMEM);
}

}  // namespace
}  // namespace hcasim::rvt
