// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "timing.hpp"

namespace hcasim::testing {
namespace {

// A queue pair that receives SENDs without data, so that each is a completion and no more.
struct Receiver {
  explicit Receiver(AdapterBench& bench, std::uint32_t cq_entries = 256, std::uint32_t eqn = 0)
      : cq(bench.create_cq(cq_entries, eqn)) {
    hw::QpContext context = AdapterBench::rc_context();
    context.recv_cqn = context.send_cqn = cq.context.cqn;
    qp = bench.create_qp(context);
    for (int i = 0; i < 40; ++i) bench.post_recv(qp, 1000u + static_cast<unsigned>(i), {});
    bench.ring_recv(qp);
  }
  PeerPacket next(bool solicited = false) {
    PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcSendOnly, psn++);
    packet.headers.solicited = solicited;
    return packet;
  }
  BenchCq cq;
  BenchQp qp;
  std::uint32_t psn = 500;
};

// The packet, its take and the answer.
Time completed_at(const AdapterBench& bench, Time arrival) {
  return bench.edge_after(bench.edge_after(arrival) + bench.cycles(8)) + bench.cycles(1);
}

TEST(Completion, WritesTheCqeAfterItsLatency) {
  for (const std::uint32_t latency : {1u, 4u, 12u}) {
    BenchOptions options;
    options.parameters.completion.timing.latency_cycles = latency;
    AdapterBench bench(options);
    Receiver receiver(bench);
    const Time start = quiet_start(bench);
    bench.arrive(receiver.qp, receiver.next());
    const Time written = bench.edge_after(completed_at(bench, start)) + bench.cycles(latency);
    expect_at(bench, written,
              [&] { return bench.dma.writes(receiver.cq.context.base).size() == 1; });
    expect_at(bench, written + options.write_latency,
              [&] { return bench.poll(receiver.cq).size() == 1; });
  }
}

TEST(Completion, CqesFollowEachOtherByTheInterval) {
  for (const std::uint32_t interval : {2u, 15u}) {
    BenchOptions options;
    options.parameters.completion.timing.interval_cycles = interval;
    AdapterBench bench(options);
    Receiver one(bench);
    Receiver other(bench);
    const Time start = quiet_start(bench);
    bench.arrive(one.qp, one.next());
    bench.arrive(other.qp, other.next());  // two cycles behind in the responder
    const Time first = bench.edge_after(completed_at(bench, start)) + bench.cycles(4);
    expect_at(bench, first, [&] { return bench.dma.writes(one.cq.context.base).size() == 1; });
    expect_at(bench, first + bench.cycles(interval),
              [&] { return bench.dma.writes(other.cq.context.base).size() == 1; });
  }
}

TEST(Completion, ComesBehindTheData) {
  AdapterBench bench;
  const std::uint64_t area = bench.allocate(4096);
  BenchQp qp = bench.create_qp();
  const std::uint32_t key = bench.create_mr(area, 4096);
  bench.receive(qp, 1, {{area, 100, key}, {area + 1000, 100, key}});
  quiet_start(bench);
  bench.arrive(qp, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500, pattern(200)));
  bench.run_idle();
  const auto cqe = bench.dma.writes(qp.recv_cq.context.base);
  ASSERT_EQ(cqe.size(), 1u);
  EXPECT_LT(bench.dma.writes(area + 1000).at(0).done, cqe[0].done);
  EXPECT_EQ(bench.bytes(area + 1000, 100), [] {
    const auto all = pattern(200);
    return std::vector<std::uint8_t>(all.begin() + 100, all.end());
  }());
}

TEST(Completion, OwnerBitTurnsWithEachLap) {
  AdapterBench bench;
  Receiver receiver(bench, 3);
  for (unsigned i = 0; i < 10; ++i) {
    bench.arrive(receiver.qp, receiver.next());
    bench.run_idle();
    const auto found = bench.poll(receiver.cq);
    ASSERT_EQ(found.size(), 1u) << i;
    EXPECT_EQ(found[0].wr_id, 1000u + i);
    EXPECT_EQ(found[0].owner, i / 3 % 2 == 0 ? 1 : 0);
  }
}

TEST(Completion, ARingThatLooksFullIsLookedAtOnce) {
  AdapterBench bench;
  Receiver receiver(bench, 2);
  for (int i = 0; i < 2; ++i) bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_EQ(bench.counter("completion", "consumer_reads"), 0u);
  EXPECT_EQ(bench.poll(receiver.cq).size(), 2u);
  bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_EQ(bench.counter("completion", "consumer_reads"), 1u);
  EXPECT_EQ(bench.poll(receiver.cq).size(), 1u);
}

