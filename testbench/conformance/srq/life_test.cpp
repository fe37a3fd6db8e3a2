// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Resizing, errors and the end of a shared queue and of its queue pairs.
#include <algorithm>

#include "shared_bench.hpp"

namespace hcasim::testing {
namespace {

using Opcode = hw::CommandOpcode;
using Status = hw::CommandStatus;

/// What a driver does to resize: the ring of the context becomes one of `slots`.
void go_on_in_new_ring(SharedBench& s, std::uint32_t tail, std::uint32_t slots) {
  const hw::SrqContext old = s.context;
  s.context.base = s.new_ring(slots);
  s.context.size = slots;
  s.context.head = s.context.tail = 0;
  for (std::uint32_t i = tail; i != old.head; i = (i + 1) % old.size) {
    s.bench.fill(s.context.base + std::uint64_t{64} * s.context.head++,
                 s.bench.bytes(old.base + std::uint64_t{64} * i, 64));
  }
  EXPECT_EQ(s.modify(hw::kSrqRing).status, Status::kOk);
}

TEST(SrqResize, H8_UnderTrafficLosesAndRepeatsNothing) {
  for (std::uint64_t step = 0; step < 40; ++step) {
    SharedBench s(13);
    BenchQp a = s.create_qp();
    BenchQp b = s.create_qp();
    s.post(12);
    const Time start = s.bench.now();
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Time at = start + i * 150 * hw::kNanosecond;
      s.bench.arrive_at(at, a, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500 + i));
      s.bench.arrive_at(at, b, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500 + i));
    }
    s.bench.run_for(step * 50 * hw::kNanosecond);
    const hw::Mailbox paused = s.modify(hw::kSrqPause);
    ASSERT_EQ(paused.status, Status::kOk);
    const auto answer = hw::load<hw::SrqContext>(paused.payload);
    EXPECT_EQ(answer.head, 12u);
    go_on_in_new_ring(s, answer.tail, 30);
    EXPECT_LE(s.tail_in_memory(), s.context.head);
    s.settle();
    Ids all = s.received(a);
    const Ids of_b = s.received(b);
    EXPECT_EQ(all.size(), 6u);
    EXPECT_EQ(of_b.size(), 6u);
    all.insert(all.end(), of_b.begin(), of_b.end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i + 1) << "step " << step;
    EXPECT_EQ(s.tail_in_memory(), s.context.head);
    EXPECT_EQ(s.bench.counter("responder", "out_of_buffer"), 0u);
  }
}

// A message whose receive is of the old ring says where the new one stands.
TEST(SrqResize, TailInMemoryIsOfTheNewRing) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  BenchQp other = s.create_qp();
  s.post(3);
  s.send_and_settle(other, 500);
  s.send(qp, 500, 256, hw::BthOpcode::kRcSendFirst);
  s.settle();
  ASSERT_EQ(s.modify(hw::kSrqPause).status, Status::kOk);
  go_on_in_new_ring(s, 2, 20);
  s.settle();
  EXPECT_EQ(s.tail_in_memory(), 0u);
  s.send(qp, 501, 32, hw::BthOpcode::kRcSendLast);
  s.settle();
  EXPECT_EQ(s.received(qp), Ids{2});
  EXPECT_EQ(s.tail_in_memory(), 0u);
  s.send_and_settle(other, 501);
  EXPECT_EQ(s.received(other), (Ids{1, 3}));
  EXPECT_EQ(s.tail_in_memory(), 1u);
}

TEST(SrqResize, LimitMayComeAlong) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.post(3);
  ASSERT_EQ(s.modify(hw::kSrqPause).status, Status::kOk);
  s.context.limit = 3;
  s.context.arm_number = 8;
  ASSERT_EQ(s.modify(hw::kSrqRing | hw::kSrqLimit).status, Status::kOk);  // the same ring
  EXPECT_EQ(s.query().limit, 3u);
  s.send_and_settle(qp, 500);
  EXPECT_EQ(s.bench.events(hw::EqeType::kSrqLimit).size(), 1u);
  EXPECT_EQ(s.received(qp), Ids{1});
}

