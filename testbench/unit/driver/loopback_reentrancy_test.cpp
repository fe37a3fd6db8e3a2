// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What a driver that carries the data itself does, in the middle of each other: messages, errors
// and flushes of both ends, with receives of their own and of a shared queue.
#include <cerrno>

#include "unit/driver/loopback_fixture.hpp"
#include "unit/driver/reentrancy_fixture.hpp"

namespace hcasim::rvt {
namespace {

#ifndef NDEBUG

/// Messages go from `a` to `b`, and some back. Each has its number as data.
class LoopbackReentrancy : public Interrupted<LoopbackTest> {
 protected:
  static constexpr std::uint32_t kDepth = 12;

  using Verb = void (LoopbackReentrancy::*)(std::uint64_t caller);
  struct Named {
    const char* name;
    Verb verb;
  };
  struct Ends {
    ib_qp_type type;
    bool shared;  ///< receives
  };

  static std::uint64_t place_of(std::uint64_t id) { return 64 * id; }
  ib_sge sge_of(std::uint64_t id) const { return sge(64, place_of(id)); }

  // --- The verbs

  void send(std::uint64_t caller) { send_some(a, caller, 1); }
  void send_list(std::uint64_t caller) { send_some(a, caller, 3); }
  void send_back(std::uint64_t caller) { send_some(b, caller + Books::kPeer, 1); }
  void send_some(ib_qp* qp, std::uint64_t first, std::size_t count) {
    const ib_sge none{};
    auto list = list_of<ib_send_wr>(count, first, none);
    std::vector<ib_sge> data;
    for (const ib_send_wr& wr : list) data.push_back(sge_of(wr.wr_id));
    for (std::size_t i = 0; i < count; ++i) {
      list[i].sg_list = &data[i];
      list[i].send_flags = IB_SEND_SIGNALED;
      set_word(place_of(list[i].wr_id), list[i].wr_id);
      books.post(list[i].wr_id);
    }
    EXPECT_EQ(ib_post_send(qp, list.data(), nullptr), 0);
  }
  void receive(std::uint64_t caller) { receive_some(b, caller, 2); }
  void receive_some(ib_qp* qp, std::uint64_t first, std::uint64_t count) {
    first += qp->srq != nullptr ? Books::kShared : Books::kReceive;
    for (std::uint64_t id = first; id < first + count; ++id) {
      const ib_sge data = sge_of(id);
      const auto wr = list_of<ib_recv_wr>(1, id, data);
      EXPECT_EQ(qp->srq != nullptr ? ib_post_srq_recv(qp->srq, wr.data(), nullptr)
                                   : ib_post_recv(qp, wr.data(), nullptr),
                0);
      books.post(id);
    }
  }
  void poll_some(std::uint64_t /*caller*/) { take_completions(4); }
  void fail_sender(std::uint64_t /*caller*/) { rvt_rc_error(rvt(a), IB_WC_LOC_QP_OP_ERR); }
  void fail_receiver(std::uint64_t /*caller*/) { rvt_rc_error(rvt(b), IB_WC_LOC_QP_OP_ERR); }
  /// Timers and the adapter's answers of the next microseconds.
  void time_passes(std::uint64_t /*caller*/) { host.run(host.now() + 2 * host.command_time); }

  static std::vector<Named> verbs() {
    return {{"a send", &LoopbackReentrancy::send},
            {"a list of sends", &LoopbackReentrancy::send_list},
            {"a send of the peer", &LoopbackReentrancy::send_back},
            {"a receive", &LoopbackReentrancy::receive},
            {"a poll", &LoopbackReentrancy::poll_some},
            {"an error of the sender", &LoopbackReentrancy::fail_sender},
            {"an error of the receiver", &LoopbackReentrancy::fail_receiver},
            {"time that passes", &LoopbackReentrancy::time_passes}};
  }

  // --- One call with one handler at one place

  void take_completions(int most) {
    const auto some = poll(queue, most);
    for (const ib_wc& wc : some) {
      if (wc.status == IB_WC_SUCCESS) (is_receive(wc.wr_id) ? received : sent).push_back(wc.wr_id);
    }
    books.poll(some);
  }
  static bool is_receive(std::uint64_t id) { return (id / 10 % 10) % 4 != 0; }

