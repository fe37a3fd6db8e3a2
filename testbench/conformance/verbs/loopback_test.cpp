// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Cases of queue pairs that are connected to one another on one node.
#include "hcasim/rvt/sync.hpp"
#include "verbs_bench.hpp"

namespace hcasim::verbs {
namespace {

constexpr hw::Time kWhile = 100 * hw::kMicrosecond;

/// All on node 0, whose driver carries the data.
class OneNode : public VerbsTest {
 protected:
  std::array<ib_qp*, 2> join_at_home(ib_qp_type type) {
    const auto& here = pair_.system().node(0).address();
    const rdma_ah_attr path = support::path_between(here, here);
    const std::array<ib_qp*, 2> made{make_qp(0, qp_attr(0, type)), make_qp(0, qp_attr(0, type))};
    to_rts(0, made[0], made[1], path, {.type = type});
    to_rts(0, made[1], made[0], path, {.type = type});
    return made;
  }
  std::size_t remote_node(std::size_t node) override { return node; }
};

TEST_F(OneNode, H6_Quirk18_ASendBehindAFailedWriteLeaves) {
  const auto [qp, peer] = join_at_home(IB_QPT_UC);
  ASSERT_EQ(receive(peer, 9, 64, 0), 0);
  ib_rdma_wr bad;
  ib_send_wr good;
  const ib_sge data{at(0, 0), 16, mr(0)->lkey};
  bad.wr.opcode = IB_WR_RDMA_WRITE;
  bad.wr.wr_id = 1;
  good.wr_id = 2;
  bad.remote_addr = at(0, 4096);
  bad.rkey = mr(0)->rkey + 7;
  bad.wr.next = &good;
  for (ib_send_wr* wr : {&bad.wr, &good}) {
    wr->sg_list = &data;
    wr->num_sge = 1;
    wr->send_flags = IB_SEND_SIGNALED;
  }
  ASSERT_EQ(ib_post_send(qp, &bad.wr, nullptr), 0);
  run(kWhile);
  std::vector<ib_wc> sent;
  for (const ib_wc& wc : poll(0)) {
    if (wc.wr_id != 9) sent.push_back(wc);
  }
  // The responder is in ERR by the first, so the second is lost on its way, as UC may.
  EXPECT_EQ(ids(sent), (Ids{1, 2}));
  EXPECT_EQ(statuses(sent), (Statuses{IB_WC_REM_ACCESS_ERR, IB_WC_SUCCESS}));
  EXPECT_EQ(state_of(0, qp), IB_QPS_RTS);
}

// Either end is sender and responder at once, and both fail by what they do to each other.
TEST_F(OneNode, B10_LocksOfBothEndsAreTakenInOneOrder) {
  if (!kLocksChecked) GTEST_SKIP() << "built without assertions";
  const auto [one, other] = join_at_home(IB_QPT_RC);
  for (std::uint64_t i = 0; i < 4; ++i) {
    for (ib_qp* qp : {one, other}) ASSERT_EQ(receive(qp, i, 64, 0), 0);
  }
  for (const std::uint32_t bytes : {64u, 64u, 65u}) {
    for (ib_qp* qp : {one, other}) EXPECT_NO_THROW(post(qp, {.bytes = bytes}));
  }
  EXPECT_NO_THROW(run(kWhile));
  EXPECT_EQ(state_of(0, one), IB_QPS_ERR);
  EXPECT_EQ(state_of(0, other), IB_QPS_ERR);
}

TEST_F(OneNode, H7_AnEmptyReadNeedsNoKeyAndKeepsNone) {
  const auto [qp, peer] = join_at_home(IB_QPT_RC);
  ib_mr* extra = nullptr;
  task(0, [&] { extra = ib_reg_user_mr(pd(0), at(0, 0), 4096, at(0, 0), IB_ACCESS_REMOTE_READ); });
  ASSERT_FALSE(IS_ERR(extra));
  for (const std::uint32_t key_error : {extra->rkey - mr(0)->rkey, 7u}) {
    ASSERT_EQ(post(qp, {.opcode = IB_WR_RDMA_READ, .bytes = 0, .key_error = key_error}), 0);
    run(kWhile);
    EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_SUCCESS});
  }
  task(0, [&] { EXPECT_EQ(ib_dereg_mr(extra), 0); });
}

TEST_F(OneNode, H13_Quirk19_ATooLongSendIsALengthErrorOfTheReceiver) {
  const auto [qp, peer] = join_at_home(IB_QPT_RC);
  ASSERT_EQ(receive(peer, 9, 64, 0), 0);
  ASSERT_EQ(post(qp, {.bytes = 65, .wr_id = 1}), 0);
  run(kWhile);
  const auto done = poll(0);
  EXPECT_EQ(ids(done), (Ids{9, 1}));
  EXPECT_EQ(statuses(done), (Statuses{IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR}));
  EXPECT_EQ(state_of(0, qp), IB_QPS_ERR);
  EXPECT_EQ(state_of(0, peer), IB_QPS_ERR);
}

}  // namespace
}  // namespace hcasim::verbs
