// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Eight senders into one shared receive queue, over driver, adapter and wire. Each message carries
// its number and lands in the buffer of the receive that its completion names, so that nothing can
// be lost, repeated or mixed up without being seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

#include "hcasim/rvt/verbs.hpp"
#include "sim/system/system.hpp"
#include "support/bring_up.hpp"
#include "support/monitored_ports.hpp"
#include "support/protocol_monitor/expect_clean.hpp"

namespace hcasim {
namespace {

constexpr std::size_t kPairs = 8;
constexpr std::uint32_t kMessages = 60;  // of each sender
constexpr std::uint32_t kAll = kPairs * kMessages;
constexpr std::uint32_t kBuffer = 64;
constexpr std::uint64_t kMemory = 256 * 1024;

struct Node {
  rvt::ib_pd* pd = nullptr;
  rvt::ib_cq* cq = nullptr;
  rvt::ib_mr* mr = nullptr;
  std::uint64_t memory = 0;
  std::array<rvt::ib_qp*, kPairs> qps{};
};

/// Node 0 sends, node 1 has the SRQ.
class ManySenders : public testing::Test {
 protected:
  ManySenders() : system_(sim::load_config({}), {{"a", "b"}, 1, true}) {}

  void start(std::uint32_t max_wr) {
    ASSERT_EQ(system_.start_devices(), 0);
    for (std::size_t i = 0; i < 2; ++i) {
      support::observe(machine(i), &rules_.add_port());
    }
    for (std::size_t i = 0; i < 2; ++i) task(i, [this, i] { make_objects(i); });
    task(1, [&] {
      rvt::ib_srq_init_attr attr;
      attr.event_handler = on_srq_event;
      attr.srq_context = this;
      attr.attr = {max_wr, 1, 0};
      srq_ = rvt::ib_create_srq(nodes_[1].pd, &attr);
      ASSERT_FALSE(rvt::IS_ERR(srq_));
    });
    for (std::size_t i = 0; i < 2; ++i) task(i, [this, i] { make_queue_pairs(i); });
    for (std::size_t i = 0; i < 2; ++i) task(i, [this, i] { connect(i); });
  }

  void TearDown() override {
    EXPECT_GT(rules_.packets(), 0u);
    monitor::expect_clean(rules_);
    for (std::size_t i = 0; i < 2; ++i) {
      support::observe(machine(i), nullptr);
      task(i, [this, i] {
        for (rvt::ib_qp* qp : nodes_[i].qps) EXPECT_EQ(rvt::ib_destroy_qp(qp), 0);
        if (i == 1) {
          EXPECT_EQ(rvt::ib_destroy_srq(srq_), 0);
        }
        EXPECT_EQ(rvt::ib_destroy_cq(nodes_[i].cq), 0);
        EXPECT_EQ(rvt::ib_dereg_mr(nodes_[i].mr), 0);
        EXPECT_EQ(rvt::ib_dealloc_pd(nodes_[i].pd), 0);
      });
    }
  }

  void task(std::size_t node, std::function<void()> body) { together({{node, std::move(body)}}); }
  // Runs tasks that begin at one time, later than all that was, until nothing is left to do.
  void together(const std::vector<std::pair<std::size_t, std::function<void()>>>& bodies) {
    const hw::Time later = system_.now() + 10 * hw::kMicrosecond;
    for (const auto& [node, body] : bodies) {
      sim::Tasks& tasks = machine(node).host().tasks();
      tasks.start([&tasks, later, body] {
        tasks.sleep_until(later);
        body();
      });
    }
    system_.run_until(hw::kNever);
  }
  sim::NodeSystem& machine(std::size_t node) { return system_.node(node); }

  void make_objects(std::size_t i) {
    Node& node = nodes_[i];
    rvt::ib_device* device = rvt::rvt_ib_device(machine(i).device());
    node.pd = rvt::ib_alloc_pd(device);
    rvt::ib_cq_init_attr cq;
    cq.cqe = 4096;
    node.cq = rvt::ib_create_cq(device, nullptr, nullptr, nullptr, &cq);
    node.memory = machine(i).host().cpu().allocate(kMemory, 4096);
    node.mr =
        rvt::ib_reg_user_mr(node.pd, node.memory, kMemory, node.memory, rvt::IB_ACCESS_LOCAL_WRITE);
    ASSERT_FALSE(rvt::IS_ERR(node.mr));
  }

