// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Attaching queue pairs to multicast groups.
#include <cerrno>

#include "hcasim/hw/wire/multicast.hpp"
#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

ib_gid group(std::uint8_t last) {
  ib_gid gid;
  gid.raw = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, last};
  return gid;
}

class McastTest : public DriverTest {
 protected:
  ib_qp* datagram_qp() {
    ib_qp_init_attr init = init_attr();
    init.qp_type = IB_QPT_UD;
    ib_qp* made = make_qp(init);
    ib_qp_attr to{};
    to.qp_state = IB_QPS_INIT;
    to.port_num = 1;
    EXPECT_EQ(ib_modify_qp(made, &to, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY), 0);
    return made;
  }
  static int attach(ib_qp* qp, const ib_gid& gid, std::uint16_t lid = 0) {
    return ib_attach_mcast(qp, &gid, lid);
  }
  static int detach(ib_qp* qp, const ib_gid& gid, std::uint16_t lid = 0) {
    return ib_detach_mcast(qp, &gid, lid);
  }
};

TEST_F(McastTest, TheAdapterLearnsOfMembers) {
  ib_qp* qp = datagram_qp();
  EXPECT_EQ(attach(qp, group(1)), 0);
  EXPECT_EQ(host.members.count({group(1).raw, qp->qp_num}), 1u);
  EXPECT_EQ(ib_destroy_qp(qp), -EBUSY);
  EXPECT_EQ(detach(qp, group(1)), 0);
  EXPECT_TRUE(host.members.empty());
  EXPECT_EQ(detach(qp, group(1)), -EINVAL);
}

TEST_F(McastTest, RefusesWhatCannotBeAttached) {
  ib_qp* qp = datagram_qp();
  ib_gid unicast = group(1);
  unicast.raw[0] = 0xfe;
  EXPECT_EQ(attach(qp, unicast), -EINVAL);
  EXPECT_EQ(attach(make_qp_in(IB_QPS_RTS), group(1)), -EINVAL);  // RC
  ib_qp_init_attr init = init_attr();
  init.qp_type = IB_QPT_UD;
  EXPECT_EQ(attach(make_qp(init), group(1)), -EINVAL);  // RESET
  init.qp_type = IB_QPT_GSI;
  EXPECT_EQ(attach(qp, group(1), 0xc001), 0);
  EXPECT_EQ(attach(qp, group(1), 0xc002), -EINVAL);  // another LID
  EXPECT_EQ(detach(qp, group(1), 0xc002), -EINVAL);
  EXPECT_EQ(detach(qp, group(2), 0xc001), -EINVAL);
  EXPECT_EQ(detach(datagram_qp(), group(1), 0xc001), -EINVAL);
  EXPECT_EQ(detach(qp, group(1), 0xc001), 0);
}

// The kernel's count would keep the queue pair for ever.
TEST_F(McastTest, AttachingTwiceIsAttachingOnce) {
  ib_qp* qp = datagram_qp();
  EXPECT_EQ(attach(qp, group(1)), 0);
  EXPECT_EQ(attach(qp, group(1)), 0);
  EXPECT_EQ(detach(qp, group(1)), 0);
  destroy(qp);
}

TEST_F(McastTest, LimitsAreThoseOfTheAdapter) {
  EXPECT_EQ(ibdev->attrs.max_mcast_grp, 3);
  EXPECT_EQ(ibdev->attrs.max_mcast_qp_attach, 2);
  EXPECT_EQ(ibdev->attrs.max_total_mcast_qp_attach, 6);
  ib_qp* a = datagram_qp();
  ib_qp* b = datagram_qp();
  ib_qp* c = datagram_qp();
  for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(attach(a, group(i)), 0);
  EXPECT_EQ(attach(a, group(3)), -ENOMEM);
  EXPECT_EQ(attach(b, group(0)), 0);
  EXPECT_EQ(attach(c, group(0)), -ENOMEM);
  EXPECT_EQ(detach(b, group(0)), 0);
  EXPECT_EQ(attach(c, group(0)), 0);
  EXPECT_EQ(detach(c, group(0)), 0);
  for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(detach(a, group(i)), 0);
}

TEST_F(McastTest, AnAdapterThatRefusesLeavesNothing) {
  ib_qp* qp = datagram_qp();
  host.commands_until_failure = 0;
  host.failure_status = hw::CommandStatus::kNoResources;
  EXPECT_EQ(attach(qp, group(1)), -ENOMEM);
  EXPECT_EQ(detach(qp, group(1)), -EINVAL);
  destroy(qp);
}

// What is sent to a group has the group's Ethernet address.
TEST_F(McastTest, AnAddressHandleOfAGroupHasItsMac) {
  rdma_ah_attr attr = path().ah_attr;
  attr.grh.dgid = group(4);
  ib_ah* ah = rdma_create_ah(pd, &attr);
  rdma_ah_attr found;
  rdma_query_ah(ah, &found);
  EXPECT_EQ(found.roce.dmac, (mac_address{0x33, 0x33, 1, 2, 3, 4}));
  attr.grh.dgid.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 0x81, 3, 4};
  ASSERT_EQ(rdma_modify_ah(ah, &attr), 0);
  rdma_query_ah(ah, &found);
  EXPECT_EQ(found.roce.dmac, (mac_address{0x01, 0x00, 0x5e, 1, 3, 4}));
  rdma_destroy_ah(ah);
}

}  // namespace
}  // namespace hcasim::rvt