// One place became free while two completions wait: the first takes it, the second finds the ring
// full, and that is an overflow, not a wait without end.
TEST(Completion, OnePlaceForTwoIsAnOverflow) {
  AdapterBench bench;
  Receiver receiver(bench, 2);
  for (int i = 0; i < 2; ++i) bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_EQ(bench.poll(receiver.cq, false).size(), 2u);
  bench.store(receiver.cq.context.consumer_record, hw::ConsumerRecord{1, 0});
  for (int i = 0; i < 2; ++i) bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_LE(bench.counter("completion", "consumer_reads"), 3u);
  EXPECT_EQ(bench.poll(receiver.cq, false).size(), 1u);
  EXPECT_EQ(bench.events(hw::EqeType::kCqError).size(), 1u);
  EXPECT_EQ(bench.query(receiver.qp).state, hw::QpState::kErr);
}

TEST(Completion, AFullRingEndsTheQueuePairAndKeepsWhatItHolds) {
  AdapterBench bench;
  Receiver receiver(bench, 2);
  for (int i = 0; i < 3; ++i) bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_EQ(bench.query(receiver.qp).state, hw::QpState::kErr);
  const auto errors = bench.events(hw::EqeType::kCqError);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].number, receiver.cq.context.cqn);
  const auto kept = bench.poll(receiver.cq);
  EXPECT_EQ(statuses(kept), std::vector<hw::WcStatus>(2, hw::WcStatus::kSuccess));
  // Polling does not revive it: the next queue pair that completes goes down too.
  hw::QpContext context = AdapterBench::rc_context();
  context.recv_cqn = receiver.cq.context.cqn;
  BenchQp other = bench.create_qp(context);
  bench.receive(other, 1, {});
  bench.run_idle();
  bench.arrive(other, AdapterBench::request(hw::BthOpcode::kRcSendOnly, 500));
  bench.run_idle();
  EXPECT_EQ(bench.query(other).state, hw::QpState::kErr);
  EXPECT_TRUE(bench.poll(receiver.cq).empty());
  EXPECT_EQ(bench.events(hw::EqeType::kCqError).size(), 1u);
}

// Many flushes into a full ring are one report for each queue pair, not one each.
TEST(Completion, AnOverflowIsReportedOnceForEachQueuePair) {
  AdapterBench bench;
  hw::QpContext context = AdapterBench::rc_context();
  BenchCq cq = bench.create_cq(2);
  context.send_cqn = cq.context.cqn;
  BenchQp qp = bench.create_qp(context);
  for (int i = 0; i < 20; ++i) bench.post_send(qp, inline_write());
  bench.ring_send(qp);
  bench.run_for(20 * hw::kMicrosecond);
  bench.arrive(qp, AdapterBench::ack(102));
  bench.run_idle();
  EXPECT_EQ(bench.poll(cq).size(), 2u);
  EXPECT_EQ(bench.events(hw::EqeType::kCqError).size(), 1u);
}

// The new ring begins at its start; what was not taken of the old one takes room, what was armed
// fires.
TEST(Completion, N_ResizeCq_CountsAndArmingGoOn) {
  AdapterBench bench;
  Receiver receiver(bench, 3);
  const auto next = [&] {
    bench.arrive(receiver.qp, receiver.next());
    bench.run_idle();
  };
  next();
  next();
  bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn, 2);
  hw::CqContext wider = receiver.cq.context;
  wider.base = bench.allocate(4 * sizeof(hw::Cqe));
  wider.cqe = 4;
  const auto resize = [&](const hw::CqContext& context) {
    return bench.command(hw::CommandOpcode::kResizeCq, context.cqn, context);
  };
  hw::CqContext wrong = wider;
  wrong.cqe = 0;
  EXPECT_EQ(resize(wrong), hw::CommandStatus::kBadParameter);
  wrong.cqn = 0xabc;
  EXPECT_EQ(resize(wrong), hw::CommandStatus::kBadObject);
  EXPECT_EQ(resize(wider), hw::CommandStatus::kOk);
  EXPECT_TRUE(bench.events(hw::EqeType::kCompletion).empty());
  next();
  EXPECT_EQ(bench.events(hw::EqeType::kCompletion).size(), 1u);
  next();
  for (std::uint64_t slot = 0; slot < 2; ++slot) {
    const auto cqe = bench.load<hw::Cqe>(wider.base + slot * sizeof(hw::Cqe));
    EXPECT_EQ(cqe.wr_id, 1002 + slot);
    EXPECT_EQ(cqe.owner, 1);
  }
  next();  // four wait, in two rings
  EXPECT_EQ(bench.events(hw::EqeType::kCqError).size(), 1u);
  EXPECT_EQ(bench.dma.writes(wider.base, 4 * sizeof(hw::Cqe)).size(), 2u);
}

