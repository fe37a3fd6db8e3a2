// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// When an armed completion queue that is moderated raises its event.
#include "timing.hpp"

namespace hcasim::testing {
namespace {

constexpr std::uint32_t kEqn = 3;

// A queue whose completions are SENDs without data, and the event queue that it reports to.
struct Moderated {
  explicit Moderated(std::uint16_t count, std::uint16_t period)
      : eq(bench.event_queue(kEqn, 64)), cq(bench.create_cq(64, kEqn)) {
    hw::QpContext context = AdapterBench::rc_context();
    context.recv_cqn = context.send_cqn = cq.context.cqn;
    qp = bench.create_qp(context);
    for (std::uint32_t i = 0; i < 40; ++i) bench.post_recv(qp, i, {});
    bench.ring_recv(qp);
    EXPECT_EQ(modify(count, period), hw::CommandStatus::kOk);
    quiet_start(bench);
  }
  hw::CommandStatus modify(std::uint16_t count, std::uint16_t period,
                           std::uint32_t mask = hw::kCqModeration) {
    hw::CqContext in{};
    in.cq_count = count;
    in.cq_period = period;
    return bench.issue(hw::CommandOpcode::kModifyCq, cq.context.cqn, &in, sizeof in, mask).status;
  }
  void arm(std::uint32_t seen, std::uint32_t flags = 0) {
    bench.ring(hw::bar::kCqArmDoorbell, cq.context.cqn | flags, seen);
    bench.run_for(100 * hw::kNanosecond);
  }
  /// One completion. Returns when it was written.
  Time complete(bool solicited = false) {
    PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcSendOnly, psn++);
    packet.headers.solicited = solicited;
    bench.arrive(qp, packet);
    bench.run_for(200 * hw::kNanosecond);
    return bench.dma.writes(cq.context.base + 64 * (written++)).at(0).at;
  }
  std::size_t events() const { return bench.dma.interrupts(kEqn).size(); }
  /// When an event leaves that was raised at `time`.
  Time told(Time time) const { return bench.edge_after(time) + bench.cycles(4); }
  void expect_event_of(Time raised, std::size_t number = 1) {
    ASSERT_EQ(events(), number);
    EXPECT_EQ(bench.dma.interrupts(kEqn)[number - 1].at, told(raised));
  }
  std::uint64_t count(const char* name) const { return bench.counter("event", name); }

