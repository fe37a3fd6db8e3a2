// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_modify_qp to ERR: receives are flushed before it returns.
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using RvtModifyQp = DriverTest;

TEST_F(RvtModifyQp, FlushComesBeforeErrReturnsAndInOrder) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  const auto wc = poll();
  EXPECT_EQ(ids(wc), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(wc[0].status, IB_WC_SUCCESS);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(wc[i].status, IB_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc[i].opcode, IB_WC_RECV);
    EXPECT_EQ(wc[i].qp, qp);
  }
}

TEST_F(RvtModifyQp, ErrorOfAQueueTheAdapterNeverHadFlushesAll) {
  ib_qp* qp = make_qp_in(IB_QPS_INIT);
  ASSERT_EQ(post_recv(qp, 1), 0);
  ASSERT_EQ(post_recv(qp, 2), 0);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(RvtModifyQp, FlushThatTheAdapterDoesNotAnswerUsesItsRecord) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(post_recv(qp, i), 0);
  ASSERT_TRUE(complete_recv(qp, 1));
  host.answers = false;
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), -EIO);
  EXPECT_EQ(ids(poll()), (std::vector<std::uint64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace hcasim::rvt