TEST(SrqCommands, Refusals) {
  SharedBench s;
  EXPECT_EQ(s.modify(hw::kSrqRing).status, Status::kBadState);  // not paused
  EXPECT_EQ(s.modify(0).status, Status::kBadParameter);
  EXPECT_EQ(s.modify(hw::kSrqPause | hw::kSrqLimit).status, Status::kBadParameter);
  EXPECT_EQ(s.modify(8).status, Status::kBadParameter);
  EXPECT_EQ(s.bench.command(Opcode::kCreateSrq, s.context.srqn, s.context), Status::kBadObject);
  hw::SrqContext wrong = s.context;
  wrong.srqn = 7;  // without the bit
  EXPECT_EQ(s.bench.command(Opcode::kCreateSrq, wrong.srqn, wrong), Status::kBadParameter);
  wrong.srqn = hw::bar::kSrqBit | 7;
  wrong.stride = 48;
  EXPECT_EQ(s.bench.command(Opcode::kCreateSrq, wrong.srqn, wrong), Status::kBadParameter);
  wrong.stride = 64;
  wrong.size = 1u << 16;
  EXPECT_EQ(s.bench.command(Opcode::kCreateSrq, wrong.srqn, wrong), Status::kBadParameter);
  for (const Opcode opcode : {Opcode::kQuerySrq, Opcode::kDestroySrq}) {
    EXPECT_EQ(s.bench.issue(opcode, wrong.srqn).status, Status::kBadObject);
    EXPECT_EQ(s.bench.issue(opcode, 5).status, Status::kBadObject);
  }
  hw::QpContext context = s.qp_context();
  context.qpn = 0x99;
  context.send_cqn = context.recv_cqn = s.bench.create_cq().context.cqn;
  context.sq_base = 4096;
  context.srqn = wrong.srqn;
  EXPECT_EQ(s.bench.command(Opcode::kCreateQp, context.qpn, context), Status::kBadParameter);
  context.srqn = s.context.srqn;
  EXPECT_EQ(s.bench.command(Opcode::kCreateQp, context.qpn, context), Status::kOk);
}

TEST(SrqCommands, AsManyAsTheDeviceHas) {
  SharedBench s;
  hw::SrqContext more = s.context;
  const std::uint32_t most = hca::Parameters{}.device.max_srq;
  for (std::uint32_t i = 1; i < most; ++i) {
    more.srqn = hw::bar::kSrqBit | (100 + i);
    ASSERT_EQ(s.bench.command(Opcode::kCreateSrq, more.srqn, more), Status::kOk);
  }
  more.srqn = hw::bar::kSrqBit | 99;
  EXPECT_EQ(s.bench.command(Opcode::kCreateSrq, more.srqn, more), Status::kNoResources);
  EXPECT_EQ(s.bench.issue(Opcode::kDestroySrq, s.context.srqn).status, Status::kOk);
  EXPECT_EQ(s.bench.command(Opcode::kCreateSrq, more.srqn, more), Status::kOk);
}

TEST(SrqCommands, DestroyWaitsForTheLastQueuePairAndANewOneIsEmpty) {
  SharedBench s;
  BenchQp qp = s.create_qp(hw::QpState::kReset);
  EXPECT_EQ(s.bench.issue(Opcode::kDestroySrq, s.context.srqn).status, Status::kBadState);
  EXPECT_EQ(s.bench.issue(Opcode::kDestroyQp, qp.qpn()).status, Status::kOk);
  s.post(5);
  EXPECT_EQ(s.bench.issue(Opcode::kDestroySrq, s.context.srqn).status, Status::kOk);
  EXPECT_TRUE(s.bench.ring(hw::bar::kReceiveDoorbell, s.context.srqn, 6));
  s.settle();
  EXPECT_EQ(s.bench.counter("doorbell", "bad"), 1u);
  s.context.head = 0;
  ASSERT_EQ(s.bench.command(Opcode::kCreateSrq, s.context.srqn, s.context), Status::kOk);
  BenchQp next = s.create_qp();
  s.send_and_settle(next, 500);
  EXPECT_EQ(s.bench.counter("responder", "out_of_buffer"), 1u);
}

