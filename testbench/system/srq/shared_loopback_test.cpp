// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// One shared receive queue, fed by the wire and by loopback in the driver at once. Each message
// carries its number and lands in the buffer of the receive that its completion names.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "support/connected_pair.hpp"

namespace hcasim {
namespace {

constexpr std::uint32_t kMessages = 60;  // of each sender
constexpr std::uint32_t kBuffer = 64;
constexpr std::uint64_t kMemory = 64 * 1024;
constexpr std::uint64_t kNumbers = 32 * 1024;  // what the sender on the same node sends

/// Node 1 has the queue; its senders are one of node 0 and one of its own.
class SharedLoopback : public testing::Test {
 protected:
  enum Role : std::uint8_t { kWireSender, kWireReceiver, kOwnSender, kOwnReceiver };

  void start(std::uint32_t max_wr, std::uint8_t rnr_retry = 7) {
    rnr_retry_ = rnr_retry;
    task(1, [&] {
      rvt::ib_srq_init_attr attr;
      attr.event_handler = on_event;
      attr.srq_context = this;
      attr.attr = {max_wr, 1, 0};
      srq_ = rvt::ib_create_srq(pair_.end(1).pd, &attr);
      ASSERT_FALSE(rvt::IS_ERR(srq_));
    });
    for (const Role role : {kWireSender, kWireReceiver, kOwnSender, kOwnReceiver}) {
      task(node_of(role), [&] { make(role); });
    }
    for (const Role role : {kWireSender, kWireReceiver, kOwnSender, kOwnReceiver}) {
      task(node_of(role), [&] { connect(role); });
    }
  }
  void TearDown() override {
    for (const Role role : {kWireSender, kWireReceiver, kOwnSender, kOwnReceiver}) {
      task(node_of(role), [&] { EXPECT_EQ(rvt::ib_destroy_qp(qps_[role]), 0); });
    }
    task(1, [&] { EXPECT_EQ(rvt::ib_destroy_srq(srq_), 0); });
  }

  static std::size_t node_of(Role role) { return role == kWireSender ? 0 : 1; }
  using Body = std::pair<std::size_t, std::function<void()>>;
  // Runs tasks that begin at one time, later than all that was, until nothing is left to do.
  void together(const std::vector<Body>& bodies) {
    const hw::Time later = pair_.system().now() + 10 * hw::kMicrosecond;
    for (const auto& [node, body] : bodies) {
      sim::Tasks& tasks = pair_.system().node(node).host().tasks();
      tasks.start([&tasks, later, body] {
        tasks.sleep_until(later);
        body();
      });
    }
    pair_.system().run_until(hw::kNever);
  }
  void task(std::size_t node, std::function<void()> body) { together({{node, std::move(body)}}); }
  host::CpuPort& cpu(std::size_t node) { return pair_.system().node(node).host().cpu(); }

  void make(Role role) {
    support::Endpoint& end = pair_.end(node_of(role));
    rvt::ib_qp_init_attr init;
    init.send_cq = init.recv_cq = end.cq;
    init.srq = role == kWireReceiver || role == kOwnReceiver ? srq_ : nullptr;
    init.cap = {kMessages, 1, 1, 1, 0};
    qps_[role] = rvt::ib_create_qp(end.pd, &init);
    ASSERT_FALSE(rvt::IS_ERR(qps_[role]));
    rvt::ib_qp_attr attr;
    attr.qp_state = rvt::IB_QPS_INIT;
    attr.port_num = 1;
    ASSERT_EQ(rvt::ib_modify_qp(qps_[role], &attr,
                                rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT |
                                    rvt::IB_QP_ACCESS_FLAGS),
              0);
  }

  void connect(Role role) {
    rvt::ib_qp_attr attr;
    attr.qp_state = rvt::IB_QPS_RTR;
    attr.dest_qp_num = qps_[role ^ 1]->qp_num;
    attr.min_rnr_timer = 1;
    attr.ah_attr = pair_.path_from(node_of(role));
    if (role >= kOwnSender) attr.ah_attr.grh.dgid = attr.ah_attr.grh.sgid;
    ASSERT_EQ(rvt::ib_modify_qp(qps_[role], &attr,
                                rvt::IB_QP_STATE | rvt::IB_QP_AV | rvt::IB_QP_PATH_MTU |
                                    rvt::IB_QP_DEST_QPN | rvt::IB_QP_RQ_PSN |
                                    rvt::IB_QP_MAX_DEST_RD_ATOMIC | rvt::IB_QP_MIN_RNR_TIMER),
              0);
    attr.qp_state = rvt::IB_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = rnr_retry_;
    ASSERT_EQ(rvt::ib_modify_qp(qps_[role], &attr,
                                rvt::IB_QP_STATE | rvt::IB_QP_TIMEOUT | rvt::IB_QP_RETRY_CNT |
                                    rvt::IB_QP_RNR_RETRY | rvt::IB_QP_SQ_PSN |
                                    rvt::IB_QP_MAX_QP_RD_ATOMIC),
              0);
  }

