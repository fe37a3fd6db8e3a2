// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Bringing devices up and down, events, and the order of locks.
#include <gmock/gmock.h>

#include <array>
#include <cerrno>
#include <memory>

#include "unit/driver/fixture.hpp"
#include "unit/driver/sync_without_assertions.hpp"

namespace hcasim::rvt {
namespace {

class Device : public DriverTest {
 protected:
  void SetUp() override {}
  void TearDown() override {
    if (pd != nullptr) stop();
  }
  int bring_up() {
    device = rvt_alloc_device(host, params);
    return rvt_register_device(device.get());
  }
};

TEST_F(Device, LimitsAreTheAdaptersWithinTheDrivers) {
  host.limits.max_send_sge = 1000;
  host.limits.max_inline_data = 5000;
  host.limits.max_recv_sge = 100;
  host.limits.max_rd_atomic = 7;
  ASSERT_EQ(bring_up(), 0);
  const ib_device_attr& attrs = rvt_ib_device(device.get())->attrs;
  EXPECT_EQ(attrs.max_send_sge, 58);
  EXPECT_EQ(attrs.max_inline_data, 928);
  EXPECT_EQ(attrs.max_recv_sge, 31);
  EXPECT_EQ(attrs.max_qp_rd_atom, 7);
  EXPECT_EQ(attrs.max_qp, 64);
  EXPECT_EQ(attrs.max_cqe, 4096);
}

TEST_F(Device, PortsAreTheAdapters) {
  host.limits.ports = 2;
  host.down_port = 2;
  ASSERT_EQ(bring_up(), 0);
  ib_device* const it = rvt_ib_device(device.get());
  EXPECT_EQ(it->phys_port_cnt, 2u);
  ib_port_attr attr;
  for (const std::uint32_t none : {0u, 3u}) EXPECT_EQ(ib_query_port(it, none, &attr), -EINVAL);
  ASSERT_EQ(ib_query_port(it, 1, &attr), 0);
  EXPECT_EQ(attr.state, IB_PORT_ACTIVE);
  EXPECT_EQ(attr.active_mtu, IB_MTU_4096);
  EXPECT_EQ(attr.max_msg_sz, RVT_MAX_MESSAGE);
  ASSERT_EQ(ib_query_port(it, 2, &attr), 0);
  EXPECT_EQ(attr.state, IB_PORT_DOWN);
}

TEST_F(Device, EventsOfPortsNameThePort) {
  host.limits.ports = 2;
  ASSERT_EQ(bring_up(), 0);
  std::vector<std::pair<ib_event_type, std::uint32_t>> seen;
  rvt_set_event_handler(
      device.get(),
      [](ib_event* event, void* list) {
        static_cast<decltype(seen)*>(list)->emplace_back(event->event, event->element.port_num);
      },
      &seen);
  host.event(0, hw::EqeType::kPortState, 2, 0);
  host.event(0, hw::EqeType::kPortState, 2, 1);
  host.event(0, hw::EqeType::kPortState, 3, 0);  // there is none
  EXPECT_THAT(seen, testing::ElementsAre(testing::Pair(IB_EVENT_PORT_ERR, 2u),
                                         testing::Pair(IB_EVENT_PORT_ACTIVE, 2u)));
  EXPECT_EQ(device->stats.stray_events, 1u);
}

TEST_F(Device, RefusesForeignAdaptersAndBadParameters) {
  host.device_id = 1;
  EXPECT_EQ(bring_up(), -ENODEV);
  host.device_id = hw::bar::kDeviceIdValue;
  params.num_comp_vectors = 0;
  EXPECT_EQ(bring_up(), -EINVAL);
  params = {};
  params.page_shift = 11;
  EXPECT_EQ(bring_up(), -EINVAL);
  params = {};
  params.lkey_table_size = 24;
  EXPECT_EQ(bring_up(), -EINVAL);
  params = {};
  host.set_may_wait(false);
  EXPECT_EQ(bring_up(), -EDEADLK);
}

TEST_F(Device, EveryFailureOfBringUpLeavesNothing) {
  params.num_comp_vectors = 2;
  for (int step = 0; step < 4; ++step) {
    host.allocations_until_failure = step;
    EXPECT_EQ(bring_up(), -ENOMEM) << step;
    device.reset();
    EXPECT_EQ(host.blocks_allocated(), 0u) << step;
  }
  host.allocations_until_failure = -1;
  for (int step = 0; step < 3; ++step) {
    host.commands_until_failure = step;
    EXPECT_EQ(bring_up(), -EINVAL) << step;
    device.reset();
    EXPECT_EQ(host.blocks_allocated(), 0u) << step;
  }
  host.commands_until_failure = -1;
  host.answers = false;
  EXPECT_EQ(bring_up(), -EIO);
  EXPECT_TRUE(rvt_device_failed(device.get()));
}

TEST_F(Device, EachVectorHasItsEventQueue) {
  params.num_comp_vectors = 3;
  start();
  ib_cq_init_attr attr;
  attr.cqe = 4;
  attr.comp_vector = 2;
  ib_cq* third = ib_create_cq(ibdev, Seen::completion, nullptr, &cq_seen, &attr);
  cqs.push_back(third);
  EXPECT_EQ(host.cqs.at(cqn(third)).eqn, 3u);
  ASSERT_EQ(ib_req_notify_cq(third, IB_CQ_NEXT_COMP), 0);
  ASSERT_TRUE(host.complete(cqn(third), {}));
  host.notify(cqn(third));
  EXPECT_EQ(cq_seen.completions, 1);
  EXPECT_EQ(host.rung(hw::bar::kEqConsumerDoorbell).back(),
            (FakeHost::Doorbell{hw::bar::kEqConsumerDoorbell, 3, 1}));
}

TEST_F(Device, EventQueuesWrap) {
  params.eq_entries = 3;
  start();
  for (int i = 0; i < 20; ++i) destroy(make_qp_in(IB_QPS_RTS));
  EXPECT_EQ(device->stats.stray_events, 0u);
}

TEST_F(Device, SpuriousInterruptDoesNothing) {
  start();
  const std::size_t bells = host.doorbells.size();
  host.interrupt(0);
  host.interrupt(1);
  EXPECT_EQ(host.doorbells.size(), bells);
}

TEST_F(Device, EventsOfUnknownObjectsAreCounted) {
  start();
  host.event(0, hw::EqeType::kQpError, 0x1234);
  host.event(0, hw::EqeType::kCompletion, 999);
  host.event(0, hw::EqeType::kSrqLimit, hw::bar::kSrqBit | 2);
  host.event(0, hw::EqeType::kCommandDone, 0, 0xffff);
  EXPECT_EQ(device->stats.stray_events, 4u);
}

TEST_F(Device, QueuePairEventsReachTheirHandler) {
  start();
  ib_qp* qp = make_qp_in(IB_QPS_RTR);
  host.event(0, hw::EqeType::kCommEst, qp->qp_num);
  host.event(0, hw::EqeType::kCommEst, qp->qp_num);  // once in a life
  host.event(0, hw::EqeType::kQpRequestError, qp->qp_num);
  host.event(0, hw::EqeType::kLastWqe, qp->qp_num);
  host.event(0, hw::EqeType::kLastWqe, qp->qp_num);
  EXPECT_EQ(qp_seen.events,
            (std::vector{IB_EVENT_COMM_EST, IB_EVENT_QP_REQ_ERR, IB_EVENT_QP_LAST_WQE_REACHED}));
  EXPECT_EQ(qp_seen.elements[0], qp);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RTR);
}

TEST_F(Device, FatalQueueErrorsBringTheQueuePairDown) {
  start();
  for (const hw::EqeType type : {hw::EqeType::kReceiveQueueError, hw::EqeType::kSendQueueError}) {
    qp_seen.events.clear();
    ib_qp* qp = make_qp_in(IB_QPS_RTS);
    host.event(0, type, qp->qp_num, 0);
    EXPECT_EQ(rvt(qp)->state, IB_QPS_ERR);
    EXPECT_EQ(qp_seen.events, std::vector{IB_EVENT_QP_FATAL});
    EXPECT_EQ(host.rung(hw::bar::kQpErrorDoorbell).back().number, qp->qp_num);
  }
}

TEST_F(Device, CqErrorIsRaisedAndSticky) {
  start();
  host.event(0, hw::EqeType::kCqError, cqn(cq));
  EXPECT_EQ(cq_seen.events, std::vector{IB_EVENT_CQ_ERR});
  ib_wc wc;
  EXPECT_FALSE(rvt_cq_enter(ibcq_to_rvtcq(cq), wc, false));
}

TEST_F(Device, UnregisterResetsAndCountsWhatIsLeft) {
  start();
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(rvt_unregister_device(device.get()), 1u);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  EXPECT_EQ(rvt_unregister_device(device.get()), 0u);
  EXPECT_EQ(to_state(qp, IB_QPS_INIT), -EIO);
  EXPECT_FALSE(rvt_device_failed(device.get()));
}

// Nothing is left to wait for, so it needs no task.
TEST_F(Device, WhatOutlivesTheDeviceCanBeFreedAnywhere) {
  start();
  make_qp_in(IB_QPS_RTS);
  rvt_unregister_device(device.get());
  host.set_may_wait(false);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
  for (ib_qp* qp : qps) EXPECT_EQ(ib_destroy_qp(qp), 0);
  for (ib_cq* each : cqs) EXPECT_EQ(ib_destroy_cq(each), 0);
  EXPECT_EQ(ib_dealloc_pd(pd), 0);
  qps.clear();
  cqs.clear();
  mr = nullptr;
  pd = nullptr;
}

TEST_F(Device, ComesUpAgain) {
  start();
  stop();
  ASSERT_EQ(bring_up(), 0);
  EXPECT_EQ(rvt_unregister_device(device.get()), 0u);
}

// --- Locks
// ------------------------------------------------------------------------------------------

TEST(Locks, OrderIsChecked) {
  if (!kLocksChecked) GTEST_SKIP() << "built without assertions";
  spinlock_t receive{LockRank::kReceive};
  spinlock_t send{LockRank::kSend};
  spinlock_t leaf;
  spinlock_t other_leaf;
  {
    const SpinGuard a(receive);
    const SpinGuard b(send);
    const SpinGuard c(leaf);
    const SpinGuard d(other_leaf);
    EXPECT_THROW(SpinGuard e(leaf), LockOrderError);
  }
  const SpinGuard b(send);
  EXPECT_THROW(SpinGuard a(receive), LockOrderError);
}

// Each part of a program checks or does not, as it was built.
TEST(Locks, OfPartsBuiltInTwoWaysKeepApart) {
  spinlock_t lock;
  const SpinGuard own(lock);
  EXPECT_NO_THROW(hold_twice_without_assertions(lock));
}

TEST_F(Device, CommandWithALockHeldIsAFault) {
  if (!kLocksChecked) GTEST_SKIP() << "built without assertions";
  start();
  spinlock_t lock;
  const SpinGuard guard(lock);
  EXPECT_THROW(make_qp(), LockOrderError);
}

// A machine whose waits only note that somebody waits.
class NotingHost : public FakeHost {
 public:
  class Point : public hw::WaitPoint {
   public:
    explicit Point(NotingHost& host) : host_(host) {}
    void signal() override { ++host_.signals; }
    bool wait(hw::Time) override {
      ++host_.waits;
      return true;
    }