  void prepare(const Ends& ends) {
    books = {};
    sent.clear();
    received.clear();
    queue = make_cq(64);
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = ends.type;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = kDepth;
    attr.send_cq = attr.recv_cq = queue;
    if (ends.shared) {
      ib_srq_init_attr of_srq;
      of_srq.attr = {kDepth, 2, 0};
      attr.srq = srq = ib_create_srq(pd, &of_srq);
    }
    connect(attr);
    receive_some(b, Books::kBefore, 8);
    if (!ends.shared) receive_some(a, Books::kBefore + Books::kPeer, 3);
  }
  void finish(const Ends& ends, bool polls_nested) {
    host.settle();
    for (int i = 0; i < 4; ++i) take_completions(64);
    for (ib_qp* qp : {a, b}) EXPECT_EQ(rvt(qp)->s_last, rvt(qp)->s_head);
    expect_carried(ends);
    for (ib_qp* qp : {a, b}) rvt_rc_error(rvt(qp), IB_WC_WR_FLUSH_ERR);
    host.settle();
    take_completions(64);
    if (ends.shared) take_the_rest();
    books.expect_settled(polls_nested);
  }
  /// What was sent was received, once; a datagram of UC may be lost.
  void expect_carried(const Ends& ends) {
    Ids carried;
    for (const std::uint64_t id : received) carried.push_back(word_at(place_of(id)));
    std::sort(carried.begin(), carried.end());
    std::sort(sent.begin(), sent.end());
    if (ends.type == IB_QPT_RC) {
      EXPECT_EQ(carried, sent);
    } else {
      EXPECT_TRUE(std::includes(sent.begin(), sent.end(), carried.begin(), carried.end()));
    }
    EXPECT_EQ(std::adjacent_find(carried.begin(), carried.end()), carried.end());
  }
  std::uint64_t first_word(std::uint64_t address) {
    std::uint64_t word = 0;
    host.read(address, &word, sizeof word);
    return word;
  }
  /// Receives that an SRQ still has: one that was granted to nobody, and its ring.
  void take_the_rest() {
    const rvt_srq* of = ibsrq_to_rvtsrq(srq);
    std::vector<ib_wc> rest;
    if (of->takes.granted) rest.emplace_back().wr_id = first_word(of->takes.record);
    std::uint32_t slot = host.srqs.at(of->srqn).tail;
    for (; slot != of->rq.head; slot = (slot + 1) % of->rq.size) {
      rest.emplace_back().wr_id = first_word(of->rq.wq + std::uint64_t{slot} * of->rq.stride);
    }
    books.poll(rest);
  }
  void clean_up() {
    host.settle();
    for (ib_qp* qp : {a, b}) destroy(qp);
    if (srq != nullptr) {
      EXPECT_EQ(ib_destroy_srq(srq), 0);
    }
    srq = nullptr;
    std::erase(cqs, queue);
    EXPECT_EQ(ib_destroy_cq(queue), 0);
  }

  int interrupted_once(const Named& outer, const Named& inner, int wanted, const Ends& ends) {
    prepare(ends);
    const int points = interrupt_at(
        wanted, [&] { (this->*outer.verb)(Books::kCall); },
        [&] { (this->*inner.verb)(Books::kHandler); });
    finish(ends, outer.verb == &LoopbackReentrancy::poll_some && inner.verb == outer.verb);
    clean_up();
    return points;
  }
  // Of two takers of one queue either may end first.
  static bool in_order(const Ends& ends, const Named& named) {
    return !ends.shared || named.verb != &LoopbackReentrancy::send_back;
  }
  void interrupt(const Ends& ends) {
    for (const Named& outer : verbs()) {
      if (outer.verb == &LoopbackReentrancy::time_passes || !in_order(ends, outer)) continue;
      for (const Named& inner : verbs()) {
        if (!in_order(ends, inner)) continue;
        SCOPED_TRACE(std::string(inner.name) + " in the middle of " + outer.name);
        at_each_point([&](int wanted) { return interrupted_once(outer, inner, wanted, ends); });
      }
    }
  }

  Books books;
  ib_cq* queue = nullptr;
  ib_srq* srq = nullptr;
  Ids sent;      // and completed well
  Ids received;  // likewise
};

TEST_F(LoopbackReentrancy, OfReliableConnections) {
  interrupt({IB_QPT_RC, false});
}

TEST_F(LoopbackReentrancy, OfUnreliableConnections) {
  interrupt({IB_QPT_UC, false});
}

TEST_F(LoopbackReentrancy, OfQueuePairsOfOneSharedReceiveQueue) {
  interrupt({IB_QPT_RC, true});
}

#endif

}  // namespace
}  // namespace hcasim::rvt
