// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Data verbs in the middle of each other, and what they may not do.
#include <algorithm>
#include <cerrno>
#include <string>

#include "hcasim/hw/bar.hpp"
#include "unit/driver/interrupted.hpp"

namespace hcasim::rvt {
namespace {

#ifndef NDEBUG

class PreemptionTest : public Interrupted<DriverTest> {
 protected:
  std::vector<std::uint64_t> sorted(std::vector<ib_wc> wc) {
    auto found = ids(wc);
    std::sort(found.begin(), found.end());
    return found;
  }

  void expect_last_rung(std::uint64_t offset, std::uint32_t head) {
    const auto bells = host.rung(offset);
    ASSERT_FALSE(bells.empty());
    EXPECT_EQ(bells.back().index, head);
  }
};

using Ids = std::vector<std::uint64_t>;

TEST_F(PreemptionTest, SendsPostedWithinAPostHaveSlotsOfTheirOwn) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    const int points = interrupt_at(
        wanted, [&] { EXPECT_EQ(post_send(qp, 1), 0); }, [&] { EXPECT_EQ(post_send(qp, 2), 0); });
    EXPECT_EQ(rvt(qp)->s_head, 2u);
    expect_last_rung(hw::bar::kSendDoorbell, 2);
    complete_send(qp, 0);
    complete_send(qp, 1);
    EXPECT_EQ(sorted(poll()), (Ids{1, 2}));
    return points;
  });
}

TEST_F(PreemptionTest, ReceivesPostedWithinAPostNeverTakeTheDoorbellBack) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    const int points = interrupt_at(
        wanted, [&] { EXPECT_EQ(post_recv(qp, 1), 0); }, [&] { EXPECT_EQ(post_recv(qp, 2), 0); });
    EXPECT_EQ(rvt(qp)->r_rq.head, 2u);
    expect_last_rung(hw::bar::kReceiveDoorbell, 2);
    return points;
  });
}

TEST_F(PreemptionTest, ReceivesOfAnSrqPostedWithinAPostNeverTakeTheDoorbellBack) {
  const ib_sge data = sge(64);
  at_each_point([&](int wanted) {
    ib_srq* srq = make_srq();
    ib_recv_wr wr;
    wr.sg_list = &data;
    wr.num_sge = 1;
    const auto post = [&] { EXPECT_EQ(ib_post_srq_recv(srq, &wr, &bad_recv), 0); };
    const int points = interrupt_at(wanted, post, post);
    EXPECT_EQ(ibsrq_to_rvtsrq(srq)->rq.head, 2u);
    expect_last_rung(hw::bar::kReceiveDoorbell, 2);
    std::erase(srqs, srq);
    EXPECT_EQ(ib_destroy_srq(srq), 0);
    return points;
  });
}

TEST_F(PreemptionTest, CompletionsEnteredWithinAnotherComeOnce) {
  at_each_point([this](int wanted) {
    ib_wc wc;
    std::vector<ib_wc> all;
    const auto enter = [&](std::uint64_t id) {
      wc.wr_id = id;
      EXPECT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(cq), wc, false));
    };
    const int points = interrupt_at(
        wanted, [&] { enter(1); },
        [&] {
          enter(2);
          all = poll();
          wc.wr_id = 1;  // the outer call has it by reference
        });
    const auto rest = poll();
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_EQ(sorted(all), (Ids{1, 2}));
    return points;
  });
}

TEST_F(PreemptionTest, ACompletionOfTheDriverIsBehindWhatTheAdapterWroteBeforeIt) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    EXPECT_EQ(post_send(qp, 1), 0);
    ib_wc wc;
    wc.wr_id = 2;
    bool entered = false;
    const int points = interrupt_at(
        wanted, [&] { EXPECT_TRUE(rvt_cq_enter(ibcq_to_rvtcq(cq), wc, false)); },
        [&] {
          entered = ibcq_to_rvtcq(cq)->count != 0;
          complete_send(qp, 0);
        });
    EXPECT_EQ(ids(poll()), entered ? (Ids{2, 1}) : (Ids{1, 2}));
    return points;
  });
}

