// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A consumer that polls only when it is notified, while its queue is resized again and again.
#include "verbs_bench.hpp"

namespace hcasim::verbs {
namespace {

constexpr std::uint64_t kMessages = 64;

class NotifiedConsumer : public VerbsTest {
 protected:
  void take_and_arm(ib_cq* queue) {
    do {
      ib_wc wc;
      while (ib_poll_cq(queue, 1, &wc) == 1) got_.push_back(wc.wr_id);
    } while (ib_req_notify_cq(queue, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) != 0);
  }
  static void on_completion(ib_cq* queue, void* self) {
    auto& consumer = *static_cast<NotifiedConsumer*>(self);
    ++consumer.notified_;
    consumer.take_and_arm(queue);
  }
  ib_cq* make_notifying_cq() {
    task(1, [&] {
      ib_cq_init_attr attr;
      attr.cqe = kMessages;
      cqs_[1].push_back(ib_create_cq(device(1), on_completion, nullptr, this, &attr));
      take_and_arm(cqs_[1].back());
    });
    return cqs_[1].back();
  }

  Ids got_;
  int notified_ = 0;
};

TEST_F(NotifiedConsumer, B43_NoEventIsLostWhileTheQueueIsResized) {
  ib_cq* queue = make_notifying_cq();
  ib_qp_init_attr attr = qp_attr(1);
  attr.recv_cq = queue;
  ib_qp* sender = make_qp(0, qp_attr(0));
  ib_qp* receiver = make_qp(1, attr);
  join(sender, receiver);
  for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_EQ(receive(receiver, i), 0);
  int resized = 0;
  const auto resize = [&] {
    for (int i = 0; got_.size() < kMessages && i < 1000; ++i) {
      resized += ib_resize_cq(queue, i % 2 == 0 ? 65 : 64) == 0;
    }
  };
  // One at a time, so that each needs an event of its own, at any moment of a resize.
  for (std::uint64_t sent = 0; sent < kMessages; ++sent) {
    ASSERT_EQ(post(sender, {.wr_id = sent}), 0);
    const hw::Time apart = 3 * hw::kMicrosecond + sent * 37 * hw::kNanosecond;
    sent == 0 ? run(apart, {resize}) : run(apart);
  }
  run(20 * hw::kMillisecond);
  ASSERT_EQ(got_.size(), kMessages);
  for (std::uint64_t i = 0; i < kMessages; ++i) EXPECT_EQ(got_[i], i);
  EXPECT_GT(resized, 10);
  EXPECT_GT(notified_, 10);
}

}  // namespace
}  // namespace hcasim::verbs