  void send(Role role, std::uint32_t number) {
    const std::size_t node = node_of(role);
    const std::uint64_t at =
        pair_.end(node).memory + kNumbers + std::uint64_t{number} * sizeof number;
    cpu(node).write(at, &number, sizeof number);
    const rvt::ib_sge sge{at, sizeof number, pair_.end(node).mr->lkey};
    rvt::ib_send_wr wr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags = rvt::IB_SEND_SIGNALED;
    ASSERT_EQ(rvt::ib_post_send(qps_[role], &wr, nullptr), 0);
  }
  void send_all_from(Role role) {
    for (std::uint32_t n = 0; n < kMessages; ++n) send(role, n);
  }

  // Receive n has buffer n.
  void fill_up(std::uint32_t most) {
    for (; posted_ < most; ++posted_) {
      const rvt::ib_sge sge{pair_.end(1).memory + std::uint64_t{posted_} * kBuffer, kBuffer,
                            pair_.end(1).mr->lkey};
      rvt::ib_recv_wr wr;
      wr.wr_id = posted_;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      if (rvt::ib_post_srq_recv(srq_, &wr, nullptr) != 0) return;
    }
  }

  void poll_receiver() {
    for (const rvt::ib_wc& wc : pair_.poll(1)) {
      EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
      if ((wc.opcode & rvt::IB_WC_RECV) == 0) continue;
      std::uint32_t number = 0;
      pair_.read(1, wc.wr_id * kBuffer, &number, sizeof number);
      EXPECT_EQ(number, received_of_[wc.qp == qps_[kOwnReceiver]]++);  // in order of its sender
      ids_.push_back(wc.wr_id);
    }
  }
  void expect_each_once() {
    std::sort(ids_.begin(), ids_.end());
    ASSERT_EQ(ids_.size(), 2 * kMessages);
    for (std::size_t i = 0; i < ids_.size(); ++i) EXPECT_EQ(ids_[i], i);
    EXPECT_EQ(received_of_, (std::array<std::uint32_t, 2>{kMessages, kMessages}));
  }
  static void on_event(rvt::ib_event* event, void* self) {
    auto* test = static_cast<SharedLoopback*>(self);
    test->limits_ += event->event == rvt::IB_EVENT_SRQ_LIMIT_REACHED ? 1 : 0;
  }

  support::ConnectedPair pair_{kMemory, 1, {}, {}};
  std::uint8_t rnr_retry_ = 7;
  std::array<rvt::ib_qp*, 4> qps_{};
  rvt::ib_srq* srq_ = nullptr;
  std::uint32_t posted_ = 0;
  std::uint32_t limits_ = 0;
  std::array<std::uint32_t, 2> received_of_{};  // by the wire, by loopback
  std::vector<std::uint64_t> ids_;
};

// Enough receives for all: loopback must not take its question for an RNR.
TEST_F(SharedLoopback, EachReceiveIsHandedOutOnceAndTheLimitFiresOnce) {
  start(2 * kMessages, 0);
  task(1, [&] {
    fill_up(2 * kMessages);
    const rvt::ib_srq_attr attr{0, 0, 50};
    ASSERT_EQ(rvt::ib_modify_srq(srq_, &attr, rvt::IB_SRQ_LIMIT), 0);
  });
  together({{0, [&] { send_all_from(kWireSender); }}, {1, [&] { send_all_from(kOwnSender); }}});
  poll_receiver();
  expect_each_once();
  EXPECT_EQ(limits_, 1u);
  const auto loop = rvt::rvt_count_loopback(pair_.system().node(1).device());
  EXPECT_EQ(loop.n_loop_pkts, kMessages);
  EXPECT_EQ(loop.n_rnr_naks, 0u);
}

// A ring much smaller than what goes through it: slots are used again and again.
TEST_F(SharedLoopback, SlotsAreUsedAgainWhileReceivesAreTaken) {
  start(7);
  task(1, [&] { fill_up(2 * kMessages); });
  const auto receive = [&] {
    send_all_from(kOwnSender);
    for (int i = 0; i < 10'000 && ids_.size() < 2 * kMessages; ++i) {
      fill_up(2 * kMessages);
      pair_.system().node(1).host().tasks().sleep_until(cpu(1).now() + hw::kMicrosecond);
      poll_receiver();
    }
  };
  together({{0, [&] { send_all_from(kWireSender); }}, {1, receive}});
  expect_each_once();
}

}  // namespace
}  // namespace hcasim