/// Events of one kind about a queue pair.
std::size_t count(const std::vector<hw::Eqe>& events, hw::EqeType type, std::uint32_t number) {
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const auto& eqe) {
    return eqe.type == type && eqe.number == number;
  }));
}

// The receive in hand is flushed, then the event; what the SRQ holds stays for the others.
TEST(SrqError, B64_LastWqeOnceBehindTheReceiveInHand) {
  for (const bool by_command : {false, true}) {
    SharedBench s;
    BenchQp qp = s.create_qp();
    BenchQp other = s.create_qp();
    s.post(3);
    s.send(qp, 500, 256, hw::BthOpcode::kRcSendFirst);
    s.settle();
    s.bench.events();
    if (by_command) {
      ASSERT_EQ(s.bench.modify(qp, hw::QpState::kErr), Status::kOk);
    } else {
      s.bench.ring(hw::bar::kQpErrorDoorbell, qp.qpn(), 0);
    }
    s.settle();
    const auto cqes = s.bench.poll(qp.recv_cq);
    ASSERT_EQ(statuses(cqes), Statuses{hw::WcStatus::kWrFlushErr});
    EXPECT_EQ(cqes[0].wr_id, 1u);
    ASSERT_EQ(s.bench.modify(qp, hw::QpState::kErr), Status::kOk);  // again: no second event
    s.settle();
    const auto events = s.bench.events();
    EXPECT_EQ(count(events, hw::EqeType::kLastWqe, qp.qpn()), 1u);
    EXPECT_EQ(count(events, hw::EqeType::kLastWqe, other.qpn()), 0u);
    EXPECT_EQ(s.query().tail, 1u);
    s.send_and_settle(other, 500);
    EXPECT_EQ(s.received(other), Ids{2});
  }
}

TEST(SrqError, B64_NoLastWqeForAQueuePairWithAQueueOfItsOwn) {
  SharedBench s;
  BenchQp own = s.bench.create_qp();
  ASSERT_EQ(s.bench.modify(own, hw::QpState::kErr), Status::kOk);
  s.settle();
  EXPECT_TRUE(s.bench.events(hw::EqeType::kLastWqe).empty());
}

// The queue pair fails while its receive is being fetched: that receive is spent and says so before
// the event, and before the command is answered.
TEST(SrqError, ATakeUnderWayIsFlushed) {
  for (const bool by_command : {false, true}) {
    SharedBench s;
    BenchQp qp = s.create_qp();
    s.bench.dma.set_read_latency(s.context.base, 4096, 20 * hw::kMicrosecond);
    s.store(2);
    s.ring();
    s.send(qp, 500);
    s.bench.run_for(hw::kMicrosecond);
    s.bench.events();
    if (by_command) {
      ASSERT_EQ(s.bench.modify(qp, hw::QpState::kErr), Status::kOk);
    } else {
      s.bench.ring(hw::bar::kQpErrorDoorbell, qp.qpn(), 0);
      s.bench.run_for(10 * hw::kMicrosecond);
      EXPECT_TRUE(s.bench.events().empty());
    }
    s.settle();
    EXPECT_EQ(statuses(s.bench.poll(qp.recv_cq)), Statuses{hw::WcStatus::kWrFlushErr});
    EXPECT_EQ(count(s.bench.events(), hw::EqeType::kLastWqe, qp.qpn()), 1u);
    EXPECT_EQ(s.tail_in_memory(), 1u);
  }
}

