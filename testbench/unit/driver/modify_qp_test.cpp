// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_modify_qp and rvt_query_qp: order of checks, values, what the adapter is told.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class ModifyQp : public DriverTest {
 protected:
  /// Modifies with one attribute set by `change`; the queue pair must not have changed on an error.
  template <typename Change>
  int with(ib_qp* qp, ib_qp_state state, int mask, Change change) {
    ib_qp_attr attr = path();
    attr.qp_state = state;
    change(attr);
    return rvt_modify_qp(qp, &attr, mask, nullptr);
  }
};

TEST_F(ModifyQp, ConnectsAnRcQueuePair) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RTS);
  const hw::QpContext& context = host.qps.at(qp->qp_num);
  EXPECT_EQ(context.state, hw::QpState::kRts);
  EXPECT_EQ(context.path_mtu, IB_MTU_1024);
  EXPECT_EQ(context.remote_qpn, 0x77u);
  EXPECT_EQ(context.rq_psn, 0x100u);
  EXPECT_EQ(context.sq_psn, 0x200u);
  EXPECT_EQ(context.timeout, 14);
  EXPECT_EQ(context.retry_cnt, 7);
  EXPECT_EQ(context.rnr_retry, 6);
  EXPECT_EQ(context.min_rnr_timer, 12);
  EXPECT_EQ(context.max_rd_atomic, 4);
  EXPECT_EQ(context.max_dest_rd_atomic, 4);
  EXPECT_EQ(context.access_flags, 0xeu);
  EXPECT_EQ(host.commands.back().mask, static_cast<std::uint32_t>(kRtsMask));
}

TEST_F(ModifyQp, PathGoesToTheAddressVector) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(with(qp, IB_QPS_RTR, kRtrMask,
                 [](ib_qp_attr& attr) {
                   attr.ah_attr.grh.dgid.raw[15] = 2;
                   attr.ah_attr.grh.sgid.raw[15] = 1;
                   attr.ah_attr.grh.hop_limit = 3;
                   attr.ah_attr.grh.traffic_class = 4;
                   attr.ah_attr.roce.dmac = {1, 2, 3, 4, 5, 6};
                   attr.ah_attr.roce.smac = {7, 8, 9, 10, 11, 12};
                   attr.ah_attr.roce.udp_sport = 0xd123;
                 }),
            0);
  const hw::AddressVector& av = host.qps.at(qp->qp_num).av;
  EXPECT_EQ(av.dgid[15], 2);
  EXPECT_EQ(av.sgid[15], 1);
  EXPECT_EQ(av.hop_limit, 3);
  EXPECT_EQ(av.traffic_class, 4);
  EXPECT_EQ(av.dmac[5], 6);
  EXPECT_EQ(av.smac[0], 7);
  EXPECT_EQ(av.udp_sport, 0xd123);
  EXPECT_EQ(av.port, 1);
}

TEST_F(ModifyQp, PortComesFromTheFlowLabelWhenNotGiven) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(with(qp, IB_QPS_RTR, kRtrMask,
                 [](ib_qp_attr& attr) { attr.ah_attr.grh.flow_label = 0x84001; }),
            0);
  EXPECT_EQ(host.qps.at(qp->qp_num).av.udp_sport, 0xc000 | (0x0001 ^ 0x21));
}

