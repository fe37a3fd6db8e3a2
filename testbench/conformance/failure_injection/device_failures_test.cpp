// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Failures of what is no verb of one object: the device, queries, posts, completions.
#include <cerrno>
#include <utility>

#include "conformance/failure_injection/world.hpp"

namespace hcasim::rvt {
namespace {

// As a device of which nothing has been started.
void expect_nothing_left(World& world) {
  EXPECT_EQ(world.host.blocks_allocated(), world.lost_mailbox ? 1u : 0u);
  EXPECT_EQ(world.device->qp_dev.qp_table_size, 0u);
  EXPECT_TRUE(world.device->lkey_table.table.empty());
  EXPECT_TRUE(world.device->event_queues.empty());
}

struct Needs {
  int allocations = 0;
  int commands = 0;
};
Needs needs_of_registration() {
  World world(false);
  Needs needs;
  const FailingMemory counting(FailingHost::kNever);
  EXPECT_EQ(rvt_register_device(world.device.get()), 0);
  needs.allocations = FailingMemory::count();
  needs.commands = static_cast<int>(world.host.commands.size());
  return needs;
}

TEST(Registration, WithoutMemory) {
  const int allocations = needs_of_registration().allocations;
  EXPECT_GT(allocations, 8);
  for (int step = 0; step < allocations; ++step) {
    SCOPED_TRACE(step);
    World world(false);
    {
      const FailingMemory failing(step);
      EXPECT_EQ(rvt_register_device(world.device.get()), -ENOMEM);
    }
    expect_nothing_left(world);
    EXPECT_EQ(rvt_register_device(world.device.get()), 0);
    EXPECT_EQ(world.make_pd(world.pd), 0);
    EXPECT_EQ(world.make_cq(world.cq), 0);
    EXPECT_EQ(world.make_qp(IB_QPT_RC, world.qp), 0);
  }
}

TEST(Registration, RefusedOrUnanswered) {
  const int commands = needs_of_registration().commands;
  EXPECT_GE(commands, 2);
  for (int step = 0; step < commands; ++step) {
    SCOPED_TRACE(step);
    World refused(false);
    refused.host.commands_until_failure = step;
    EXPECT_EQ(rvt_register_device(refused.device.get()), -EINVAL);
    expect_nothing_left(refused);
    EXPECT_EQ(rvt_register_device(refused.device.get()), 0);
    World mute(false);
    mute.host.commands_until_lost = step;
    mute.lost_mailbox = true;
    EXPECT_EQ(rvt_register_device(mute.device.get()), -EIO);
    expect_nothing_left(mute);
    EXPECT_TRUE(rvt_device_failed(mute.device.get()));
    EXPECT_EQ(mute.fatal, 1);
    // A reset may have cured it.
    EXPECT_EQ(rvt_register_device(mute.device.get()), 0);
    EXPECT_FALSE(rvt_device_failed(mute.device.get()));
  }
}

TEST(Registration, NoMemoryForTheDeviceItself) {
  FailingHost host;
  const FailingMemory failing(0);
  EXPECT_EQ(rvt_alloc_device(host, {}), nullptr);
}

// Two queue pairs are reset one after the other, whatever the adapter says.
TEST(Unregistration, ComesToItsEnd) {
  enum class Failure { kNone, kRefused, kUnanswered };
  for (const Failure failure : {Failure::kNone, Failure::kRefused, Failure::kUnanswered}) {
    for (int step = 0; step < 2; ++step) {
      World world;
      for (ib_qp** each : {&world.qp, &world.peer}) {
        EXPECT_EQ(world.make_qp(IB_QPT_RC, *each), 0);
        EXPECT_EQ(World::move(*each, IB_QPS_INIT), 0);
      }
      if (failure == Failure::kRefused) world.host.commands_until_failure = step;
      if (failure == Failure::kUnanswered) world.host.commands_until_lost = step;
      world.lost_mailbox = failure == Failure::kUnanswered;
      const FailingMemory failing(0);
      EXPECT_EQ(rvt_unregister_device(world.device.get()), 2u);
      EXPECT_EQ(FailingMemory::count(), 0);
      EXPECT_EQ(ibqp_to_rvtqp(world.qp)->state, IB_QPS_RESET);
      EXPECT_EQ(ibqp_to_rvtqp(world.peer)->state, IB_QPS_RESET);
      EXPECT_EQ(rvt_device_failed(world.device.get()), failure == Failure::kUnanswered);
    }
  }
}

// What the driver knows by itself serves where the adapter does not answer.
TEST(Queries, AnswerFromTheDriversBooks) {
  for (const bool lost : {false, true}) {
    World world;
    EXPECT_EQ(world.make_srq(), 0);
    EXPECT_EQ(world.modify_srq(IB_SRQ_LIMIT, 0, 2), 0);
    EXPECT_EQ(world.make_qp(IB_QPT_RC, world.qp), 0);
    world.bring(IB_QPS_RTS);
    world.lost_mailbox = lost;
    const auto fail_next = [&] {
      (lost ? world.host.commands_until_lost : world.host.commands_until_failure) = 0;
    };
    ib_srq_attr srq_attr;
    fail_next();
    EXPECT_EQ(ib_query_srq(world.srq, &srq_attr), 0);
    EXPECT_EQ(srq_attr.srq_limit, 2u);
    EXPECT_EQ(srq_attr.max_wr, 4u);
    ib_qp_attr attr;
    ib_qp_init_attr init;
    fail_next();
    EXPECT_EQ(ib_query_qp(world.qp, &attr, 0, &init), 0);
    EXPECT_EQ(attr.qp_state, IB_QPS_RTS);
    EXPECT_EQ(rvt_device_failed(world.device.get()), lost);
  }
}

// The books of a send queue are made with its first post.
TEST(Posts, FirstSendWithoutMemory) {
  World world;
  EXPECT_EQ(world.make_qp(IB_QPT_RC, world.qp), 0);
  world.bring(IB_QPS_RTS);
  const ib_send_wr wr;
  const ib_send_wr* bad = nullptr;
  const std::size_t bells = world.host.doorbells.size();
  {
    const FailingMemory failing(0);
    EXPECT_EQ(ib_post_send(world.qp, &wr, &bad), -ENOMEM);
  }
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(ibqp_to_rvtqp(world.qp)->s_head, 0u);
  EXPECT_EQ(world.host.doorbells.size(), bells);
  EXPECT_EQ(ib_post_send(world.qp, &wr, &bad), 0);
}

// A completion for which the driver has no room counts as one too many.
TEST(Completions, WithoutMemoryOverflowTheirQueue) {
  World world;
  EXPECT_EQ(world.make_qp(IB_QPT_RC, world.qp), 0);
  world.bring(IB_QPS_RTS);
  for (int i = 0; i < 2; ++i) {
    const ib_recv_wr wr;
    EXPECT_EQ(ib_post_recv(world.qp, &wr, nullptr), 0);
  }
  {
    const OwnMemory events;
    world.cq_seen.events.reserve(8);
    world.cq_seen.elements.reserve(8);
  }
  ib_wc wc;
  wc.wr_id = 7;
  {
    const FailingMemory failing(0);
    EXPECT_FALSE(rvt_cq_enter(ibcq_to_rvtcq(world.cq), wc, false));
  }
  EXPECT_EQ(world.cq_seen.events, std::vector{IB_EVENT_CQ_ERR});
  EXPECT_EQ(world.move(IB_QPS_ERR), 0);
  EXPECT_EQ(ib_poll_cq(world.cq, 1, &wc), 0);
}

// Deregistration asks for a region under each of its keys; one that the adapter has under none may
// still be in its hands.
TEST(Deregistration, OfAFastRegisterRegionThatIsRefusedUnderEachKey) {
  World world;
  EXPECT_EQ(world.alloc_mr(), 0);
  world.host.knows_objects = true;
  world.host.mrs.clear();
  EXPECT_EQ(world.dereg(), 0);
  EXPECT_EQ(world.device->n_mrs_allocated, 0);
  EXPECT_TRUE(rvt_device_failed(world.device.get()));
  EXPECT_EQ(world.fatal, 1);
}

// Refused under the first key only, it is found under the next.
TEST(Deregistration, OfAFastRegisterRegionThatIsRefusedOnce) {
  World world;
  EXPECT_EQ(world.alloc_mr(), 0);
  world.host.commands_until_failure = 0;
  EXPECT_EQ(world.dereg(), 0);
  EXPECT_FALSE(rvt_device_failed(world.device.get()));
}

}  // namespace
}  // namespace hcasim::rvt