TEST(Event, WritesTheEqeAfterItsLatencyAndInterruptsBehindIt) {
  for (const std::uint32_t latency : {1u, 4u, 10u}) {
    BenchOptions options;
    options.parameters.event.timing.latency_cycles = latency;
    AdapterBench bench(options);
    const hw::EqContext eq = bench.event_queue(3, 16);
    Receiver receiver(bench, 256, 3);
    bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn, 0);
    const Time start = quiet_start(bench);
    bench.arrive(receiver.qp, receiver.next());
    const Time cqe = bench.edge_after(completed_at(bench, start)) + bench.cycles(4);
    const Time eqe = bench.edge_after(cqe) + bench.cycles(latency);
    expect_at(bench, eqe, [&] { return bench.dma.writes(eq.base).size() == 1; });
    ASSERT_EQ(bench.dma.interrupts(3).size(), 1u);
    EXPECT_EQ(bench.dma.log().back().kind, DmaOperation::Kind::kInterrupt);
    bench.run_idle();
    const auto element = bench.load<hw::Eqe>(eq.base);
    EXPECT_EQ(element.type, hw::EqeType::kCompletion);
    EXPECT_EQ(element.number, receiver.cq.context.cqn);
    EXPECT_EQ(element.owner, 1);
  }
}

TEST(Event, EqesFollowEachOtherByTheInterval) {
  for (const std::uint32_t interval : {3u, 30u}) {
    BenchOptions options;
    options.parameters.event.timing.interval_cycles = interval;
    AdapterBench bench(options);
    const hw::EqContext eq = bench.event_queue(3, 16);
    Receiver one(bench, 256, 3);
    Receiver other(bench, 256, 3);
    for (const Receiver* receiver : {&one, &other}) {
      bench.ring(hw::bar::kCqArmDoorbell, receiver->cq.context.cqn, 0);
    }
    const Time start = quiet_start(bench);
    bench.arrive(one.qp, one.next());
    bench.arrive(other.qp, other.next());
    const Time first =
        bench.edge_after(bench.edge_after(completed_at(bench, start)) + bench.cycles(4)) +
        bench.cycles(4);
    expect_at(bench, first, [&] { return bench.dma.writes(eq.base, 32).size() == 1; });
    expect_at(bench, first + bench.cycles(interval),
              [&] { return bench.dma.writes(eq.base + 32, 32).size() == 1; });
  }
}

TEST(Event, ACompletionAfterTheArmOrBeforeItWasSeenRaisesOneEvent) {
  AdapterBench bench;
  Receiver receiver(bench);
  bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_TRUE(bench.events().empty());  // not armed
  bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn, 0);
  bench.run_idle();
  EXPECT_EQ(bench.events(hw::EqeType::kCompletion).size(), 1u);
  bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn, 1);
  bench.run_idle();
  EXPECT_TRUE(bench.events().empty());  // seen
  for (int i = 0; i < 3; ++i) bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_EQ(bench.events(hw::EqeType::kCompletion).size(), 1u);  // one shot
}

TEST(Event, ArmedForSolicitedOnesOthersPass) {
  AdapterBench bench;
  Receiver receiver(bench);
  quiet_start(bench);
  bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn | hw::bar::kArmSolicited, 0);
  bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_TRUE(bench.events().empty());
  bench.arrive(receiver.qp, receiver.next(true));
  bench.run_idle();
  EXPECT_EQ(bench.events(hw::EqeType::kCompletion).size(), 1u);
}

TEST(Event, ArmedForSolicitedOnesItForgetsThatItWasForAny) {
  AdapterBench bench;
  Receiver receiver(bench);
  quiet_start(bench);
  bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn, 0);
  bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn | hw::bar::kArmSolicited, 0);
  bench.arrive(receiver.qp, receiver.next());
  bench.run_idle();
  EXPECT_TRUE(bench.events().empty());
  bench.arrive(receiver.qp, receiver.next(true));
  bench.run_idle();
  EXPECT_EQ(bench.events(hw::EqeType::kCompletion).size(), 1u);
}

TEST(Event, ARingOfEventsGoesRound) {
  AdapterBench bench;
  const hw::EqContext eq = bench.event_queue(2, 2);
  Receiver receiver(bench, 256, 2);
  for (std::uint32_t i = 0; i < 5; ++i) {
    bench.ring(hw::bar::kCqArmDoorbell, receiver.cq.context.cqn, i);
    bench.arrive(receiver.qp, receiver.next());
    bench.run_idle();
    EXPECT_EQ(bench.dma.writes(eq.base + 32 * (i % 2), 32).size(), i / 2 + 1);
    EXPECT_EQ(bench.load<hw::Eqe>(eq.base + 32 * (i % 2)).owner, i / 2 % 2 == 0 ? 1 : 0);
  }
}

