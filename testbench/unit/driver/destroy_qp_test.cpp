// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_destroy_qp.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtDestroyQp = DriverTest;

TEST_F(RvtDestroyQp, WorksInEveryStateAndFreesAll) {
  const std::size_t blocks = host.blocks_allocated();
  for (const ib_qp_state state : kStates) {
    destroy(make_qp_in(state));
    EXPECT_EQ(host.blocks_allocated(), blocks);
    EXPECT_TRUE(host.qps.empty());
    EXPECT_EQ(device->n_qps_allocated, 0);
    EXPECT_EQ(device->n_rc_qps, 0);
  }
}

TEST_F(RvtDestroyQp, FreesThoughTheCommandFails) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.answers = false;
  Seen seen;
  rvt_set_event_handler(device.get(), Seen::event, &seen);
  destroy(qp);
  EXPECT_TRUE(rvt_device_failed(device.get()));
  EXPECT_EQ(seen.events, std::vector{IB_EVENT_DEVICE_FATAL});
  EXPECT_EQ(device->n_qps_allocated, 0);
}

TEST_F(RvtDestroyQp, GuardsAreTheCoreLayers) {
  ib_qp* qp = make_qp();
  EXPECT_EQ(ib_destroy_cq(cq), -EBUSY);
  EXPECT_EQ(ib_dealloc_pd(pd), -EBUSY);
  qp->usecnt = 1;
  EXPECT_EQ(ib_destroy_qp(qp), -EBUSY);
  qp->usecnt = 0;
}

TEST_F(RvtDestroyQp, CompletesNothingAndKeepsWhatHasCompleted) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(post_send(qp, i), 0);
    ASSERT_EQ(post_recv(qp, i), 0);
  }
  ASSERT_TRUE(complete_send(qp, 0));
  destroy(qp);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].wr_id, 1u);
  EXPECT_EQ(wc[0].byte_len, 64u);
}

TEST_F(RvtDestroyQp, GivesTheNumberBack) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  const std::uint32_t qpn = qp->qp_num;
  destroy(qp);
  EXPECT_EQ(rvt_find_qp(device.get(), qpn), nullptr);
  EXPECT_EQ(rvt_lookup_qpn(device.get(), 1, qpn), nullptr);
  device->qp_dev.qpn_table.last = qpn - device->qp_dev.qpn_table.incr;
  EXPECT_EQ(make_qp()->qp_num, qpn);
}

TEST_F(RvtDestroyQp, SpecialOneCanBeMadeAgain) {
  ib_qp* qp = make_qp(init_attr_of(IB_QPT_GSI));
  EXPECT_EQ(create_error(init_attr_of(IB_QPT_GSI)), -EINVAL);
  destroy(qp);
  EXPECT_EQ(create_error(init_attr_of(IB_QPT_GSI)), 0);
}

}  // namespace
}  // namespace hcasim::rvt
