// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Receive queues, own and shared: which receives are used, and what is said when there are none.
#include <algorithm>
#include <cerrno>
#include <numeric>

#include "verbs_bench.hpp"

namespace hcasim::verbs {
namespace {

constexpr hw::Time kWhile = 100 * hw::kMicrosecond;  // many messages, many RNR waits
constexpr std::uint8_t kShortRnr = 1;                // 10 us

class Receives : public VerbsTest {
 protected:
  void connect(ib_qp_type type, std::uint32_t depth) {
    pair_.connect({.type = type, .max_wr = depth, .min_rnr_timer = kShortRnr});
    run(hw::kMicrosecond);
    sender_ = pair_.end(0).qp;
    receiver_ = pair_.end(1).qp;
    ah_ = type == IB_QPT_UD ? make_ah(0) : nullptr;
    posted_ = sent_ = 0;
  }
  void send() {
    ASSERT_EQ(post(sender_, {.wr_id = sent_++}, 0, ah_, receiver_->qp_num), 0);
    run(kWhile / 50);
  }
  void post_receives(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(receive(receiver_, posted_++), 0);
  }
  // As many messages as receives, then one more.
  void use_up(std::uint32_t count) {
    const std::uint64_t first = posted_;
    post_receives(count);
    for (std::uint32_t i = 0; i < count; ++i) send();
    run(kWhile);
    const auto done = poll(1);
    ASSERT_EQ(done.size(), count);
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(done[i].wr_id, first + i);
    poll(0);
    write(1, kInbox, std::vector<std::uint8_t>(kMemory - kInbox, 0));
    send();
    run(kWhile);
    EXPECT_TRUE(poll(1).empty());
    const auto inbox = read(1, kInbox, kMemory - kInbox);
    EXPECT_EQ(std::ranges::count(inbox, 0), static_cast<std::ptrdiff_t>(inbox.size()));
    if (sender_->qp_type != IB_QPT_RC) {
      EXPECT_EQ(poll(0).size(), 1u);  // sent, and lost
      return;
    }
    EXPECT_TRUE(poll(0).empty());
    post_receives(1);
    run(kWhile);
    EXPECT_EQ(ids(poll(1)), Ids{posted_ - 1});
    EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_SUCCESS});
  }

  ib_qp* sender_ = nullptr;
  ib_qp* receiver_ = nullptr;
  ib_ah* ah_ = nullptr;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
};

TEST_F(Receives, B01_NoneIsUsedThatWasNotPosted) {
  write(0, 0, marks(16));
  for (const ib_qp_type type : {IB_QPT_RC, IB_QPT_UC, IB_QPT_UD}) {
    for (const std::uint32_t depth : {1u, 15u, 16u, 17u, 384u}) {
      SCOPED_TRACE(testing::Message() << "type " << type << ", depth " << depth);
      connect(type, depth);
      for (const std::uint32_t count : {1u, depth, depth}) use_up(count);  // and round the ring
      pair_.disconnect();
      if (HasFatalFailure()) return;
    }
  }
}

class Batches : public Receives {
 protected:
  // Receives that are posted anew by the half queue, late. @return RNR NAKs that the sender got
  void pass_by_batches(hw::Time delay) {
    constexpr std::uint32_t kDepth = 8;
    constexpr std::uint64_t kMessages = 40;
    const auto [sender, receiver] = make_pair({.min_rnr_timer = kShortRnr});
    std::uint64_t next = 0;
    Ids got;
    for (; next < kDepth; ++next) ASSERT_EQ(receive(receiver, next), 0);
    for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_EQ(post(sender, {.wr_id = i}), 0);
    ib_qp* const qp = receiver;
    const auto consume = [&, qp] {
      while (got.size() < kMessages) {
        for (const std::uint64_t id : ids(poll(1))) got.push_back(id);
        const bool half = next - got.size() <= kDepth / 2;
        sleep(1, half ? delay : hw::kMicrosecond);
        for (std::uint32_t i = 0; half && i < kDepth / 2; ++i) receive(qp, next++);
      }
    };
    run(20 * hw::kMillisecond, {consume});
    ASSERT_EQ(got.size(), kMessages);
    for (std::uint64_t i = 0; i < kMessages; ++i) EXPECT_EQ(got[i], i);
    EXPECT_EQ(statuses(poll(0)), Statuses(kMessages, IB_WC_SUCCESS));
  }
};

TEST_F(Batches, B71_ReceivesThatComeLateAndTogetherCostTimeAlone) {
  pass_by_batches(200 * hw::kMicrosecond);
}