  void make_queue_pairs(std::size_t i) {
    for (rvt::ib_qp*& qp : nodes_[i].qps) {
      rvt::ib_qp_init_attr init;
      init.event_handler = on_qp_event;
      init.qp_context = this;
      init.send_cq = init.recv_cq = nodes_[i].cq;
      init.srq = i == 1 ? srq_ : nullptr;
      init.cap = {kMessages, 1, 1, 1, 0};
      qp = rvt::ib_create_qp(nodes_[i].pd, &init);
      ASSERT_FALSE(rvt::IS_ERR(qp));
      support::to_init(qp);
    }
  }

  void connect(std::size_t i) {
    const auto path = support::path_between(machine(i).address(), machine(1 - i).address());
    for (std::size_t q = 0; q < kPairs; ++q) {
      support::to_rts(nodes_[i].qps[q], nodes_[1 - i].qps[q]->qp_num, path, {.min_rnr_timer = 1});
    }
  }

  // Message n of queue pair q is its number, 4 bytes, sent from a place of its own.
  void post_all_sends() {
    for (std::uint32_t n = 0; n < kMessages; ++n) {
      for (std::uint32_t q = 0; q < kPairs; ++q) {
        const std::uint32_t number = q * kMessages + n;
        const std::uint64_t at = nodes_[0].memory + std::uint64_t{number} * 8;
        machine(0).host().cpu().write(at, &number, sizeof number);
        const rvt::ib_sge sge{at, sizeof number, nodes_[0].mr->lkey};
        rvt::ib_send_wr wr;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.send_flags = rvt::IB_SEND_SIGNALED;
        ASSERT_EQ(rvt::ib_post_send(nodes_[0].qps[q], &wr, nullptr), 0);
      }
    }
  }

  // Receive n has buffer n. False when the queue is full.
  bool post_receive() {
    const rvt::ib_sge sge{nodes_[1].memory + std::uint64_t{posted_} * kBuffer, kBuffer,
                          nodes_[1].mr->lkey};
    rvt::ib_recv_wr wr;
    wr.wr_id = posted_;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    if (rvt::ib_post_srq_recv(srq_, &wr, nullptr) != 0) return false;
    ++posted_;
    return true;
  }
  void fill_up(std::uint32_t most = UINT32_MAX) {
    while (posted_ < kAll && most-- > 0 && post_receive()) {
    }
  }

  void poll_receiver() {
    rvt::ib_wc wc;
    while (rvt::ib_poll_cq(nodes_[1].cq, 1, &wc) == 1) {
      EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
      EXPECT_EQ(wc.byte_len, 4u);
      std::uint32_t number = 0;
      machine(1).host().cpu().read(nodes_[1].memory + wc.wr_id * kBuffer, &number, sizeof number);
      const auto q = static_cast<std::size_t>(
          std::find(nodes_[1].qps.begin(), nodes_[1].qps.end(), wc.qp) - nodes_[1].qps.begin());
      ASSERT_LT(q, kPairs);
      EXPECT_EQ(number, q * kMessages + received_of_[q]);  // in the order of its sender
      ++received_of_[q];
      ids_.push_back(wc.wr_id);
    }
  }

  void expect_all_received() {
    poll_receiver();
    for (const std::uint32_t of_one : received_of_) EXPECT_EQ(of_one, kMessages);
    std::sort(ids_.begin(), ids_.end());
    ASSERT_EQ(ids_.size(), kAll);
    for (std::size_t i = 0; i < ids_.size(); ++i) EXPECT_EQ(ids_[i], i);
    rvt::ib_wc wc;
    for (std::uint32_t i = 0; i < kAll; ++i) {
      ASSERT_EQ(rvt::ib_poll_cq(nodes_[0].cq, 1, &wc), 1);
      EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
    }
  }