TEST(Command, ActsAfterItsLatency) {
  for (const std::uint32_t latency : {1u, 100u, 333u}) {
    BenchOptions options;
    options.parameters.command.latency_cycles = latency;
    AdapterBench bench(options);
    const std::uint64_t mailbox = bench.allocate(sizeof(hw::Mailbox));
    hw::Mailbox query{};
    query.opcode = hw::CommandOpcode::kQueryDevice;
    query.status = hw::CommandStatus::kPending;
    query.token = 0x1234;
    bench.store(mailbox, query);
    const Time start = quiet_start(bench);
    bench.adapter().bar_write(hw::bar::kCommand, &mailbox, 8);
    EXPECT_EQ(bench.dma.reads(mailbox).size(), 1u);
    const Time acts = bench.edge_after(start + options.read_latency) + bench.cycles(latency);
    expect_at(bench, acts, [&] { return bench.dma.writes(mailbox).size() == 1; });
    expect_at(bench, bench.edge_after(acts) + bench.cycles(4),
              [&] { return bench.dma.writes(bench.event_queue_0().base, 32).size() == 1; });
    bench.run_idle();
    EXPECT_EQ(bench.load<hw::Mailbox>(mailbox).status, hw::CommandStatus::kOk);
    EXPECT_EQ(bench.load<hw::Eqe>(bench.event_queue_0().base).value, 0x1234u);
  }
}

TEST(Command, OneAfterTheOther) {
  AdapterBench bench;
  const std::uint64_t first = bench.allocate(sizeof(hw::Mailbox));
  const std::uint64_t second = bench.allocate(sizeof(hw::Mailbox));
  for (const std::uint64_t mailbox : {first, second}) {
    hw::Mailbox query{};
    query.opcode = hw::CommandOpcode::kQueryDevice;
    bench.store(mailbox, query);
  }
  quiet_start(bench);
  bench.adapter().bar_write(hw::bar::kCommand, &first, 8);
  bench.adapter().bar_write(hw::bar::kCommand, &second, 8);
  bench.run_idle();
  EXPECT_GE(bench.dma.reads(second).at(0).at, bench.dma.writes(first).at(0).at);
  EXPECT_EQ(bench.dma.writes(second).size(), 1u);
}

TEST(Command, RefusesWhatMakesNoSense) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp();
  using Op = hw::CommandOpcode;
  using Status = hw::CommandStatus;
  EXPECT_EQ(bench.issue(static_cast<Op>(99), 0).status, Status::kBadOpcode);
  EXPECT_EQ(bench.issue(Op::kDestroyQp, 0xabc).status, Status::kBadObject);
  EXPECT_EQ(bench.issue(Op::kQueryQp, 0xabc).status, Status::kBadObject);
  EXPECT_EQ(bench.issue(Op::kDestroyCq, 0xabc).status, Status::kBadObject);
  EXPECT_EQ(bench.issue(Op::kDestroyMr, 0xabc).status, Status::kBadObject);
  EXPECT_EQ(bench.issue(Op::kDestroyEq, 99).status, Status::kBadObject);
  EXPECT_EQ(bench.command(Op::kCreateQp, qp.qpn(), qp.context), Status::kBadObject);
  hw::CqContext cq = qp.send_cq.context;
  EXPECT_EQ(bench.command(Op::kCreateCq, cq.cqn, cq), Status::kBadObject);
  cq.cqe = 0;
  cq.cqn = 200;
  EXPECT_EQ(bench.command(Op::kCreateCq, cq.cqn, cq), Status::kBadParameter);
  EXPECT_EQ(bench.modify(qp, hw::QpState::kRtr), Status::kBadState);
  hw::QpContext changed = qp.context;
  changed.qpn = 0x77;
  for (const auto spoil :
       {+[](hw::QpContext& c) { c.sq_stride = 100; }, +[](hw::QpContext& c) { c.sq_base += 8; },
        +[](hw::QpContext& c) { c.rq_stride = 48; }, +[](hw::QpContext& c) { c.rq_base += 64; },
        +[](hw::QpContext& c) { c.send_cqn = 0xfff; },
        +[](hw::QpContext& c) { c.type = hw::QpType::kGsi; }}) {
    hw::QpContext bad = changed;
    bad.rq_stride = 512;
    spoil(bad);
    EXPECT_EQ(bench.command(Op::kCreateQp, bad.qpn, bad), Status::kBadParameter);
  }
}

}  // namespace
}  // namespace hcasim::testing
