// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Tables of queue pairs: made and freed, left, walked.
#include <cerrno>

#include "unit/driver/failing_new.hpp"
#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using testing_support::FailingNew;

TEST(Bucket, IsTheHashOfTheTracepoints) {
  rvt_dev_info rdi;
  ASSERT_EQ(rvt_driver_qp_init(&rdi), 0);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 2), 195u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 3), 37u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 4), 135u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 6), 74u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 8), 14u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 10), 209u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 12), 149u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 14), 88u);
  EXPECT_EQ(rvt_qp_bucket(&rdi, 16), 28u);
}

// --- rvt_driver_qp_init, rvt_qp_exit ------------------------------------------------------------

TEST(RvtDriverQpInit, MakesEmptyTables) {
  rvt_dev_info rdi;
  rdi.dparms.qp_table_size = 5;
  ASSERT_EQ(rvt_driver_qp_init(&rdi), 0);
  EXPECT_EQ(rdi.qp_dev.qp_table_size, 5u);
  EXPECT_EQ(rdi.qp_dev.qp_table_bits, 2u);  // rounded down
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(rdi.qp_dev.qp_table[i], nullptr);
  EXPECT_EQ(rdi.qp_dev.qpn_table.incr, 2);
}

TEST(RvtDriverQpInit, ChecksInOrder) {
  rvt_dev_info rdi;
  rdi.dparms.qp_table_size = 0;
  rdi.dparms.qpn_res_end = 0;  // in vain, and so is the memory
  rdi.driver_f.qp_priv_alloc = [](rvt_dev_info*, rvt_qp*) -> void* { return nullptr; };
  const FailingNew none(0);
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -EINVAL);
  rdi.dparms.qp_table_size = 256;
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -EINVAL);  // alloc without free
  rdi.driver_f = {};
  rdi.driver_f.qp_priv_free = [](rvt_dev_info*, rvt_qp*) {};
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -EINVAL);  // and the other way round
  rdi.driver_f = {};
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -ENOMEM);
}

TEST(RvtDriverQpInit, EveryFailureOfTheBitmapIsNoMemoryAndLeavesNothing) {
  rvt_dev_info rdi;
  const auto nothing_left = [&] {
    EXPECT_EQ(rdi.qp_dev.qp_table, nullptr);
    for (const auto& page : rdi.qp_dev.qpn_table.map) EXPECT_EQ(page, nullptr);
  };
  {
    const FailingNew table_and_a_page(2);
    EXPECT_EQ(rvt_driver_qp_init(&rdi), -ENOMEM);
    nothing_left();
  }
  rdi.dparms.qpn_res_end = 0;
  EXPECT_EQ(rvt_driver_qp_init(&rdi), -ENOMEM);  // not the -EINVAL of init_qpn_table
  nothing_left();
}

class QpTableTest : public DriverTest {
 protected:
  QpTableTest() { host.limits.ports = 2; }
  ib_qp* make_special(ib_qp_type type, std::uint32_t port) {
    return make_qp_in(IB_QPS_INIT, init_attr_of(type, port));
  }
  void one_chain() { device->qp_dev.qp_table_bits = 0; }
  rvt_qp* found(const ib_qp* qp, std::uint32_t port = 1) {
    return rvt_lookup_qpn(device.get(), port, qp->qp_num);
  }
  void attach(ib_qp* qp) {
    ib_gid group;
    group.raw[0] = 0xff;
    ASSERT_EQ(rvt_attach_mcast(qp, &group, 0), 0);
  }
};
using RvtQpExit = QpTableTest;
using RvtFreeAllQps = QpTableTest;
using RvtFreeQpCb = QpTableTest;
using RvtRemoveQp = QpTableTest;
using RvtQpIterInit = QpTableTest;
using RvtQpIterNext = QpTableTest;
using RvtQpIter = QpTableTest;

TEST_F(RvtQpExit, CountsWhatIsLeftAndFreesTheTables) {
  make_qp_in(IB_QPS_RTS);
  attach(make_qp_in(IB_QPS_RTS, init_attr_of(IB_QPT_UD)));
  EXPECT_EQ(rvt_qp_exit(device.get()), 3u);
  EXPECT_EQ(device->qp_dev.qp_table, nullptr);
  for (const auto& page : device->qp_dev.qpn_table.map) EXPECT_EQ(page, nullptr);
  for (const ib_qp* qp : qps) EXPECT_EQ(rvt_find_qp(device.get(), qp->qp_num), nullptr);
  EXPECT_EQ(rvt_qp_exit(device.get()), 0u);
}

// --- rvt_free_all_qps, rvt_free_qp_cb -----------------------------------------------------------