TEST_F(PreemptionTest, CompletionsPolledWithinAPollComeOnce) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    for (std::uint64_t id : {1, 2, 3}) EXPECT_EQ(post_send(qp, id), 0);
    for (std::uint32_t slot : {0, 1}) complete_send(qp, slot);
    std::vector<ib_wc> inner;
    std::vector<ib_wc> all;
    const int points = interrupt_at(
        wanted, [&] { all = poll(); },
        [&] {
          complete_send(qp, 2);
          inner = poll();
        });
    all.insert(all.end(), inner.begin(), inner.end());
    const auto rest = poll();
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_EQ(sorted(all), (Ids{1, 2, 3}));
    return points;
  });
}

TEST_F(PreemptionTest, AnArmingLosesNoCompletionThatComesInItsMiddle) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    EXPECT_EQ(post_send(qp, 1), 0);
    const std::uint32_t seen = ibcq_to_rvtcq(cq)->seen;
    int missed = 0;
    const int points = interrupt_at(
        wanted,
        [&] { missed = ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS); },
        [&] { complete_send(qp, 0); });
    // Told of it, or armed before it, so that the adapter tells.
    if (missed == 0) expect_last_rung(hw::bar::kCqArmDoorbell, seen);
    EXPECT_NE(ibcq_to_rvtcq(cq)->notify, RVT_CQ_NONE);
    EXPECT_EQ(ids(poll()), (Ids{1}));
    ibcq_to_rvtcq(cq)->notify = RVT_CQ_NONE;
    return points;
  });
}

TEST_F(PreemptionTest, AnErrorWithinAPostLeavesEverySlotCounted) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    int error = 0;
    const int points = interrupt_at(
        wanted, [&] { error = post_recv(qp, 1); }, [&] { error_qp(qp); });
    EXPECT_EQ(error, 0);
    EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
    host.event(0, hw::EqeType::kQpErrorDone, qp->qp_num, 0);
    EXPECT_EQ(ids(poll()), (Ids{1}));
    return points;
  });
}

TEST_F(PreemptionTest, NothingInterruptsASectionOrAHandler) {
  int calls = 0;
  Preemption::set_hook([&] {
    ++calls;
    Preemption::point();
  });
  spinlock_t lock;
  {
    const SpinGuard guard(lock);
    EXPECT_EQ(calls, 1);
    const InterruptsOff off;
    { const DataVerb verb("verb"); }
    EXPECT_EQ(calls, 1);
  }
  EXPECT_EQ(calls, 2);
}

TEST_F(PreemptionTest, AHandlerIsRefusedControlVerbsWhateverItInterrupts) {
  at_each_point([this](int wanted) {
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    ib_cq_init_attr attr;
    attr.cqe = 4;
    const int points = interrupt_at(
        wanted, [&] { EXPECT_EQ(post_send(qp, 1), 0); },
        [&] {
          EXPECT_EQ(DataVerb::running(), nullptr);
          EXPECT_EQ(PTR_ERR(ib_create_cq(ibdev, nullptr, nullptr, nullptr, &attr)), -EDEADLK);
          EXPECT_EQ(to_state(qp, IB_QPS_ERR), -EDEADLK);
          EXPECT_EQ(ib_resize_cq(cq, 8), -EDEADLK);
        });
    EXPECT_EQ(DataVerb::running(), nullptr);
    complete_send(qp, 0, hw::WcStatus::kWrFlushErr);
    EXPECT_EQ(ids(poll()), (Ids{1}));
    return points;
  });
}

std::string complaint(const std::function<void()>& body) {
  const DataVerb verb("post_send");
  try {
    body();
  } catch (const LockOrderError& error) {
    return error.what();
  }
  return "";
}

TEST_F(PreemptionTest, AVerbThatWouldWaitIsNamed) {
  Mutex mutex;
  EXPECT_EQ(complaint([&] { mutex.lock(host); }), "Mutex::lock in the data verb post_send");
  EXPECT_EQ(complaint([&] { host.mmio_read64(0); }), "mmio_read64 in the data verb post_send");
  const auto point = host.make_wait_point();
  EXPECT_EQ(complaint([&] { point->wait(0); }), "WaitPoint::wait in the data verb post_send");
  EXPECT_EQ(complaint([&] { make_cq(4); }), "a command in the data verb post_send");
  EXPECT_EQ(DataVerb::running(), nullptr);
}

#endif

}  // namespace
}  // namespace hcasim::rvt
