// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Requests that succeed where they used to fail: empty ones, planted addresses, changes under way.
#include <cerrno>

#include "verbs_bench.hpp"

namespace hcasim::verbs {
namespace {

constexpr hw::Time kWhile = 100 * hw::kMicrosecond;

class WorkRequests : public VerbsTest {};

// Control verbs of one node take time in which the other one has nothing to do.
TEST_F(WorkRequests, ANodeMayPostAfterAnotherWasBusyForLong) {
  const auto [qp, peer] = make_pair();
  sim::System& system = pair_.system();
  system.run_task(1, [&] {
    ib_cq_init_attr attr;
    attr.cqe = 64;
    for (int i = 0; i < 8; ++i) {
      cqs_[1].push_back(ib_create_cq(device(1), nullptr, nullptr, nullptr, &attr));
    }
    sleep(1, hw::kSecond);
  });
  EXPECT_EQ(system.node(0).engine().now(), system.node(1).engine().now());
  system.run_task(0, [&] { EXPECT_EQ(post(qp, {.opcode = IB_WR_RDMA_WRITE}), 0); });
  EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_SUCCESS});
}

TEST_F(WorkRequests, N_ZeroSize) {
  const auto [qp, peer] = make_pair();
  ASSERT_EQ(receive(peer, 1), 0);
  for (const ib_wr_opcode opcode : {IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND}) {
    ASSERT_EQ(post(qp, {.opcode = opcode, .bytes = 0}), 0);
  }
  run(kWhile);
  EXPECT_EQ(statuses(poll(0)), Statuses(3, IB_WC_SUCCESS));
  auto got = poll(1);
  ASSERT_EQ(statuses(got), Statuses{IB_WC_SUCCESS});
  EXPECT_EQ(got[0].byte_len, 0u);

  const auto datagrams = make_pair({.type = IB_QPT_UD});
  ASSERT_EQ(receive(datagrams[1], 2), 0);
  ASSERT_EQ(post(datagrams[0], {.bytes = 0}, 0, make_ah(0), datagrams[1]->qp_num), 0);
  run(kWhile);
  EXPECT_EQ(statuses(poll(0)), Statuses{IB_WC_SUCCESS});
  got = poll(1);
  ASSERT_EQ(statuses(got), Statuses{IB_WC_SUCCESS});
  EXPECT_EQ(got[0].byte_len, kGrh);
}

// A consumer that only looks when it is called misses nothing: of two completions the second comes
// at every moment of the arming after the first.
TEST_F(WorkRequests, B43_EveryCompletionAfterArmingCallsTheConsumer) {
  constexpr std::uint64_t kPairs = 100;
  constexpr hw::Time kStep = 20 * hw::kNanosecond;
  struct Consumer {
    std::uint64_t seen = 0;
    static void called(ib_cq* cq, void* self) {
      auto& seen = static_cast<Consumer*>(self)->seen;
      do {
        seen += poll_queue(cq).size();
      } while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) == 1);
    }
  } consumer;
  task(1, [&] {
    ib_cq_init_attr attr;
    attr.cqe = 64;
    cqs_[1].push_back(ib_create_cq(device(1), Consumer::called, nullptr, &consumer, &attr));
  });
  ib_qp_init_attr attr = qp_attr(1);
  attr.recv_cq = cqs_[1].back();
  ib_qp* sender = make_qp(0, qp_attr(0));
  ib_qp* receiver = make_qp(1, attr);
  join(sender, receiver);
  ib_req_notify_cq(cqs_[1].back(), IB_CQ_NEXT_COMP);
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    for (std::uint64_t n = 2 * i; n < 2 * i + 2; ++n) ASSERT_EQ(receive(receiver, n), 0);
    ASSERT_EQ(post(sender, {.wr_id = i, .flags = 0}), 0);
    run(i * kStep);
    ASSERT_EQ(post(sender, {.wr_id = i}), 0);
    run(20 * hw::kMicrosecond);
    ASSERT_EQ(consumer.seen, 2 * (i + 1)) << "pair " << i;
    poll(0);
  }
}

// The peer is gone, so the send is repeated until the device goes, and never after.
TEST_F(WorkRequests, B08_NoTimerOutlivesTheDevice) {
  const auto [qp, peer] = make_pair({.timeout = 5});  // 131 us
  ASSERT_EQ(to_state(1, peer, IB_QPS_RESET), 0);
  ASSERT_EQ(post(qp, {}), 0);
  const std::uint64_t first = pair_.rules().packets();
  run(300 * hw::kMicrosecond);
  const std::uint64_t repeated = pair_.rules().packets();
  EXPECT_GT(repeated, first);
  task(0, [&] { EXPECT_EQ(rvt_unregister_device(pair_.system().node(0).device()), 1u); });
  run(5 * hw::kMillisecond);
  EXPECT_LE(pair_.rules().packets(), repeated + 1);  // of seven repetitions
  EXPECT_TRUE(poll(0).empty());
}

class Registered : public WorkRequests {
 protected:
  static constexpr unsigned kPage = 4096;
  static constexpr std::uint32_t kLength = 5000;
  static constexpr std::uint64_t kFirst = 100;  // of a page

