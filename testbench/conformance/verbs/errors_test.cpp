// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the consumer of either side sees of a request that fails.
#include <algorithm>
#include <cerrno>

#include "verbs_bench.hpp"

namespace hcasim::verbs {
namespace {

constexpr hw::Time kWhile = 100 * hw::kMicrosecond;

class Errors : public VerbsTest {
 protected:
  std::ptrdiff_t heard(std::size_t node, ib_event_type type) const {
    return std::ranges::count(heard_[node].events, type);
  }
};

TEST_F(Errors, B29_EveryPostBehindTheFailedOneIsFlushed) {
  for (const ib_wr_opcode opcode : {IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND}) {
    const auto [qp, peer] = make_pair();
    ASSERT_EQ(post(qp, {.opcode = IB_WR_RDMA_WRITE, .wr_id = 1, .key_error = 7}), 0);
    run(kWhile);
    EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_REM_ACCESS_ERR});
    EXPECT_EQ(state_of(0, qp), IB_QPS_ERR);
    for (std::uint64_t i = 2; i < 5; ++i) {
      ASSERT_EQ(post(qp, {.opcode = opcode, .wr_id = i, .flags = 0}), 0);
    }
    run(kWhile);
    const auto done = poll(0);
    EXPECT_EQ(ids(done), (Ids{2, 3, 4}));
    EXPECT_EQ(statuses(done), Statuses(3, IB_WC_WR_FLUSH_ERR));
  }
}

TEST_F(Errors, B37_TheResponderHearsOfItOnce) {
  for (const ib_wr_opcode opcode : {IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ}) {
    const auto [qp, peer] = make_pair();
    ASSERT_EQ(receive(peer, 5), 0);
    heard_[1].events.clear();
    ASSERT_EQ(post(qp, {.opcode = opcode, .key_error = 7}), 0);
    run(kWhile);
    EXPECT_EQ(heard_[1].events, std::vector{IB_EVENT_QP_ACCESS_ERR});
    EXPECT_EQ(state_of(1, peer), IB_QPS_ERR);
    // The key is looked at before a receive is taken, so that is flushed as one that was not used.
    EXPECT_EQ(statuses(poll(1)), Statuses{IB_WC_WR_FLUSH_ERR});
    poll(0);
  }
}

TEST_F(Errors, B38_APeerCannotInvalidateARegionOfAUser) {
  const auto [qp, peer] = make_pair();
  ASSERT_EQ(receive(peer, 1), 0);
  ib_send_wr wr;
  wr.opcode = IB_WR_SEND_WITH_INV;
  wr.ex.invalidate_rkey = mr(1)->rkey;
  ASSERT_EQ(ib_post_send(qp, &wr, nullptr), 0);
  run(kWhile);
  EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_REM_ACCESS_ERR});
  poll(1);
  const auto again = make_pair();
  ASSERT_EQ(post(again[0], {.opcode = IB_WR_RDMA_WRITE}), 0);
  run(kWhile);
  EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_SUCCESS});
}

TEST_F(Errors, B50_NoRegionReachesRoundTheEndOfAddresses) {
  for (const ib_wr_opcode opcode : {IB_WR_RDMA_WRITE, IB_WR_RDMA_READ}) {
    for (const std::uint32_t bytes : {0x400u, 0x401u, 0x8000u}) {
      const auto [qp, peer] = make_pair();
      const std::uint64_t last = std::uint64_t{0} - 0x400 - at(1, 0);
      ASSERT_EQ(post(qp, {.opcode = opcode, .bytes = bytes, .remote = last}), 0);
      run(kWhile);
      EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_REM_ACCESS_ERR});
    }
  }
}

TEST_F(Errors, B83_TheCauseIsTheFirstToBeSeen) {
  for (std::size_t bad = 0; bad < 3; ++bad) {
    const auto [qp, peer] = make_pair();
    for (std::uint64_t i = 0; i < 3; ++i) {
      ASSERT_EQ(post(qp, {.opcode = IB_WR_RDMA_WRITE, .wr_id = i, .key_error = i == bad ? 7u : 0u}),
                0);
    }
    run(kWhile);
    Statuses expected(3, IB_WC_WR_FLUSH_ERR);
    std::fill_n(expected.begin(), bad, IB_WC_SUCCESS);
    expected[bad] = IB_WC_REM_ACCESS_ERR;
    const auto done = poll(0);
    EXPECT_EQ(statuses(done), expected);
    EXPECT_EQ(ids(done), (Ids{0, 1, 2}));
  }
}