// The queue changes its size again and again while completions arrive and are taken.
TEST_F(Receives, N_ResizeCq_UnderTraffic) {
  constexpr std::uint64_t kMessages = 64;
  ib_cq* queue = make_cq(1, 64);
  ib_qp_init_attr attr = qp_attr(1);
  attr.recv_cq = queue;
  ib_qp* sender = make_qp(0, qp_attr(0));
  ib_qp* receiver = make_qp(1, attr);
  join(sender, receiver);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(receive(receiver, i), 0);
    ASSERT_EQ(post(sender, {.wr_id = i}), 0);
  }
  std::vector<ib_wc> got;
  int resized = 0;
  int refused = 0;
  bool ended = false;
  const auto resize = [&] {
    for (int i = 0; !ended; ++i) {
      ++(ib_resize_cq(queue, i % 2 == 0 ? 65 + i : 64) == 0 ? resized : refused);
    }
  };
  const auto consume = [&] {
    while (got.size() < kMessages) {
      ib_wc wc;
      if (ib_poll_cq(queue, 1, &wc) == 1) got.push_back(wc);
      sleep(1, hw::kMicrosecond);
    }
    ended = true;
  };
  run(20 * hw::kMillisecond, {resize, consume});
  Ids all(kMessages);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  EXPECT_EQ(ids(got), all);
  EXPECT_EQ(statuses(got), Statuses(kMessages, IB_WC_SUCCESS));
  EXPECT_TRUE(poll_queue(queue).empty());
  EXPECT_EQ(ids(poll(0)), all);
  EXPECT_GT(resized, 10);
  EXPECT_EQ(refused, 0);
  for (const Heard& heard : heard_) EXPECT_EQ(heard.events, std::vector<ib_event_type>{});
}

class Shared : public Receives {
 protected:
  ib_qp* make_taker(ib_srq* srq, ib_cq* cq) {
    ib_qp_init_attr attr = qp_attr(1);
    attr.srq = srq;
    attr.send_cq = attr.recv_cq = cq;
    ib_qp* sender = make_qp(0, qp_attr(0));
    ib_qp* taker = make_qp(1, attr);
    join(sender, taker, {.min_rnr_timer = kShortRnr});
    senders_.push_back(sender);
    return taker;
  }
  static std::uint32_t limit_of(ib_srq* srq) {
    ib_srq_attr attr;
    EXPECT_EQ(ib_query_srq(srq, &attr), 0);
    return attr.srq_limit;
  }

  std::vector<ib_qp*> senders_;
};

TEST_F(Shared, N_ModifySrqLimit) {
  ib_srq* srq = make_srq(1, 16);
  ib_qp* taker = make_taker(srq, pair_.end(1).cq);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(receive(taker, i), 0);
  task(1, [&] {
    const ib_srq_attr attr{0, 0, 7};
    EXPECT_EQ(ib_modify_srq(srq, &attr, IB_SRQ_LIMIT), 0);
    EXPECT_EQ(limit_of(srq), 7u);
  });
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::ranges::count(heard_[1].events, IB_EVENT_SRQ_LIMIT_REACHED), 0);
    ASSERT_EQ(post(senders_[0], {.wr_id = i}), 0);
    run(kWhile);
  }
  EXPECT_EQ(std::ranges::count(heard_[1].events, IB_EVENT_SRQ_LIMIT_REACHED), 1);
  task(1, [&] { EXPECT_EQ(limit_of(srq), 0u); });
}

TEST_F(Shared, N_ResizeSrq) {
  ib_srq* srq = make_srq(1, 16);
  ib_qp* taker = make_taker(srq, pair_.end(1).cq);
  for (std::uint64_t i = 0; i < 16; ++i) ASSERT_EQ(receive(taker, i), 0);
  EXPECT_EQ(receive(taker, 16), -ENOMEM);
  task(1, [&] {
    const ib_srq_attr twice{32, 0, 0};
    EXPECT_EQ(ib_modify_srq(srq, &twice, IB_SRQ_MAX_WR), 0);
    ib_srq_attr found;
    EXPECT_EQ(ib_query_srq(srq, &found), 0);
    EXPECT_GE(found.max_wr, 32u);
  });
  for (std::uint64_t i = 16; i < 32; ++i) ASSERT_EQ(receive(taker, i), 0);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_EQ(post(senders_[0], {.wr_id = i}), 0);
  run(kWhile);
  EXPECT_EQ(poll(1).size(), 32u);
}

// Two consumers poll a queue each and post what they took again: none is counted twice or lost.
TEST_F(Shared, B65_TwoQueuesPolledSideBySide) {
  constexpr std::uint32_t kPosted = 12;
  constexpr std::uint64_t kMessages = 64;  // of each sender
  ib_srq* srq = make_srq(1, kPosted);
  const std::array<ib_cq*, 2> cq{make_cq(1, 256), make_cq(1, 256)};
  const std::array<ib_qp*, 2> takers{make_taker(srq, cq[0]), make_taker(srq, cq[1])};
  for (std::uint64_t i = 0; i < kPosted; ++i) ASSERT_EQ(receive(takers[0], i), 0);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    for (ib_qp* sender : senders_) ASSERT_EQ(post(sender, {.wr_id = i}), 0);
  }
  std::array<std::uint64_t, 2> got{};
  const auto consume = [&](std::size_t one) {
    while (got[one] < kMessages) {
      for (const ib_wc& wc : poll_queue(cq[one])) {
        EXPECT_EQ(wc.status, IB_WC_SUCCESS);
        EXPECT_EQ(wc.qp, takers[one]);
        ++got[one];
        EXPECT_EQ(receive(takers[one], wc.wr_id), 0);
      }
      sleep(1, hw::kMicrosecond);
    }
  };
  run(20 * hw::kMillisecond, {[&] { consume(0); }, [&] { consume(1); }});
  EXPECT_EQ(got, (std::array{kMessages, kMessages}));
  EXPECT_EQ(receive(takers[0], 99), -ENOMEM);  // as many are posted as at the start
}

}  // namespace
}  // namespace hcasim::verbs