   private:
    NotingHost& host_;
  };
  std::unique_ptr<hw::WaitPoint> make_wait_point() override {
    return std::make_unique<Point>(*this);
  }
  int waits = 0;
  int signals = 0;
};

TEST(Mutex, IsHandedOverToWaiters) {
  NotingHost host;
  Mutex mutex;
  mutex.lock(host);
  EXPECT_EQ(host.waits, 0);
  mutex.lock(host);  // another task, which would wait here
  EXPECT_EQ(host.waits, 1);
  mutex.unlock();
  EXPECT_EQ(host.signals, 1);
  EXPECT_TRUE(mutex.held());  // by the one that waited
  mutex.unlock();
  EXPECT_EQ(host.signals, 1);
  EXPECT_FALSE(mutex.held());
}

TEST(Locks, TooManyAreRefused) {
  if (!kLocksChecked) GTEST_SKIP() << "built without assertions";
  std::array<spinlock_t, 9> locks;
  std::vector<std::unique_ptr<SpinGuard>> guards;
  for (int i = 0; i < 8; ++i) {
    guards.push_back(std::make_unique<SpinGuard>(locks[static_cast<std::size_t>(i)]));
  }
  EXPECT_THROW(SpinGuard guard(locks[8]), LockOrderError);
}

TEST_F(Device, RefusalsOfTheAdapterBecomeErrnos) {
  start();
  const auto error_of = [&](hw::CommandStatus status) {
    host.failure_status = status;
    host.commands_until_failure = 0;
    return PTR_ERR(make_qp());
  };
  EXPECT_EQ(error_of(hw::CommandStatus::kBadOpcode), -EOPNOTSUPP);
  EXPECT_EQ(error_of(hw::CommandStatus::kBadObject), -EINVAL);
  EXPECT_EQ(error_of(hw::CommandStatus::kBadState), -EINVAL);
  EXPECT_EQ(error_of(hw::CommandStatus::kBadParameter), -EINVAL);
  EXPECT_EQ(error_of(hw::CommandStatus::kNoResources), -ENOMEM);
  EXPECT_EQ(error_of(hw::CommandStatus::kPending), -EIO);
  EXPECT_FALSE(rvt_device_failed(device.get()));
}

TEST(ErrorPointer, CarriesTheErrno) {
  int object = 0;
  EXPECT_FALSE(IS_ERR(&object));
  EXPECT_FALSE(IS_ERR(nullptr));
  EXPECT_TRUE(IS_ERR(ERR_PTR<int>(-ENOMEM)));
  EXPECT_EQ(PTR_ERR(ERR_PTR<int>(-ENOMEM)), -ENOMEM);
}

}  // namespace
}  // namespace hcasim::rvt