TEST_F(ModifyQp, ValuesOutOfRangeAreRefusedAndChangeNothing) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  const std::size_t commands = host.commands.size();
  const auto refused = [&](auto change) {
    EXPECT_EQ(with(qp, IB_QPS_RTR, kRtrMask, change), -EINVAL);
    EXPECT_EQ(rvt(qp)->state, IB_QPS_INIT);
    EXPECT_EQ(host.commands.size(), commands);
  };
  refused([](ib_qp_attr& attr) { attr.ah_attr.dlid = 0xc000; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.port_num = 0; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.port_num = 2; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.static_rate = 1; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.static_rate = 23; });
  refused([](ib_qp_attr& attr) { attr.min_rnr_timer = 32; });
  refused([](ib_qp_attr& attr) { attr.dest_qp_num = 0x100'0000; });
  refused([](ib_qp_attr& attr) { attr.path_mtu = static_cast<ib_mtu>(0); });
  refused([](ib_qp_attr& attr) { attr.path_mtu = static_cast<ib_mtu>(6); });
  refused([](ib_qp_attr& attr) { attr.max_dest_rd_atomic = 17; });
  EXPECT_EQ(with(qp, IB_QPS_RTR, kRtrMask, [](ib_qp_attr& attr) { attr.max_dest_rd_atomic = 16; }),
            0);
}

TEST_F(ModifyQp, RetriesPkeysPortsAndMigration) {
  ib_qp* qp = make_qp();
  EXPECT_EQ(with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr& attr) { attr.pkey_index = 1; }),
            -EINVAL);
  EXPECT_EQ(with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr& attr) { attr.port_num = 0; }), -EINVAL);
  EXPECT_EQ(with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr& attr) { attr.port_num = 2; }), -EINVAL);
  bring(qp, IB_QPS_RTR);
  EXPECT_EQ(with(qp, IB_QPS_RTS, kRtsMask, [](ib_qp_attr& attr) { attr.retry_cnt = 8; }), -EINVAL);
  EXPECT_EQ(with(qp, IB_QPS_RTS, kRtsMask, [](ib_qp_attr& attr) { attr.rnr_retry = 8; }), -EINVAL);
  const int migrate = kRtsMask | IB_QP_PATH_MIG_STATE;
  EXPECT_EQ(
      with(qp, IB_QPS_RTS, migrate, [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_ARMED; }),
      -EINVAL);
  EXPECT_EQ(
      with(qp, IB_QPS_RTS, migrate, [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_REARM; }),
      0);
  EXPECT_EQ(rvt(qp)->s_mig_state, IB_MIG_REARM);
  // Migrating by hand is refused while the alternate path is only asked for.
  EXPECT_EQ(with(qp, IB_QPS_RTS, IB_QP_STATE | IB_QP_PATH_MIG_STATE,
                 [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_MIGRATED; }),
            -EINVAL);
  rvt(qp)->s_mig_state = IB_MIG_ARMED;
  EXPECT_EQ(with(qp, IB_QPS_RTS, IB_QP_STATE | IB_QP_PATH_MIG_STATE,
                 [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_MIGRATED; }),
            0);
  EXPECT_EQ(qp_seen.events, std::vector{IB_EVENT_PATH_MIG});
}

TEST_F(ModifyQp, AlternatePathIsCheckedAndKept) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  const int mask = kRtrMask | IB_QP_ALT_PATH;
  EXPECT_EQ(with(qp, IB_QPS_RTR, mask, [](ib_qp_attr& attr) { attr.alt_pkey_index = 1; }), -EINVAL);
  EXPECT_EQ(with(qp, IB_QPS_RTR, mask, [](ib_qp_attr& attr) { attr.alt_ah_attr.dlid = 0xffff; }),
            -EINVAL);
  EXPECT_EQ(with(qp, IB_QPS_RTR, mask, [](ib_qp_attr& attr) { attr.alt_timeout = 9; }), 0);
  ib_qp_attr found;
  ib_qp_init_attr init;
  ib_query_qp(qp, &found, 0, &init);
  EXPECT_EQ(found.alt_timeout, 9);  // rdmavt forgets it
}

TEST_F(ModifyQp, TimeoutIsClampedAndMtuReduced) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  device->limits.max_mtu = 2048;
  ASSERT_EQ(with(qp, IB_QPS_RTR, kRtrMask, [](ib_qp_attr& attr) { attr.path_mtu = IB_MTU_4096; }),
            0);
  EXPECT_EQ(rvt(qp)->pmtu, 2048u);
  EXPECT_EQ(host.qps.at(qp->qp_num).path_mtu, IB_MTU_2048);
  ASSERT_EQ(with(qp, IB_QPS_RTS, kRtsMask, [](ib_qp_attr& attr) { attr.timeout = 40; }), 0);
  EXPECT_EQ(rvt(qp)->timeout, 31);
  EXPECT_EQ(host.qps.at(qp->qp_num).timeout, 31);
}

TEST_F(ModifyQp, RefusalOfTheAdapterChangesNothing) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  host.commands_until_failure = 0;
  EXPECT_EQ(to_state(qp, IB_QPS_RTR), -EINVAL);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_INIT);
  EXPECT_EQ(rvt(qp)->remote_qpn, 0u);
  EXPECT_FALSE(rvt(qp)->r_rq.on_adapter);
  EXPECT_EQ(to_state(qp, IB_QPS_RTR), 0);
}

