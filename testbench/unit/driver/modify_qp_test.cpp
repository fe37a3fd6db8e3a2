// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_modify_qp: order of checks, values, what the adapter is told.
#include <cerrno>
#include <functional>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtModifyQp = DriverTest;

TEST_F(RvtModifyQp, ConnectsAnRcQueuePair) {
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

TEST_F(RvtModifyQp, PathGoesToTheAddressVector) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(modify_with(qp, IB_QPS_RTR, kRtrMask,
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

TEST_F(RvtModifyQp, PortComesFromTheFlowLabelWhenNotGiven) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(modify_with(qp, IB_QPS_RTR, kRtrMask,
                        [](ib_qp_attr& attr) { attr.ah_attr.grh.flow_label = 0x84001; }),
            0);
  EXPECT_EQ(host.qps.at(qp->qp_num).av.udp_sport, 0xc000 | (0x0001 ^ 0x21));
}

// Unknown bits beat everything, a move that the table has not beats the driver above, which beats
// values.
TEST_F(RvtModifyQp, ChecksInOrder) {
  static int asked = 0;
  asked = 0;
  device->driver_f.check_modify_qp = [](auto...) { return ++asked; };
  ib_qp* qp = make_qp();
  const auto bad_port = [](ib_qp_attr& attr) { attr.port_num = 9; };
  const int unknown = 0x20'0000;
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, kInitMask | unknown, bad_port), -EOPNOTSUPP);
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, kInitMask, bad_port), -EINVAL);
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask | IB_QP_QKEY, bad_port), -EINVAL);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, bad_port), -EINVAL);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr&) {}), -EINVAL);  // a veto
  device->driver_f = {};
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, bad_port), -EINVAL);
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr&) {}), 0);
}

TEST_F(RvtModifyQp, EachBitBeyondTheStandardOnesIsNotSupported) {
  ib_qp* qp = make_qp();
  for (int bit = 21; bit < 32; ++bit) {
    const int mask = kInitMask | static_cast<int>(1u << bit);
    EXPECT_EQ(modify_with(qp, IB_QPS_INIT, mask, [](ib_qp_attr&) {}), -EOPNOTSUPP) << bit;
  }
}

TEST_F(RvtModifyQp, CurrentStateMustBeTrue) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  const auto claim = [&](ib_qp_state state, int mask) {
    return modify_with(qp, IB_QPS_RTS, mask | IB_QP_STATE | IB_QP_CUR_STATE,
                       [&](ib_qp_attr& attr) { attr.cur_qp_state = state; });
  };
  // Moves that exist, from elsewhere.
  EXPECT_EQ(claim(IB_QPS_RTS, 0), -EINVAL);
  EXPECT_EQ(claim(IB_QPS_SQD, 0), -EINVAL);
  EXPECT_EQ(claim(IB_QPS_INIT, 0), -EINVAL);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RTR);
  EXPECT_EQ(claim(IB_QPS_RTR, kRtsMask), 0);
}