// A reset waits for a take under way, so that its answer cannot be that of a later one. What was
// taken vanishes without a completion, and its slot is free.
TEST(SrqError, ResetTakesWhatIsInHandAlong) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.post(3);
  s.send(qp, 500, 256, hw::BthOpcode::kRcSendFirst);
  s.settle();
  ASSERT_EQ(s.bench.modify(qp, hw::QpState::kReset), Status::kOk);
  s.settle();
  EXPECT_EQ(s.tail_in_memory(), 1u);
  EXPECT_TRUE(s.bench.poll(qp.recv_cq).empty());
  EXPECT_TRUE(s.bench.events(hw::EqeType::kLastWqe).empty());
  for (const auto next : {hw::QpState::kInit, hw::QpState::kRtr, hw::QpState::kRts}) {
    ASSERT_EQ(s.bench.modify(qp, next), Status::kOk);
  }
  s.send_and_settle(qp, 500);
  EXPECT_EQ(s.received(qp), Ids{2});
}

TEST(SrqError, ResetWaitsForATakeUnderWay) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  s.bench.dma.set_read_latency(s.context.base, 4096, 20 * hw::kMicrosecond);
  s.store(2);
  s.ring();
  s.send(qp, 500);
  s.bench.run_for(hw::kMicrosecond);
  const Time before = s.bench.now();
  ASSERT_EQ(s.bench.issue(Opcode::kDestroyQp, qp.qpn()).status, Status::kOk);
  EXPECT_GT(s.bench.now() - before, 15 * hw::kMicrosecond);
  s.settle();
  EXPECT_EQ(s.tail_in_memory(), 1u);
  EXPECT_TRUE(s.bench.poll(qp.recv_cq).empty());
}

// A full CQ brings the queue pair down, and that too is said.
TEST(SrqError, LastWqeWhenTheCqIsFull) {
  SharedBench s;
  hw::QpContext context = s.qp_context();
  BenchCq small = s.bench.create_cq(1);
  context.recv_cqn = small.context.cqn;
  BenchQp qp = s.bench.create_qp(context);
  s.post(3);
  s.send_and_settle(qp, 500);
  s.send_and_settle(qp, 501);
  const auto events = s.bench.events();
  EXPECT_EQ(count(events, hw::EqeType::kCqError, small.context.cqn), 1u);
  EXPECT_EQ(count(events, hw::EqeType::kLastWqe, qp.qpn()), 1u);
  EXPECT_EQ(s.bench.query(qp).state, hw::QpState::kErr);
}

TEST(SrqError, AReceiveThatCannotBeReadFailsTheQueue) {
  SharedBench s;
  BenchQp qp = s.create_qp();
  BenchQp other = s.create_qp();
  s.bench.dma.fail_reads(s.context.base, 4096);
  s.store(2);
  s.ring();
  s.send_and_settle(qp, 500);
  const auto naks = s.bench.sent();
  ASSERT_EQ(naks.size(), 1u);
  EXPECT_EQ(naks[0].headers.aeth.syndrome, hw::nak_syndrome(hw::NakCode::kRemoteOperational));
  auto events = s.bench.events();
  EXPECT_EQ(count(events, hw::EqeType::kReceiveQueueError, s.context.srqn), 1u);
  EXPECT_EQ(count(events, hw::EqeType::kQpError, qp.qpn()), 1u);
  EXPECT_EQ(count(events, hw::EqeType::kLastWqe, qp.qpn()), 1u);
  EXPECT_EQ(s.bench.query(other).state, hw::QpState::kRts);  // until it wants something
  s.send_and_settle(other, 500);
  EXPECT_EQ(s.bench.query(other).state, hw::QpState::kErr);
  EXPECT_EQ(s.set_limit(1, 1), Status::kBadState);
}

TEST(SrqError, ABadDoorbellFailsTheQueueOnce) {
  SharedBench s;
  s.create_qp();
  s.bench.ring(hw::bar::kReceiveDoorbell, s.context.srqn, 500);
  s.bench.ring(hw::bar::kReceiveDoorbell, s.context.srqn, 1);
  s.settle();
  EXPECT_EQ(count(s.bench.events(), hw::EqeType::kReceiveQueueError, s.context.srqn), 1u);
}

}  // namespace
}  // namespace hcasim::testing
