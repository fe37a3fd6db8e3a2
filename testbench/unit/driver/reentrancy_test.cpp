// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Every data verb in the middle of every other one, at each of its preemption points, on the same
// queues: nothing is lost, done twice or out of order.
#include <cerrno>

#include "hcasim/hw/bar.hpp"
#include "unit/driver/reentrancy_fixture.hpp"

namespace hcasim::rvt {
namespace {

#ifndef NDEBUG

class Reentrancy : public Interrupted<DriverTest> {
 protected:
  static constexpr std::uint32_t kDepth = 12;  // of each queue

  using Verb = void (Reentrancy::*)(std::uint64_t caller);
  struct Named {
    const char* name;
    Verb verb;
  };

  // --- The verbs

  void send(std::uint64_t caller) { send_some(caller, 1); }
  void send_list(std::uint64_t caller) { send_some(caller, 3); }
  void send_some(std::uint64_t first, std::size_t count) {
    const ib_sge data = sge(64);
    auto list = list_of<ib_send_wr>(count, first, data);
    for (ib_send_wr& wr : list) wr.send_flags = IB_SEND_SIGNALED;
    EXPECT_EQ(ib_post_send(qp, list.data(), nullptr), 0);
    for (const ib_send_wr& wr : list) books.post(wr.wr_id);
  }
  void receive(std::uint64_t caller) {
    const ib_sge data = sge(64);
    const auto list = list_of<ib_recv_wr>(2, caller + Books::kReceive, data);
    EXPECT_EQ(ib_post_recv(qp, list.data(), nullptr), 0);
    for (const ib_recv_wr& wr : list) books.post(wr.wr_id);
  }
  void receive_shared(std::uint64_t caller) {
    const ib_sge data = sge(64);
    const auto list = list_of<ib_recv_wr>(2, caller + Books::kShared, data);
    EXPECT_EQ(ib_post_srq_recv(srq, list.data(), nullptr), 0);
    for (const ib_recv_wr& wr : list) books.post(wr.wr_id);
  }
  void poll_some(std::uint64_t /*caller*/) { books.poll(poll(queue, 4)); }
  void arm(std::uint64_t /*caller*/) { EXPECT_EQ(ib_req_notify_cq(queue, IB_CQ_NEXT_COMP), 0); }
  void make_handle(std::uint64_t /*caller*/) {
    rdma_ah_attr attr;
    attr.port_num = 1;
    handles.push_back(rdma_create_ah(pd, &attr));
    EXPECT_FALSE(IS_ERR(handles.back()));
  }
  void enter(std::uint64_t caller) {
    ib_wc wc;
    wc.wr_id = caller + Books::kEntered;
    books.post(wc.wr_id);
    EXPECT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(queue), wc, false));
  }
  void fail(std::uint64_t /*caller*/) { rvt_rc_error(rvt(qp), IB_WC_LOC_QP_OP_ERR); }
  /// As at the adapter's event; no effect before the queue pair is in ERR.
  void flush(std::uint64_t /*caller*/) {
    const DataVerb verb("rvt_flush_rq");  // for its points
    rvt_flush_rq(rvt(qp), host.tails[qp->qp_num]);
  }

  static std::vector<Named> verbs() {
    return {
        {"post_send", &Reentrancy::send},        {"post_send of a list", &Reentrancy::send_list},
        {"post_recv", &Reentrancy::receive},     {"post_srq_recv", &Reentrancy::receive_shared},
        {"poll_cq", &Reentrancy::poll_some},     {"req_notify_cq", &Reentrancy::arm},
        {"create_ah", &Reentrancy::make_handle}, {"rvt_cq_enter", &Reentrancy::enter},
        {"rvt_rc_error", &Reentrancy::fail},     {"rvt_flush_rq", &Reentrancy::flush}};
  }

  // --- One call with one handler at one place

  void prepare(bool failed) {
    books = {};
    queue = make_cq(64);
    ib_qp_init_attr attr = init_attr();
    attr.cap.max_send_wr = attr.cap.max_recv_wr = kDepth;
    attr.send_cq = attr.recv_cq = queue;
    qp = make_qp_in(IB_QPS_RTS, attr);
    ib_srq_init_attr of_srq;
    of_srq.attr = {kDepth, 2, 0};
    srq = ib_create_srq(pd, &of_srq);
    send_some(Books::kBefore, 3);
    receive(Books::kBefore);
    receive_shared(Books::kBefore);
    completed = 0;
    complete_next_send();
    complete_next_send();
    if (failed) fail(0);
  }