TEST_F(RvtModifyQp, ValuesOutOfRangeAreRefusedAndChangeNothing) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  device->dparms.gid_table_len = 255;
  const std::size_t commands = host.commands.size();
  const auto refused = [&](auto change) {
    EXPECT_EQ(modify_with(qp, IB_QPS_RTR, kRtrMask, change), -EINVAL);
    EXPECT_EQ(rvt(qp)->state, IB_QPS_INIT);
    EXPECT_EQ(host.commands.size(), commands);
  };
  refused([](ib_qp_attr& attr) { attr.ah_attr.dlid = 0xc000; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.port_num = 0; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.port_num = 2; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.static_rate = 1; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.static_rate = 23; });
  refused([](ib_qp_attr& attr) { attr.ah_attr.grh.sgid_index = 255; });
  refused([](ib_qp_attr& attr) { attr.min_rnr_timer = 32; });
  refused([](ib_qp_attr& attr) { attr.dest_qp_num = 0x100'0000; });
  refused([](ib_qp_attr& attr) { attr.path_mtu = static_cast<ib_mtu>(0); });
  refused([](ib_qp_attr& attr) { attr.path_mtu = static_cast<ib_mtu>(6); });
  refused([](ib_qp_attr& attr) { attr.max_dest_rd_atomic = 17; });
  EXPECT_EQ(
      modify_with(qp, IB_QPS_RTR, kRtrMask, [](ib_qp_attr& attr) { attr.max_dest_rd_atomic = 16; }),
      0);
}

TEST_F(RvtModifyQp, RetriesPkeysPortsAndMigration) {
  ib_qp* qp = make_qp();
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr& attr) { attr.pkey_index = 1; }),
            -EINVAL);
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr& attr) { attr.port_num = 0; }),
            -EINVAL);
  EXPECT_EQ(modify_with(qp, IB_QPS_INIT, kInitMask, [](ib_qp_attr& attr) { attr.port_num = 2; }),
            -EINVAL);
  bring(qp, IB_QPS_RTR);
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, kRtsMask, [](ib_qp_attr& attr) { attr.retry_cnt = 8; }),
            -EINVAL);
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, kRtsMask, [](ib_qp_attr& attr) { attr.rnr_retry = 8; }),
            -EINVAL);
  const int migrate = kRtsMask | IB_QP_PATH_MIG_STATE;
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, migrate,
                        [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_ARMED; }),
            -EINVAL);
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, migrate,
                        [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_REARM; }),
            0);
  EXPECT_EQ(rvt(qp)->s_mig_state, IB_MIG_REARM);
  // Migrating by hand is refused while the alternate path is only asked for.
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, IB_QP_STATE | IB_QP_PATH_MIG_STATE,
                        [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_MIGRATED; }),
            -EINVAL);
  rvt(qp)->s_mig_state = IB_MIG_ARMED;
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, IB_QP_STATE | IB_QP_PATH_MIG_STATE,
                        [](ib_qp_attr& attr) { attr.path_mig_state = IB_MIG_MIGRATED; }),
            0);
  EXPECT_EQ(qp_seen.events, std::vector{IB_EVENT_PATH_MIG});
}

TEST_F(RvtModifyQp, MigrationTakesTheAlternatePath) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  rvt(qp)->s_mig_state = IB_MIG_ARMED;
  rvt(qp)->alt_ah_attr.grh.hop_limit = 9;
  rvt(qp)->s_alt_pkey_index = 5;
  const auto migrate = [&](ib_mig_state state) {
    return modify_with(qp, IB_QPS_RTS, IB_QP_STATE | IB_QP_PATH_MIG_STATE,
                       [&](ib_qp_attr& attr) { attr.path_mig_state = state; });
  };
  EXPECT_EQ(migrate(IB_MIG_REARM), -EINVAL);  // is armed
  EXPECT_TRUE(qp_seen.events.empty());
  EXPECT_EQ(migrate(IB_MIG_MIGRATED), 0);
  EXPECT_EQ(rvt(qp)->remote_ah_attr.grh.hop_limit, 9);
  EXPECT_EQ(rvt(qp)->s_pkey_index, 5);
  EXPECT_EQ(qp_seen.events, std::vector{IB_EVENT_PATH_MIG});
  EXPECT_EQ(migrate(IB_MIG_MIGRATED), 0);  // has: nothing to tell
  EXPECT_EQ(qp_seen.events.size(), 1u);
}

TEST_F(RvtModifyQp, AlternatePathIsChecked) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  const int mask = kRtrMask | IB_QP_ALT_PATH;
  EXPECT_EQ(modify_with(qp, IB_QPS_RTR, mask, [](ib_qp_attr& attr) { attr.alt_pkey_index = 1; }),
            -EINVAL);
  EXPECT_EQ(
      modify_with(qp, IB_QPS_RTR, mask, [](ib_qp_attr& attr) { attr.alt_ah_attr.dlid = 0xffff; }),
      -EINVAL);
}

TEST_F(RvtModifyQp, Quirk29_TheTimeoutOfTheAlternatePathIsKept) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  const int mask = kRtrMask | IB_QP_ALT_PATH;
  EXPECT_EQ(modify_with(qp, IB_QPS_RTR, mask, [](ib_qp_attr& attr) { attr.alt_timeout = 9; }), 0);
  ib_qp_attr found;
  ib_qp_init_attr init;
  ib_query_qp(qp, &found, 0, &init);
  EXPECT_EQ(found.alt_timeout, 9);
}

TEST_F(RvtModifyQp, TimeoutIsClampedAndMtuReduced) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  device->limits.max_mtu = 2048;
  ASSERT_EQ(
      modify_with(qp, IB_QPS_RTR, kRtrMask, [](ib_qp_attr& attr) { attr.path_mtu = IB_MTU_4096; }),
      0);
  EXPECT_EQ(rvt(qp)->pmtu, 2048u);
  EXPECT_EQ(host.qps.at(qp->qp_num).path_mtu, IB_MTU_2048);
  ASSERT_EQ(modify_with(qp, IB_QPS_RTS, kRtsMask, [](ib_qp_attr& attr) { attr.timeout = 40; }), 0);
  EXPECT_EQ(rvt(qp)->timeout, 31);
  EXPECT_EQ(host.qps.at(qp->qp_num).timeout, 31);
}