TEST_F(RvtFreeAllQps, ResetsAndCountsQueuePairsAndPortsWithGroups) {
  ib_qp* running = make_qp_in(IB_QPS_RTS);
  ib_qp* member = make_qp_in(IB_QPS_RTR, init_attr_of(IB_QPT_UD));
  make_special(IB_QPT_GSI, 2);
  make_qp();  // in RESET: not found
  attach(member);
  EXPECT_EQ(rvt_free_all_qps(device.get()), 4u);
  EXPECT_EQ(rvt(running)->state, IB_QPS_RESET);
  EXPECT_EQ(host.qps.at(running->qp_num).state, hw::QpState::kReset);
  EXPECT_EQ(device->n_qps_allocated, 4);          // none is freed
  EXPECT_EQ(rvt_free_all_qps(device.get()), 1u);  // the group
}

TEST_F(RvtFreeQpCb, ResetsUnlinksAndCounts) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  unsigned count = 7;
  const auto v = reinterpret_cast<std::uint64_t>(&count);
  rvt_free_qp_cb(rvt(qp), v);
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  EXPECT_EQ(found(qp), nullptr);
  EXPECT_FALSE(rvt(qp)->mutex.held());
  const std::size_t commands = host.commands.size();
  rvt_free_qp_cb(rvt(qp), v);
  EXPECT_EQ(count, 9u);
  EXPECT_EQ(host.commands.size(), commands);
}

TEST_F(RvtFreeQpCb, TakesNoLockThatNobodyWillGiveBack) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  unsigned count = 0;
  rvt(qp)->mutex.lock(host);
  host.set_may_wait(false);
  rvt_free_qp_cb(rvt(qp), reinterpret_cast<std::uint64_t>(&count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(rvt(qp)->state, IB_QPS_RESET);
  rvt(qp)->mutex.unlock();
}

// --- rvt_remove_qp ------------------------------------------------------------------------------

TEST_F(RvtRemoveQp, PacketsFindAQueuePairFromInitUntilReset) {
  ib_qp* qp = make_qp();
  EXPECT_EQ(found(qp), nullptr);
  EXPECT_EQ(rvt_find_qp(device.get(), qp->qp_num), rvt(qp));
  for (const ib_qp_state state : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_ERR}) {
    ASSERT_EQ(to_state(qp, state), 0);
    EXPECT_EQ(found(qp), rvt(qp));
  }
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(found(qp), nullptr);
}

TEST_F(RvtRemoveQp, KeepsTheRestOfTheChain) {
  one_chain();
  for (const std::size_t gone : {0, 1, 2}) {
    std::vector<ib_qp*> three;
    for (int i = 0; i < 3; ++i) three.push_back(make_qp_in(IB_QPS_INIT));
    rvt_remove_qp(device.get(), rvt(three[gone]));
    rvt_remove_qp(device.get(), rvt(three[gone]));  // no effect
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found(three[i]), i == gone ? nullptr : rvt(three[i]));
    }
    for (ib_qp* qp : three) destroy(qp);
  }
}

TEST_F(RvtRemoveQp, WhatNeverLeftResetIsNotThere) {
  one_chain();
  ib_qp* other = make_qp_in(IB_QPS_INIT);
  rvt_remove_qp(device.get(), rvt(make_qp()));
  EXPECT_EQ(found(other), rvt(other));
}

TEST_F(RvtRemoveQp, ClearsTheSlotOfItsPortAndKindOnly) {
  for (const ib_qp_type type : {IB_QPT_SMI, IB_QPT_GSI}) {
    ib_qp* first = make_special(type, 1);
    ib_qp* second = make_special(type, 2);
    rvt_remove_qp(device.get(), rvt(first));
    EXPECT_EQ(found(first, 1), nullptr);
    EXPECT_EQ(found(second, 2), rvt(second));
  }
  EXPECT_EQ(device->ports[0].qp[0], nullptr);
  EXPECT_EQ(device->ports[0].qp[1], nullptr);
}

// --- Iteration ----------------------------------------------------------------------------------

TEST_F(RvtQpIterInit, StandsBeforeTheFirst) {
  make_qp_in(IB_QPS_INIT);
  const auto callback = [](rvt_qp*, std::uint64_t) {};
  const auto iter = rvt_qp_iter_init(device.get(), 5, callback);
  ASSERT_NE(iter, nullptr);
  EXPECT_EQ(iter->rdi, device.get());
  EXPECT_EQ(iter->specials, 4u);  // of two ports
  EXPECT_EQ(iter->n, 0u);
  EXPECT_EQ(iter->qp, nullptr);
  EXPECT_EQ(iter->v, 5u);
  EXPECT_EQ(iter->cb, +callback);
}

TEST_F(RvtQpIterInit, IsNullWithoutMemory) {
  const FailingNew none(0);
  EXPECT_EQ(rvt_qp_iter_init(device.get(), 0, nullptr), nullptr);
}

