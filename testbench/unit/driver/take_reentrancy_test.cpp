// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A receive that is taken while a handler does what it likes to the same queues: it is one of what
// was posted, nobody else has it, and it ends once, in its order.
#include "unit/driver/loopback_fixture.hpp"
#include "unit/driver/reentrancy_fixture.hpp"

namespace hcasim::rvt {
namespace {

#ifndef NDEBUG

class TakeReentrancy : public Interrupted<LoopbackTest> {
 protected:
  using Verb = void (TakeReentrancy::*)();
  struct Named {
    const char* name;
    Verb verb;
  };

  void receive() { post_one(310, mr->lkey); }
  void poll_some() { books.poll(poll(cq, 2)); }
  void fail() { rvt_rc_error(rvt(b), IB_WC_LOC_QP_OP_ERR); }
  void fail_peer() { rvt_rc_error(rvt(a), IB_WC_LOC_QP_OP_ERR); }
  void enter() {
    ib_wc wc;
    wc.wr_id = 330;
    books.post(wc.wr_id);
    EXPECT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(cq), wc, false));
  }
  void arm() { EXPECT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0); }
  void send_back() {
    EXPECT_EQ(post_opcode(b, IB_WR_RDMA_WRITE, 340), 0);
    books.post(340);
  }
  static std::vector<Named> verbs() {
    return {{"post_send", &TakeReentrancy::send_back},
            {"req_notify_cq", &TakeReentrancy::arm},
            {"post_recv", &TakeReentrancy::receive},
            {"poll_cq", &TakeReentrancy::poll_some},
            {"an error", &TakeReentrancy::fail},
            {"an error of the peer", &TakeReentrancy::fail_peer},
            {"rvt_cq_enter", &TakeReentrancy::enter}};
  }

  void post_one(std::uint64_t id, std::uint32_t lkey) {
    EXPECT_EQ(post_recv_at(b, id, 64 * id, 64, lkey), 0);
    books.post(id);
  }
  /// Ends the receive in hand as a message does, unless an error has done so.
  void complete_in_hand() {
    std::uint8_t& flags = rvt(b)->r_aflags;
    if ((flags & RVT_R_WRID_VALID) == 0) return;
    flags &= static_cast<std::uint8_t>(~RVT_R_WRID_VALID);
    ib_wc wc;
    wc.wr_id = rvt(b)->r_wr_id;
    wc.qp = b;
    wc.opcode = IB_WC_RECV;
    rvt_recv_cq(rvt(b), &wc, false);
  }
  int interrupted_once(const Named& inner, int wanted, bool faulty) {
    books = {};
    connect();
    post_one(110, faulty ? mr->lkey ^ 0xff : mr->lkey);
    for (const std::uint64_t id : {111, 112}) post_one(id, mr->lkey);
    int taken = 0;
    const int points = interrupt_at(
        wanted, [&] { taken = rvt_get_rwqe(rvt(b), false); }, [&] { (this->*inner.verb)(); });
    if (taken == 0) {
      EXPECT_EQ(rvt(b)->state, IB_QPS_ERR);
    } else {
      EXPECT_EQ(taken, faulty ? -1 : 1);
    }
    complete_in_hand();
    fail();
    poll_some();
    books.poll(poll());
    books.expect_settled();
    for (ib_qp* qp : {a, b}) destroy(qp);
    return points;
  }
  void interrupt(bool faulty) {
    for (const Named& inner : verbs()) {
      SCOPED_TRACE(inner.name);
      at_each_point([&](int wanted) { return interrupted_once(inner, wanted, faulty); });
    }
  }

  Books books;
};

TEST_F(TakeReentrancy, OfItsOwnQueue) {
  interrupt(false);
}

TEST_F(TakeReentrancy, OfItsOwnQueueWithAFaultyReceive) {
  interrupt(true);
}

/// Both ends take from one queue; what they took is remembered with who has it.
class SharedTakeReentrancy : public TakeReentrancy {
 protected:
  static constexpr std::uint64_t kReceives = 6;

  void prepare() {
    taken.clear();
    ib_srq_init_attr of_srq;
    of_srq.attr = {kReceives, 2, 0};
    srq = ib_create_srq(pd, &of_srq);
    ib_qp_init_attr attr = init_attr();
    attr.srq = srq;
    connect(attr);
    for (std::uint64_t id = 0; id < kReceives; ++id) {
      const ib_sge data = sge(64);
      const auto wr = list_of<ib_recv_wr>(1, id, data);
      EXPECT_EQ(ib_post_srq_recv(srq, wr.data(), nullptr), 0);
    }
  }
  /// What a message does to a receive.
  bool take(ib_qp* qp) {
    if (rvt_get_rwqe(rvt(qp), false) != 1) return false;
    rvt(qp)->r_aflags &= static_cast<std::uint8_t>(~RVT_R_WRID_VALID);
    taken.push_back(rvt(qp)->r_wr_id);
    return true;
  }
  void take_all() {
    for (std::uint64_t i = 0; i < 2 * kReceives; ++i) {
      host.settle();
      take(a);
      take(b);
    }
  }
  void clean_up() {
    for (ib_qp* qp : {a, b}) destroy(qp);
    host.settle();
    EXPECT_EQ(ib_destroy_srq(srq), 0);
  }
  void prepare_and_ask(bool ask) {
    prepare();
    if (!ask) return;
    EXPECT_FALSE(take(b));
    host.settle();
  }
  void expect_all_taken_once() {
    take_all();
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(taken, (Ids{0, 1, 2, 3, 4, 5}));
    clean_up();
  }
  /// `b` takes, which it may have asked for beforehand, and `handler` comes in its middle.
  template <typename Handler>
  void interrupt_takes(bool asked, Handler handler) {
    at_each_point([&](int wanted) {
      prepare_and_ask(asked);
      const int points = interrupt_at(
          wanted, [&] { EXPECT_EQ(take(b), asked); }, handler);
      expect_all_taken_once();
      return points;
    });
  }

  Ids taken;
  ib_srq* srq = nullptr;
};

TEST_F(SharedTakeReentrancy, OfTheOtherEnd) {
  for (const bool asked : {false, true}) {
    interrupt_takes(asked, [this] { take(a); });
  }
}

TEST_F(SharedTakeReentrancy, AndTheAnswerInItsMiddle) {
  interrupt_takes(true, [this] {
    take(a);
    host.run(host.now() + 2 * host.command_time);
    take(a);
  });
}

// Who goes to ERR in the middle has taken its receive, or has not.
TEST_F(SharedTakeReentrancy, AndAnErrorInItsMiddle) {
  for (const bool asked : {false, true}) {
    at_each_point([&](int wanted) {
      prepare_and_ask(asked);
      const int points = interrupt_at(
          wanted, [&] { rvt_get_rwqe(rvt(b), false); }, [&] { fail(); });
      fail();
      for (const ib_wc& wc : poll()) taken.push_back(wc.wr_id);
      expect_all_taken_once();
      return points;
    });
  }
}

#endif

}  // namespace
}  // namespace hcasim::rvt