  AdapterBench bench;
  hw::EqContext eq;
  BenchCq cq;
  BenchQp qp;
  std::uint32_t psn = 500;
  std::uint64_t written = 0;
};

TEST(EventModeration, TheEventComesWithTheLastOfTheCount) {
  for (const std::uint16_t count : {2, 3, 7}) {
    Moderated m(count, 100);
    m.arm(0);
    for (std::uint16_t i = 1; i < count; ++i) m.complete();
    EXPECT_EQ(m.events(), 0u);
    const Time last = m.complete();
    m.expect_event_of(last);
    m.complete();
    m.bench.run_idle();
    EXPECT_EQ(m.events(), 1u);  // armed once
    EXPECT_EQ(m.count("held"), 1u);
    EXPECT_EQ(m.count("expired"), 0u);
  }
}

TEST(EventModeration, OrAPeriodAfterTheFirst) {
  for (const std::uint16_t period : {1, 16, 4095}) {
    Moderated m(9, period);
    m.arm(0);
    const Time first = m.complete();
    m.complete();
    expect_at(m.bench, m.told(first + period * hw::kMicrosecond), [&] { return m.events() == 1; });
    EXPECT_EQ(m.count("expired"), 1u);
    m.complete();
    m.bench.run_idle();
    EXPECT_EQ(m.events(), 1u);
  }
}

TEST(EventModeration, ACountOrAPeriodOfZeroHoldsNothingBack) {
  const std::vector<std::pair<std::uint16_t, std::uint16_t>> none = {
      {0, 0}, {0, 50}, {9, 0}, {1, 50}};
  for (const auto& [count, period] : none) {
    Moderated m(count, period);
    m.arm(0);
    m.expect_event_of(m.complete());
    EXPECT_EQ(m.bench.events().size(), 0u);
  }
}

TEST(EventModeration, ASolicitedOneEndsTheWait) {
  Moderated m(9, 100);
  m.arm(0);
  m.complete();
  m.expect_event_of(m.complete(true));
  m.arm(2, hw::bar::kArmSolicited);
  m.complete();
  EXPECT_EQ(m.events(), 1u);
  m.expect_event_of(m.complete(true), 2);
  m.bench.run_idle();
  EXPECT_EQ(m.events(), 2u);
}

TEST(EventModeration, ArmedForSolicitedOnesWhatIsHeldBackComes) {
  Moderated m(9, 16);
  m.arm(0);
  const Time first = m.complete();
  m.arm(1, hw::bar::kArmSolicited);
  expect_at(m.bench, m.told(first + 16 * hw::kMicrosecond), [&] { return m.events() == 1; });
}

TEST(EventModeration, AFailedOneEndsTheWait) {
  Moderated m(9, 100);
  m.arm(0);
  m.complete();
  m.bench.post_send(m.qp, inline_write());
  m.bench.ring_send(m.qp);
  m.bench.run_for(2 * hw::kMicrosecond);
  m.bench.arrive(m.qp, AdapterBench::nak(100, hw::NakCode::kRemoteAccess));
  m.bench.run_for(hw::kMicrosecond);
  EXPECT_EQ(m.events(), 1u);
}

TEST(EventModeration, NothingIsHeldWhileNothingIsArmed) {
  Moderated m(2, 10);
  for (int i = 0; i < 3; ++i) m.complete();
  m.bench.run_idle();
  EXPECT_EQ(m.events(), 0u);
  EXPECT_LT(m.bench.now(), 20 * hw::kMillisecond);
}

// The race of arming with completions: those that the consumer had not seen count, and the period
// begins with the arming, for nothing was held before.
TEST(EventModeration, CompletionsBeforeTheArmThatWereNotSeenCount) {
  Moderated m(3, 10);
  m.complete();
  m.complete();
  m.complete();
  m.arm(0);
  EXPECT_EQ(m.events(), 1u);  // three are there
  m.arm(1);
  EXPECT_EQ(m.events(), 1u);  // two
  m.bench.run_for(10 * hw::kMicrosecond);
  EXPECT_EQ(m.events(), 2u);
  m.arm(3);
  m.bench.run_idle();
  EXPECT_EQ(m.events(), 2u);  // none
}

TEST(EventModeration, ArmingAnewBeginsAnew) {
  Moderated m(3, 10);
  m.arm(0);
  const Time start = m.complete();
  m.complete();
  m.arm(2);  // both were seen
  m.bench.run_to(start + 9 * hw::kMicrosecond);
  const Time first = m.complete();
  expect_at(m.bench, m.told(first + 10 * hw::kMicrosecond), [&] { return m.events() == 1; });
}

TEST(EventModeration, WhatIsHeldIsJudgedByANewModeration) {
  Moderated m(9, 1000);
  m.arm(0);
  m.complete();
  m.complete();
  EXPECT_EQ(m.modify(9, 20), hw::CommandStatus::kOk);  // sooner
  m.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(m.events(), 1u);
  m.arm(2);
  m.complete();
  m.complete();
  EXPECT_EQ(m.modify(2, 1000), hw::CommandStatus::kOk);  // both are there
  m.bench.run_for(hw::kMicrosecond);
  EXPECT_EQ(m.events(), 2u);
  m.arm(4);
  m.complete();
  EXPECT_EQ(m.modify(0, 0), hw::CommandStatus::kOk);
  m.bench.run_for(hw::kMicrosecond);
  EXPECT_EQ(m.events(), 3u);
  m.bench.run_idle();
  EXPECT_EQ(m.events(), 3u);
}

TEST(EventModeration, AQueueThatIsGoneRaisesNothing) {
  Moderated m(9, 50);
  m.arm(0);
  m.complete();
  EXPECT_EQ(m.bench.issue(hw::CommandOpcode::kDestroyQp, m.qp.qpn()).status,
            hw::CommandStatus::kOk);
  EXPECT_EQ(m.bench.issue(hw::CommandOpcode::kDestroyCq, m.cq.context.cqn).status,
            hw::CommandStatus::kOk);
  m.bench.run_idle();
  EXPECT_EQ(m.events(), 0u);
}

TEST(EventModeration, AContextMayBringItAtCreation) {
  Moderated m(0, 0);
  hw::CqContext context = m.cq.context;
  context.cqn = 77;
  context.cq_period = hw::kMaxCqPeriod + 1;
  const auto create = hw::CommandOpcode::kCreateCq;
  EXPECT_EQ(m.bench.command(create, 77, context), hw::CommandStatus::kBadParameter);
  context.cq_period = hw::kMaxCqPeriod;
  EXPECT_EQ(m.bench.command(create, 77, context), hw::CommandStatus::kOk);
}

TEST(EventModeration, RefusesWhatMakesNoSense) {
  Moderated m(0, 0);
  EXPECT_EQ(m.modify(5, hw::kMaxCqPeriod + 1), hw::CommandStatus::kBadParameter);
  EXPECT_EQ(m.modify(5, 5, 0), hw::CommandStatus::kBadParameter);
  EXPECT_EQ(m.modify(5, 5, 3), hw::CommandStatus::kBadParameter);
  const hw::CqContext in{};
  EXPECT_EQ(m.bench.issue(hw::CommandOpcode::kModifyCq, 0xabc, &in, sizeof in, 1).status,
            hw::CommandStatus::kBadObject);
  m.arm(0);
  m.expect_event_of(m.complete());  // nothing of it took effect
}

}  // namespace
}  // namespace hcasim::testing