TEST_F(RvtQpIterNext, SpecialOnesOfEachPortThenChainsNewestFirst) {
  one_chain();
  std::vector<rvt_qp*> expected;
  for (int i = 0; i < 4; ++i) expected.insert(expected.begin(), rvt(make_qp_in(IB_QPS_INIT)));
  make_qp();  // in RESET, so not visited
  rvt_qp* second_gsi = rvt(make_special(IB_QPT_GSI, 2));
  rvt_qp* second_smi = rvt(make_special(IB_QPT_SMI, 2));
  rvt_qp* gsi = rvt(make_special(IB_QPT_GSI, 1));
  rvt_qp* smi = rvt(make_special(IB_QPT_SMI, 1));
  expected.insert(expected.begin(), {smi, gsi, second_smi, second_gsi});
  const auto iter = rvt_qp_iter_init(device.get(), 0, nullptr);
  std::vector<rvt_qp*> visited;
  while (rvt_qp_iter_next(iter.get()) == 0) visited.push_back(iter->qp);
  EXPECT_EQ(visited, expected);
  EXPECT_EQ(rvt_qp_iter_next(iter.get()), 1);
}

TEST_F(RvtQpIterNext, BucketsInAscendingOrder) {
  for (int i = 0; i < 20; ++i) make_qp_in(IB_QPS_INIT);
  const auto iter = rvt_qp_iter_init(device.get(), 0, nullptr);
  std::uint32_t bucket = 0;
  int visited = 0;
  for (; rvt_qp_iter_next(iter.get()) == 0; ++visited) {
    const std::uint32_t next = rvt_qp_bucket(device.get(), iter->qp->ibqp.qp_num);
    EXPECT_GE(next, bucket);
    bucket = next;
  }
  EXPECT_EQ(visited, 20);
}

TEST_F(RvtQpIterNext, NothingThereIsOneAtOnce) {
  make_qp();
  const auto iter = rvt_qp_iter_init(device.get(), 0, nullptr);
  EXPECT_EQ(rvt_qp_iter_next(iter.get()), 1);
}

TEST_F(RvtQpIter, CallsForEachEvenWhenTheCallbackResets) {
  one_chain();
  for (int i = 0; i < 3; ++i) make_qp_in(IB_QPS_RTS);
  make_special(IB_QPT_SMI, 2);
  int called = 0;
  rvt_qp_iter(device.get(), reinterpret_cast<std::uint64_t>(&called),
              [](rvt_qp* qp, std::uint64_t v) {
                EXPECT_EQ(rvt_reset_qp(qp->rdi, qp, qp->ibqp.qp_type), 0);
                ++*reinterpret_cast<int*>(v);
              });
  EXPECT_EQ(called, 4);
}

// The walk does not stand on what leaves its chain, and goes on behind it.
TEST_F(RvtQpIter, WhatLeavesTheChainIsSteppedOver) {
  one_chain();
  for (int i = 0; i < 4; ++i) make_qp_in(IB_QPS_INIT);
  struct State {
    ib_qp* leaves;
    std::vector<std::uint32_t> visited;
  } state{qps[2], {}};  // newest first, so it comes second
  rvt_qp_iter(device.get(), reinterpret_cast<std::uint64_t>(&state),
              [](rvt_qp* qp, std::uint64_t v) {
                auto& seen = *reinterpret_cast<State*>(v);
                if (seen.visited.empty()) {
                  EXPECT_EQ(to_state(seen.leaves, IB_QPS_RESET), 0);
                }
                seen.visited.push_back(qp->ibqp.qp_num);
              });
  EXPECT_EQ(state.visited, (std::vector{qps[3]->qp_num, qps[1]->qp_num, qps[0]->qp_num}));
}

// As another task may do while the callback waits.
TEST_F(RvtQpIter, WhatIsDestroyedDuringTheWalkIsLeftOut) {
  for (const auto& [type, port] :
       {std::pair{IB_QPT_RC, 1u}, {IB_QPT_RC, 1u}, {IB_QPT_GSI, 1u}, {IB_QPT_GSI, 2u}}) {
    make_qp_in(IB_QPS_INIT, init_attr_of(type, port));
  }
  struct State {
    std::vector<ib_qp*>* qps;
    int called;
  } state{&qps, 0};
  rvt_qp_iter(device.get(), reinterpret_cast<std::uint64_t>(&state),
              [](rvt_qp* qp, std::uint64_t v) {
                auto& seen = *reinterpret_cast<State*>(v);
                ++seen.called;
                for (ib_qp* other : std::exchange(*seen.qps, {&qp->ibqp})) {
                  if (other != &qp->ibqp) {
                    EXPECT_EQ(ib_destroy_qp(other), 0);
                  }
                }
              });
  EXPECT_EQ(state.called, 1);
}

}  // namespace
}  // namespace hcasim::rvt