  void SetUp() override {
    task(1, [&] { fast_ = ib_alloc_mr(pd(1), IB_MR_TYPE_MEM_REG, 8); });
    ASSERT_FALSE(IS_ERR(fast_));
    const scatterlist area{at(1, kFirst), kLength};
    ASSERT_EQ(ib_map_mr_sg(fast_, &area, 1, nullptr, kPage), 1);
    pair_ends_ = make_pair();
  }
  void TearDown() override {
    task(1, [&] { EXPECT_EQ(ib_dereg_mr(fast_), 0); });
    VerbsTest::TearDown();
  }
  int reg(ib_qp* qp) {
    ib_reg_wr wr;
    wr.wr.opcode = IB_WR_REG_MR;
    wr.wr.send_flags = IB_SEND_SIGNALED;
    wr.mr = fast_;
    wr.key = fast_->rkey;
    wr.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
    return ib_post_send(qp, &wr.wr, nullptr);
  }
  ib_wc_status write_to(std::uint64_t iova, std::uint32_t bytes) {
    const Work work{.opcode = IB_WR_RDMA_WRITE,
                    .bytes = bytes,
                    .remote = iova - at(1, 0),
                    .key_error = fast_->rkey - mr(1)->rkey};
    EXPECT_EQ(post(pair_ends_[0], work), 0);
    run(kWhile);
    const auto done = poll(0);
    return done.size() == 1 ? done[0].status : IB_WC_GENERAL_ERR;
  }

  ib_mr* fast_ = nullptr;
  std::array<ib_qp*, 2> pair_ends_{};
};

TEST_F(Registered, B19_PlantedAddressesCountFromTheRegistrationOn) {
  constexpr std::uint64_t kPlanted = 0xabcd'0000'1230;
  fast_->iova = kPlanted;
  ASSERT_EQ(reg(pair_ends_[1]), 0);
  run(kWhile);
  EXPECT_EQ(statuses(poll(1)), Statuses{IB_WC_SUCCESS});
  fast_->iova = 0;                 // of no concern before the next registration
  const std::uint32_t off = 4090;  // round the end of a page
  write(0, 0, marks(kLength));
  EXPECT_EQ(write_to(kPlanted + off, 200), IB_WC_SUCCESS);
  EXPECT_EQ(read(1, kFirst + off, 200), marks(200));
  EXPECT_EQ(write_to(kPlanted, kLength), IB_WC_SUCCESS);
  EXPECT_EQ(read(1, kFirst, kLength), marks(kLength));
  // What was mapped, not what its pages hold.
  EXPECT_EQ(write_to(kPlanted + kLength - 15, 16), IB_WC_REM_ACCESS_ERR);
}

TEST_F(Registered, B19_TheMappedAddressIsNotThePlantedOne) {
  fast_->iova = 0xabcd'0000'1230;
  ASSERT_EQ(reg(pair_ends_[1]), 0);
  run(kWhile);
  poll(1);
  EXPECT_EQ(write_to(at(1, kFirst), 16), IB_WC_REM_ACCESS_ERR);
}

TEST_F(Registered, H11_ARefusedRegistrationOpensNothing) {
  ib_qp* full = pair_ends_[1];
  for (std::uint64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(post(full, {.opcode = IB_WR_RDMA_WRITE}, 1), 0);
  }
  EXPECT_EQ(reg(full), -ENOMEM);
  run(kWhile);
  EXPECT_EQ(write_to(at(1, kFirst), 16), IB_WC_REM_ACCESS_ERR);
}

// The responder's limit of READs changes while it answers some: each is answered, and right.
TEST_F(WorkRequests, B52_ReadLimitThatChangesWhileReadsAreAnswered) {
  constexpr std::uint32_t kBytes = 60'000;
  constexpr std::uint64_t kReads = 7;
  constexpr std::uint64_t kSource = 512 * 1024;
  write(1, kSource, marks(kBytes * kReads));
  for (const std::uint8_t limit : {16, 8, 7}) {
    const auto [qp, peer] = make_pair();
    write(0, 0, std::vector<std::uint8_t>(kBytes * kReads, 0));
    for (std::uint64_t i = 0; i < kReads; ++i) {
      const Work work{.opcode = IB_WR_RDMA_READ,
                      .bytes = kBytes,
                      .wr_id = i,
                      .offset = i * kBytes,
                      .remote = kSource + i * kBytes};
      ASSERT_EQ(post(qp, work), 0);
    }
    int changed = 0;
    ib_qp* const responder = peer;
    const auto change = [&, responder] {
      ib_qp_attr attr;
      attr.qp_state = IB_QPS_SQD;
      attr.max_dest_rd_atomic = limit;
      EXPECT_EQ(ib_modify_qp(responder, &attr, IB_QP_STATE), 0);
      EXPECT_EQ(ib_modify_qp(responder, &attr, IB_QP_STATE | IB_QP_MAX_DEST_RD_ATOMIC), 0);
      attr.qp_state = IB_QPS_RTS;
      EXPECT_EQ(ib_modify_qp(responder, &attr, IB_QP_STATE), 0);
      changed = 1;
    };
    run(25 * hw::kMicrosecond, {change});
    EXPECT_EQ(changed, 1);
    const std::size_t early = poll(0).size();
    EXPECT_LT(early, kReads);  // others were on their way
    run(kWhile);
    EXPECT_EQ(statuses(poll(0)), Statuses(kReads - early, IB_WC_SUCCESS));
    EXPECT_EQ(state_of(0, qp), IB_QPS_RTS);
    EXPECT_EQ(read(0, 0, kBytes * kReads), marks(kBytes * kReads));
  }
}

}  // namespace
}  // namespace hcasim::verbs