TEST_F(Errors, B02_AFullQueueStopsWhoeverCompletesInIt) {
  ib_cq* small = make_cq(0, 2);
  ib_qp_init_attr attr = qp_attr(0);
  attr.send_cq = attr.recv_cq = small;
  ib_qp* first = make_qp(0, attr);
  ib_qp* second = make_qp(0, attr);
  join(first, make_qp(1, qp_attr(1)));
  join(second, make_qp(1, qp_attr(1)));
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(post(first, {.opcode = IB_WR_RDMA_WRITE, .wr_id = i}), 0);
  }
  run(kWhile);
  EXPECT_EQ(heard(0, IB_EVENT_CQ_ERR), 1);
  EXPECT_EQ(state_of(0, first), IB_QPS_ERR);
  EXPECT_EQ(state_of(0, second), IB_QPS_RTS);  // until it completes something
  EXPECT_EQ(ids(poll_queue(small)), (Ids{0, 1}));
  ASSERT_EQ(post(second, {.opcode = IB_WR_RDMA_WRITE}), 0);
  run(kWhile);
  EXPECT_EQ(state_of(0, second), IB_QPS_ERR);
  EXPECT_TRUE(poll_queue(small).empty());
}

TEST_F(Errors, H13_Quirk19_ATooLongSendIsALengthErrorOfTheReceiver) {
  const auto [qp, peer] = make_pair();
  ASSERT_EQ(receive(peer, 5, 64), 0);
  ASSERT_EQ(receive(peer, 6, 64), 0);
  ASSERT_EQ(post(qp, {.bytes = 65}), 0);
  run(kWhile);
  EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_REM_INV_REQ_ERR});
  const auto done = poll(1);
  EXPECT_EQ(ids(done), (Ids{5, 6}));
  EXPECT_EQ(statuses(done), (Statuses{IB_WC_LOC_LEN_ERR, IB_WC_WR_FLUSH_ERR}));
}

class Atomics : public Errors {
 protected:
  static constexpr Work kAdd{.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .bytes = 8};

  // What both atomics end with; the memory they name stays as it is.
  void expect_refused(const std::array<ib_qp*, 2>& pair, Work work, ib_wc_status status) {
    write(1, 0, marks(64));
    ASSERT_EQ(post(pair[0], work), 0);
    run(kWhile);
    EXPECT_EQ(statuses(poll(0)), Statuses{status});
    EXPECT_EQ(state_of(0, pair[0]), IB_QPS_ERR);
    EXPECT_EQ(read(1, 0, 64), marks(64));
  }
  static Work with(ib_wr_opcode opcode, Work work = kAdd) {
    work.opcode = opcode;
    return work;
  }
};

constexpr ib_wr_opcode kBoth[] = {IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_ATOMIC_CMP_AND_SWP};

TEST_F(Atomics, N_AtomicInvalidQpAccess) {
  for (const ib_wr_opcode opcode : kBoth) {
    const auto pair = make_pair();
    ib_qp_attr attr;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
    ASSERT_EQ(modify(1, pair[1], attr, IB_QP_ACCESS_FLAGS), 0);
    expect_refused(pair, with(opcode), IB_WC_REM_INV_REQ_ERR);
  }
}

TEST_F(Atomics, N_AtomicInvalidMrAccess) {
  ib_mr* plain = nullptr;
  task(1, [&] {
    plain = ib_reg_user_mr(pd(1), at(1, 0), kMemory, at(1, 0),
                           IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
  });
  ASSERT_FALSE(IS_ERR(plain));
  for (const ib_wr_opcode opcode : kBoth) {
    Work work = with(opcode);
    work.key_error = plain->rkey - mr(1)->rkey;
    expect_refused(make_pair(), work, IB_WC_REM_ACCESS_ERR);
  }
  task(1, [&] { EXPECT_EQ(ib_dereg_mr(plain), 0); });
}

TEST_F(Atomics, N_AtomicNonAlignedAddr) {
  for (const ib_wr_opcode opcode : kBoth) {
    for (const std::uint64_t off : {1u, 4u, 7u}) {
      Work work = with(opcode);
      work.remote = off;
      expect_refused(make_pair(), work, IB_WC_REM_INV_REQ_ERR);
    }
  }
}

TEST_F(Atomics, N_AtomicInvalidRkey) {
  for (const ib_wr_opcode opcode : kBoth) {
    Work work = with(opcode);
    work.key_error = 1;
    expect_refused(make_pair(), work, IB_WC_REM_ACCESS_ERR);
  }
}

TEST_F(Atomics, N_AtomicInvalidLkey) {
  const auto pair = make_pair();
  for (const ib_wr_opcode opcode : kBoth) {
    Work work = with(opcode);
    work.lkey_error = 1;
    EXPECT_EQ(post(pair[0], work), -EINVAL);
    EXPECT_NE(bad_send_, nullptr);
  }
}

}  // namespace
}  // namespace hcasim::verbs