TEST_F(ModifyQp, StateFollowsTheAdapterUpwardsAndLeadsItDownwards) {
  ib_qp* qp = make_qp();
  std::vector<std::pair<hw::QpState, ib_qp_state>> seen;
  host.on_command = [&](const hw::Mailbox& mailbox) {
    seen.emplace_back(hw::load<hw::QpContext>(mailbox.payload).state, rvt(qp)->state);
  };
  bring(qp, IB_QPS_SQD);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  const std::vector<std::pair<hw::QpState, ib_qp_state>> expected{
      {hw::QpState::kInit, IB_QPS_RESET}, {hw::QpState::kRtr, IB_QPS_INIT},
      {hw::QpState::kRts, IB_QPS_RTR},    {hw::QpState::kSqd, IB_QPS_SQD},
      {hw::QpState::kErr, IB_QPS_ERR},    {hw::QpState::kReset, IB_QPS_RESET}};
  EXPECT_EQ(seen, expected);
}

TEST_F(ModifyQp, ErrorWhileTheCommandIsUnderWayHasTheLastWord) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  host.on_command = [&](const hw::Mailbox&) {
    host.event(0, hw::EqeType::kQpError, qp->qp_num, 9);
  };
  EXPECT_EQ(to_state(qp, IB_QPS_RTS), 0);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
}

TEST_F(ModifyQp, ReceivesPostedDuringTheMoveToRtrAreNotForgotten) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(post_recv(qp, 1), 0);
  host.on_command = [&](const hw::Mailbox&) { EXPECT_EQ(post_recv(qp, 2), 0); };
  ASSERT_EQ(to_state(qp, IB_QPS_RTR), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 1u);
  const auto bells = host.rung(hw::bar::kReceiveDoorbell);
  ASSERT_EQ(bells.size(), 1u);
  EXPECT_EQ(bells[0].index, 2u);
}

TEST_F(ModifyQp, AttributesWithoutAState) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(
      with(qp, IB_QPS_RTS, IB_QP_MIN_RNR_TIMER, [](ib_qp_attr& attr) { attr.min_rnr_timer = 5; }),
      0);
  EXPECT_EQ(rvt(qp)->r_min_rnr_timer, 5);
  EXPECT_EQ(host.qps.at(qp->qp_num).min_rnr_timer, 5);
  EXPECT_EQ(with(qp, IB_QPS_RTS, IB_QP_TIMEOUT, [](ib_qp_attr&) {}), -EINVAL);
}

TEST_F(ModifyQp, OutsideATaskIsRefused) {
  ib_qp* qp = make_qp();
  host.set_may_wait(false);
  EXPECT_EQ(to_state(qp, IB_QPS_INIT), -EDEADLK);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
}

TEST_F(ModifyQp, NoAnswerIsAnInputOutputError) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.answers = false;
  const hw::Time begin = host.now();
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), -EIO);
  EXPECT_EQ(host.now() - begin, params.command_timeout);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(to_state(qp, IB_QPS_RESET), -EIO);
  EXPECT_EQ(host.now() - begin, params.command_timeout);  // the device is known to have failed
}

// --- Query
// ----------------------------------------------------------------------------------------

TEST_F(ModifyQp, QueryTellsWhatWasSet) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ASSERT_EQ(ib_query_qp(qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.cur_qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.path_mtu, IB_MTU_1024);
  EXPECT_EQ(attr.sq_psn, 0x200u);
  EXPECT_EQ(attr.rq_psn, 0x100u);
  EXPECT_EQ(attr.dest_qp_num, 0x77u);
  EXPECT_EQ(attr.retry_cnt, 7);
  EXPECT_EQ(attr.rnr_retry, 6);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(attr.port_num, 1u);
  EXPECT_EQ(attr.cap.max_send_wr, 4u);
  EXPECT_EQ(attr.cap.max_recv_wr, 4u);
  EXPECT_EQ(attr.cap.max_inline_data, 64u);
  EXPECT_EQ(init.send_cq, cq);
  EXPECT_EQ(init.sq_sig_type, IB_SIGNAL_REQ_WR);
}

TEST_F(ModifyQp, QueryTellsTheNextPsns) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_send(qp, 1), 0);
  host.qps.at(qp->qp_num).rq_psn = 0x123;
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ib_query_qp(qp, &attr, 0, &init);
  EXPECT_EQ(attr.sq_psn, 0x201u);
  EXPECT_EQ(attr.rq_psn, 0x123u);
  host.set_may_wait(false);
  host.qps.at(qp->qp_num).rq_psn = 0x124;
  ib_query_qp(qp, &attr, 0, &init);
  EXPECT_EQ(attr.rq_psn, 0x123u);  // cannot ask the adapter here
}

}  // namespace
}  // namespace hcasim::rvt