TEST_F(RvtModifyQp, NumbersAreTakenModulo24BitsAndDepthAsIs) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  ASSERT_EQ(modify_with(qp, IB_QPS_RTS, kRtsMask,
                        [](ib_qp_attr& attr) {
                          attr.sq_psn = 0xff00'0005;
                          attr.max_rd_atomic = 255;
                        }),
            0);
  EXPECT_EQ(rvt(qp)->s_next_psn, 5u);
  EXPECT_EQ(rvt(qp)->s_max_rd_atomic, 255);
}

TEST_F(RvtModifyQp, RefusalOfTheAdapterChangesNothing) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  host.commands_until_failure = 0;
  EXPECT_EQ(to_state(qp, IB_QPS_RTR), -EINVAL);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_INIT);
  EXPECT_EQ(rvt(qp)->remote_qpn, 0u);
  EXPECT_FALSE(rvt(qp)->r_rq.on_adapter);
  EXPECT_EQ(to_state(qp, IB_QPS_RTR), 0);
}

TEST_F(RvtModifyQp, RtrLetsCommunicationBeEstablishedAnew) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  rvt(qp)->r_flags = RVT_R_COMM_EST;
  ASSERT_EQ(to_state(qp, IB_QPS_RTR), 0);
  EXPECT_EQ(rvt(qp)->r_flags, 0);
}

TEST_F(RvtModifyQp, ErrTwiceAsksTheAdapterAndFlushesOnce) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ASSERT_EQ(post_recv(qp, 1), 0);
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(ids(poll()), std::vector<std::uint64_t>{1});
}

TEST_F(RvtModifyQp, ResetInResetAsksNothing) {
  ib_qp* qp = make_qp();
  const std::size_t commands = host.commands.size();
  EXPECT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(host.commands.size(), commands);
}

TEST_F(RvtModifyQp, StateFollowsTheAdapterUpwardsAndLeadsItDownwards) {
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

TEST_F(RvtModifyQp, ErrorWhileTheCommandIsUnderWayHasTheLastWord) {
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  host.on_command = [&](const hw::Mailbox&) {
    host.event(0, hw::EqeType::kQpError, qp->qp_num, 9);
  };
  EXPECT_EQ(to_state(qp, IB_QPS_RTS), 0);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
}

TEST_F(RvtModifyQp, ReceivesPostedDuringTheMoveToRtrAreNotForgotten) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(post_recv(qp, 1), 0);
  host.on_command = [&](const hw::Mailbox&) { EXPECT_EQ(post_recv(qp, 2), 0); };
  ASSERT_EQ(to_state(qp, IB_QPS_RTR), 0);
  EXPECT_EQ(host.qps.at(qp->qp_num).rq_head, 1u);
  const auto bells = host.rung(hw::bar::kReceiveDoorbell);
  ASSERT_EQ(bells.size(), 1u);
  EXPECT_EQ(bells[0].index, 2u);
}

TEST_F(RvtModifyQp, AttributesWithoutAState) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, IB_QP_MIN_RNR_TIMER,
                        [](ib_qp_attr& attr) { attr.min_rnr_timer = 5; }),
            0);
  EXPECT_EQ(rvt(qp)->r_min_rnr_timer, 5);
  EXPECT_EQ(host.qps.at(qp->qp_num).min_rnr_timer, 5);
  EXPECT_EQ(modify_with(qp, IB_QPS_RTS, IB_QP_TIMEOUT, [](ib_qp_attr&) {}), -EINVAL);
}

TEST_F(RvtModifyQp, OutsideATaskIsRefused) {
  ib_qp* qp = make_qp();
  host.set_may_wait(false);
  EXPECT_EQ(to_state(qp, IB_QPS_INIT), -EDEADLK);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
}

TEST_F(RvtModifyQp, NoAnswerIsAnInputOutputError) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  host.answers = false;
  const hw::Time begin = host.now();
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), -EIO);
  EXPECT_EQ(host.now() - begin, params.command_timeout);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
  EXPECT_EQ(to_state(qp, IB_QPS_RESET), -EIO);
  EXPECT_EQ(host.now() - begin, params.command_timeout);  // the device is known to have failed
}

}  // namespace
}  // namespace hcasim::rvt