  void complete_next_send() {
    const bool flushed = rvt(qp)->state == IB_QPS_ERR;
    EXPECT_TRUE(complete_send(qp, completed % rvt(qp)->s_size,
                              flushed ? hw::WcStatus::kWrFlushErr : hw::WcStatus::kSuccess));
    ++completed;
  }
  std::uint64_t id_in(const rvt_rq& rq, std::uint32_t slot) {
    std::uint64_t id = 0;
    host.read(rq.wq + std::uint64_t{slot} * rq.stride, &id, sizeof id);
    return id;
  }
  /// The adapter does what is posted; what the SRQ holds is handed out in its order.
  void finish() {
    host.settle();
    while (completed % rvt(qp)->s_size != rvt(qp)->s_head) complete_next_send();
    const rvt_rq& rq = rvt(qp)->r_rq;
    const std::uint32_t& tail = host.tails[qp->qp_num];
    while (rvt(qp)->state != IB_QPS_ERR && tail != rq.head) {
      EXPECT_TRUE(complete_recv(qp, id_in(rq, tail)));
    }
    for (bool more = true; more;) {
      const auto some = poll(queue);
      books.poll(some);
      more = !some.empty();
    }
    const rvt_rq& shared = ibsrq_to_rvtsrq(srq)->rq;
    std::vector<ib_wc> handed_out;
    for (std::uint32_t slot = 0; slot != shared.head; ++slot) {
      handed_out.emplace_back().wr_id = id_in(shared, slot);
    }
    books.poll(handed_out);
  }
  void check(bool polls_nested) {
    books.expect_settled(polls_nested);
    EXPECT_EQ(rvt(qp)->s_last, rvt(qp)->s_head);
    for (std::uint32_t i = 0; i < kDepth; ++i) EXPECT_EQ(post_send(qp, i), 0);
    EXPECT_EQ(post_send(qp, kDepth), -ENOMEM);
    if (rvt(qp)->state == IB_QPS_ERR) return;  // receives end as they are posted
    expect_doorbells_up_to_date();
    for (std::uint32_t i = 0; i < kDepth; ++i) EXPECT_EQ(post_recv(qp, i), 0);
    EXPECT_EQ(post_recv(qp, kDepth), -ENOMEM);
  }
  void expect_doorbells_up_to_date() {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> last;
    for (const auto& bell : host.doorbells) last[{bell.offset, bell.number}] = bell.index;
    const std::uint32_t srqn = ibsrq_to_rvtsrq(srq)->srqn;
    EXPECT_EQ((last[{hw::bar::kSendDoorbell, qp->qp_num}]), rvt(qp)->s_head);
    EXPECT_EQ((last[{hw::bar::kReceiveDoorbell, qp->qp_num}]), rvt(qp)->r_rq.head);
    EXPECT_EQ((last[{hw::bar::kReceiveDoorbell, srqn}]), ibsrq_to_rvtsrq(srq)->rq.head);
  }
  void clean_up() {
    for (ib_ah* ah : handles) EXPECT_EQ(rdma_destroy_ah(ah), 0);
    handles.clear();
    EXPECT_EQ(device->n_ahs_allocated, 0);
    host.settle();
    destroy(qp);
    EXPECT_EQ(ib_destroy_srq(srq), 0);
    std::erase(cqs, queue);
    EXPECT_EQ(ib_destroy_cq(queue), 0);
    host.doorbells.clear();
  }

  int interrupted_once(const Named& outer, const Named& inner, int wanted, bool failed) {
    prepare(failed);
    const int points = interrupt_at(
        wanted, [&] { (this->*outer.verb)(Books::kCall); },
        [&] { (this->*inner.verb)(Books::kHandler); });
    finish();
    check(outer.verb == &Reentrancy::poll_some && inner.verb == outer.verb);
    clean_up();
    return points;
  }
  void interrupt_all(bool failed) {
    for (const Named& outer : verbs()) {
      for (const Named& inner : verbs()) {
        SCOPED_TRACE(std::string(inner.name) + " in the middle of " + outer.name);
        at_each_point([&](int wanted) { return interrupted_once(outer, inner, wanted, failed); });
      }
    }
  }

  static void post_once(void* self, std::uint64_t /*argument*/) {
    auto* test = static_cast<Reentrancy*>(self);
    ibcq_to_rvtcq(test->queue)->entered = {};
    test->receive(Books::kHandler);
  }

  Books books;
  ib_cq* queue = nullptr;
  ib_qp* qp = nullptr;
  ib_srq* srq = nullptr;
  std::vector<ib_ah*> handles;
  std::uint32_t completed = 0;  // sends, by the adapter
};

TEST_F(Reentrancy, EveryDataVerbWithinEveryOther) {
  interrupt_all(false);
}

TEST_F(Reentrancy, EveryDataVerbWithinEveryOtherOfAQueuePairThatHasFailed) {
  interrupt_all(true);
}

// Who sleeps on a queue is called in the middle of the flush, with interrupts off.
TEST_F(Reentrancy, WhatIsPostedOnHearingOfAFlushIsFlushedInItsTurn) {
  prepare(true);
  hw::Callback& heard = ibcq_to_rvtcq(queue)->entered;
  heard = {post_once, this, 0};
  flush(0);
  EXPECT_FALSE(heard);
  finish();
  check(false);
  clean_up();
}

#endif

}  // namespace
}  // namespace hcasim::rvt