  static void on_srq_event(rvt::ib_event* event, void* self) {
    auto* test = static_cast<ManySenders*>(self);
    if (event->event != rvt::IB_EVENT_SRQ_LIMIT_REACHED) return;
    ++test->limits_;
    test->fill_up();
  }
  static void on_qp_event(rvt::ib_event* event, void* self) {
    auto* test = static_cast<ManySenders*>(self);
    if (event->event == rvt::IB_EVENT_QP_LAST_WQE_REACHED)
      test->last_wqe_of_.push_back(event->element.qp);
  }

  void sleep(hw::Time time) {
    machine(1).host().tasks().sleep_until(machine(1).host().cpu().now() + time);
  }
  int modify(std::uint32_t mask, std::uint32_t max_wr, std::uint32_t limit) {
    const rvt::ib_srq_attr attr{max_wr, 0, limit};
    return rvt::ib_modify_srq(srq_, &attr, mask);
  }

  monitor::ProtocolMonitor rules_;
  sim::System system_;
  std::array<Node, 2> nodes_;
  rvt::ib_srq* srq_ = nullptr;
  std::uint32_t posted_ = 0;
  std::uint32_t limits_ = 0;
  std::array<std::uint32_t, kPairs> received_of_{};
  std::vector<std::uint64_t> ids_;
  std::vector<rvt::ib_qp*> last_wqe_of_;
};

// Far fewer receives than messages. What runs out shows as RNR, and nothing is lost.
TEST_F(ManySenders, B62_B88_RefilledAtItsLimit) {
  start(24);
  task(1, [&] { fill_up(); });
  EXPECT_EQ(posted_, 24u);
  // The handler refills; arming takes a task.
  const auto receive = [&] {
    for (std::uint32_t armed = 0; ids_.size() < kAll;) {
      if (armed == limits_) {
        ++armed;
        ASSERT_EQ(modify(rvt::IB_SRQ_LIMIT, 0, 12), 0);
      }
      sleep(hw::kMicrosecond);
      poll_receiver();
    }
  };
  together({{1, receive}, {0, [&] { post_all_sends(); }}});
  expect_all_received();
  EXPECT_GE(limits_, kAll / 24 - 1);
}

// The ring grows and shrinks again and again while messages arrive and receives are posted.
TEST_F(ManySenders, H8_ResizedUnderTraffic) {
  start(24);
  std::uint32_t done = 0;
  const auto resize = [&] {
    for (std::uint32_t i = 0; posted_ < kAll; ++i) {
      const int error = modify(rvt::IB_SRQ_MAX_WR, i % 2 == 0 ? 60 + i : 12, 0);
      EXPECT_TRUE(error == 0 || error == -EINVAL);  // too many are posted
      done += error == 0 ? 1 : 0;
    }
  };
  const auto receive = [&] {
    while (ids_.size() < kAll) {
      sleep(hw::kMicrosecond);
      fill_up(6);
      poll_receiver();
    }
  };
  together({{1, resize}, {1, receive}, {0, [&] { post_all_sends(); }}});
  expect_all_received();
  EXPECT_GT(done, 10u);
}

// A receiver that takes its queue pairs down hears of each once, and the SRQ keeps the rest.
TEST_F(ManySenders, B64_LastWqeOfEach) {
  start(1000);
  task(1, [&] { fill_up(); });
  task(0, [&] { post_all_sends(); });
  task(1, [&] {
    poll_receiver();
    for (rvt::ib_qp* qp : nodes_[1].qps) {
      rvt::ib_qp_attr attr;
      attr.qp_state = rvt::IB_QPS_ERR;
      EXPECT_EQ(rvt::ib_modify_qp(qp, &attr, rvt::IB_QP_STATE), 0);
      EXPECT_EQ(rvt::ib_modify_qp(qp, &attr, rvt::IB_QP_STATE), 0);
    }
  });
  EXPECT_EQ(last_wqe_of_, std::vector(nodes_[1].qps.begin(), nodes_[1].qps.end()));
}

}  // namespace
}  // namespace hcasim
