// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "connection.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

TEST(ErrorAtTheRequester, B32_B83_TheCauseComesFirstThenTheFlushes) {
  struct Case {
    hw::NakCode code;
    hw::WcStatus status;
  };
  for (const Case& one : {Case{hw::NakCode::kInvalidRequest, hw::WcStatus::kRemInvReqErr},
                          Case{hw::NakCode::kRemoteAccess, hw::WcStatus::kRemAccessErr},
                          Case{hw::NakCode::kRemoteOperational, hw::WcStatus::kRemOpErr}}) {
    Connection c;
    SendWr quiet = c.inline_wr();
    quiet.flags = 0;
    c.bench.post_send(c.qp, c.inline_wr());
    c.bench.post_send(c.qp, quiet);  // unsignaled: an error shows all the same
    c.bench.post_send(c.qp, quiet);
    c.post(c.inline_wr());
    c.arrive_and_settle(AdapterBench::nak(101, one.code));
    const auto done = c.sends();
    EXPECT_EQ(statuses(done), (Statuses{hw::WcStatus::kSuccess, one.status,
                                        hw::WcStatus::kWrFlushErr, hw::WcStatus::kWrFlushErr}));
    for (std::uint32_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i].wqe_index, i);
    EXPECT_EQ(done[1].vendor_err, hw::nak_syndrome(one.code));
    const auto errors = c.bench.events(hw::EqeType::kQpError);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].value, static_cast<std::uint32_t>(one.status));
  }
}

TEST(ErrorAtTheRequester, ALocalKeyThatDoesNotFit) {
  Connection c;
  SendWr wrong = c.gather_wr(hw::WrOpcode::kRdmaWrite, 100);
  wrong.sges[0].lkey += 50;
  c.bench.post_send(c.qp, c.inline_wr());
  c.bench.post_send(c.qp, wrong);
  c.post(c.inline_wr());
  EXPECT_EQ(psns(c.sent()), Psns{100});
  EXPECT_TRUE(c.sends().empty());  // the one before is not done yet
  c.arrive_and_settle(AdapterBench::ack(100));
  EXPECT_EQ(statuses(c.sends()), (Statuses{hw::WcStatus::kSuccess, hw::WcStatus::kLocProtErr,
                                           hw::WcStatus::kWrFlushErr}));
}

TEST(ErrorAtTheRequester, AGatherThatFailsIsTheCause) {
  Connection c;
  c.bench.dma.fail_reads(c.area, 64);
  c.bench.post_send(c.qp, c.inline_wr());
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaWrite, 64));
  c.post(c.inline_wr());
  c.arrive_and_settle(AdapterBench::ack(100));
  const auto done = c.sends();
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].status, hw::WcStatus::kSuccess);
  EXPECT_EQ(done[1].status, hw::WcStatus::kLocQpOpErr);
  EXPECT_EQ(done[2].status, hw::WcStatus::kWrFlushErr);
}

// Neither what is ready behind it nor what is made later goes out with a PSN too high.
TEST(ErrorAtTheRequester, NothingFollowsAGatherThatFails) {
  Connection c;
  c.bench.dma.fail_reads(c.area + 256, 64);
  c.bench.post_send(c.qp, c.inline_wr());
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaWrite, 1000));
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaRead, 64));
  c.post(c.inline_wr(), 5);
  EXPECT_EQ(psns(c.sent()), (Psns{100, 101}));
  c.post(c.inline_wr(), 5);
  EXPECT_TRUE(c.sent().empty());
  c.arrive_and_settle(AdapterBench::ack(101));
  auto expected = Statuses(13, hw::WcStatus::kWrFlushErr);
  expected[0] = hw::WcStatus::kSuccess;
  expected[1] = hw::WcStatus::kLocQpOpErr;
  EXPECT_EQ(statuses(c.sends()), expected);
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
}

TEST(ErrorAtTheRequester, AReadWhoseScatterKeyIsWrong) {
  Connection c;
  SendWr wrong = c.gather_wr(hw::WrOpcode::kRdmaRead, 100);
  wrong.sges[0].lkey += 50;
  c.post(wrong);
  c.arrive_and_settle(AdapterBench::request(Op::kRcReadResponseOnly, 100, pattern(100)));
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kLocProtErr});
}

TEST(ErrorAtTheRequester, B28_AWqeThatMakesNoSense) {
  for (const auto spoil : {+[](hw::SendWqeControl& w) { w.opcode = static_cast<hw::WrOpcode>(77); },
                           +[](hw::SendWqeControl& w) { w.index += 1; },
                           +[](hw::SendWqeControl& w) { w.length = 5000; },
                           +[](hw::SendWqeControl& w) {
                             w.flags &= ~hw::kWqeInline;
                             w.num_sge = 60;
                           }}) {
    Connection c;
    const std::uint64_t slot = c.qp.context.sq_base;
    c.bench.post_send(c.qp, c.inline_wr());
    auto control = c.bench.load<hw::SendWqeControl>(slot);
    spoil(control);
    c.bench.store(slot, control);
    c.post(c.inline_wr());
    EXPECT_EQ(statuses(c.sends()),
              (Statuses{hw::WcStatus::kLocQpOpErr, hw::WcStatus::kWrFlushErr}));
  }
}

// What is posted later is flushed behind the rest.
TEST(Flush, B67_WhatIsPostedInErrorFollows) {
  Connection c;
  c.post(c.inline_wr(), 3);
  c.bench.ring(hw::bar::kQpErrorDoorbell, c.qp.qpn(), 0);
  c.settle();
  EXPECT_EQ(statuses(c.sends()), Statuses(3, hw::WcStatus::kWrFlushErr));
  c.post(c.inline_wr(), 2);
  const auto late = c.sends();
  EXPECT_EQ(statuses(late), Statuses(2, hw::WcStatus::kWrFlushErr));
  EXPECT_EQ(late.back().wqe_index, 4u);
}

TEST(Flush, TheErrorDoorbellIsAnsweredBehindAllCompletionsWithTheTail) {
  Connection c;
  c.post_receives(5);
  c.arrive_and_settle(c.send(500));
  c.arrive_and_settle(c.send(501));
  c.bench.events();
  c.post(c.inline_wr(), 3);
  c.bench.ring(hw::bar::kQpErrorDoorbell, c.qp.qpn(), 0);
  c.settle();
  const auto events = c.bench.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, hw::EqeType::kQpErrorDone);
  EXPECT_EQ(events[0].number, c.qp.qpn());
  EXPECT_EQ(events[0].value, 2u);
  const std::uint64_t ring = c.qp.send_cq.context.base;
  const auto eqes = c.bench.dma.writes(c.bench.event_queue_0().base, 32 * 1024);
  EXPECT_GT(eqes.back().at, c.bench.dma.writes(ring + 64 * 2, 64).back().at);
  EXPECT_EQ(c.receives().size(), 2u);  // the driver flushes the rest
}

TEST(Flush, AReceiveInHandCompletesBeforeTheAnswer) {
  Connection c;
  c.post_receives(3);
  PeerPacket first = c.send(500, 256, Op::kRcSendFirst);
  c.arrive_and_settle(first);
  c.bench.ring(hw::bar::kQpErrorDoorbell, c.qp.qpn(), 0);
  c.settle();
  const auto done = c.receives();
  ASSERT_EQ(statuses(done), Statuses{hw::WcStatus::kWrFlushErr});
  EXPECT_EQ(done[0].wr_id, 1u);
  EXPECT_EQ(c.bench.events(hw::EqeType::kQpErrorDone).at(0).value, 1u);
}

// Whatever the moment at which the queue pair fails, each receive up to the tail has completed.
TEST(Flush, NoReceiveIsLostWhenTheErrorMeetsATake) {
  unsigned taken = 0;
  for (std::uint64_t cycle = 0; cycle < 30; ++cycle) {
    Connection c;
    c.post_receives(3);
    const Time start = (c.bench.now() / hw::kMicrosecond + 1) * hw::kMicrosecond;
    c.bench.arrive_at(start + 1, c.qp, c.send(500));
    c.bench.at(start + 2 + c.bench.cycles(cycle),
               [&] { c.bench.ring(hw::bar::kQpErrorDoorbell, c.qp.qpn(), 0); });
    c.bench.run_to(start + 20 * hw::kMicrosecond);
    const auto events = c.bench.events(hw::EqeType::kQpErrorDone);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(c.receives().size(), events[0].value) << "cycle " << cycle;
    EXPECT_EQ(c.bench.load<hw::TailRecord>(c.qp.context.tail_record).tail, events[0].value);
    taken += events[0].value;
  }
  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, 30u);
}

TEST(Flush, ByCommandAnswersWithTheTail) {
  Connection c;
  c.post_receives(5);
  c.arrive_and_settle(c.send(500));
  hw::QpContext context = c.qp.context;
  context.state = hw::QpState::kErr;
  c.post(c.inline_wr(), 2);
  const hw::Mailbox answer =
      c.bench.issue(hw::CommandOpcode::kModifyQp, c.qp.qpn(), &context, sizeof context);
  EXPECT_EQ(answer.status, hw::CommandStatus::kOk);
  EXPECT_EQ(answer.output, 1u);
  c.settle();
  EXPECT_EQ(c.sends().size(), 2u);
  EXPECT_TRUE(c.bench.events(hw::EqeType::kQpErrorDone).empty());  // the answer says it
}

// The completions are in the ring when the command is answered.
TEST(Flush, ByCommandIsAnsweredBehindTheCompletions) {
  Connection c;
  for (int i = 0; i < 40; ++i) c.bench.post_send(c.qp, c.inline_wr());
  c.bench.ring_send(c.qp);
  c.settle();
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kErr), hw::CommandStatus::kOk);
  EXPECT_EQ(c.sends().size(), 40u);
}

TEST(BadDoorbell, OfTheSendQueue) {
  for (const std::uint32_t head : {64u, 1000u}) {
    Connection c;
    c.bench.ring(hw::bar::kSendDoorbell, c.qp.qpn(), head);
    c.settle();
    EXPECT_EQ(c.bench.events(hw::EqeType::kSendQueueError).size(), 1u);
    EXPECT_EQ(c.state(), hw::QpState::kErr);
  }
}

TEST(BadDoorbell, BeforeTheQueuePairMaySend) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp(AdapterBench::rc_context(), hw::QpState::kRtr);
  bench.run_idle();
  bench.ring(hw::bar::kSendDoorbell, qp.qpn(), 1);
  bench.run_idle();
  EXPECT_EQ(bench.events(hw::EqeType::kSendQueueError).size(), 1u);
}

TEST(BadDoorbell, Quirk28_OfTheReceiveQueue) {
  for (const std::uint32_t head : {64u, 1u}) {  // beyond the ring; back into what is posted
    Connection c;
    c.post_receives(4);
    c.bench.ring(hw::bar::kReceiveDoorbell, c.qp.qpn(), head);
    c.settle();
    const auto errors = c.bench.events(hw::EqeType::kReceiveQueueError);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].number, c.qp.qpn());
    EXPECT_EQ(c.state(), hw::QpState::kErr);
  }
}

TEST(Reset, H1_H2_EmptiesBothQueuesWithoutACompletion) {
  Connection c;
  c.post_receives(4);
  c.post(c.inline_wr(), 3);
  PeerPacket first = c.send(500, 256, Op::kRcSendFirst);
  c.arrive_and_settle(first);
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
  c.settle();
  EXPECT_TRUE(c.sends().empty());
  EXPECT_TRUE(c.receives().empty());
  c.sent();
  // A new life begins from nothing.
  c.qp.send_head = c.qp.recv_head = 0;
  c.qp.context.sq_psn = 9000;
  c.qp.context.rq_psn = 7000;
  for (const auto next : {hw::QpState::kInit, hw::QpState::kRtr, hw::QpState::kRts}) {
    EXPECT_EQ(c.bench.modify(c.qp, next), hw::CommandStatus::kOk);
  }
  c.arrive_and_settle(c.send(7000));  // what was posted before is gone
  EXPECT_EQ(hw::syndrome_kind(c.sent().at(0).headers.aeth.syndrome), hw::SyndromeKind::kRnrNak);
  c.post_receives(1);
  c.arrive_and_settle(c.send(7000));
  c.post(c.inline_wr());
  EXPECT_EQ(psns(c.sent()), (Psns{7000, 9000}));
  c.arrive_and_settle(AdapterBench::ack(9000));
  EXPECT_EQ(c.sends().size(), 1u);
  EXPECT_EQ(c.receives().size(), 1u);
}

TEST(Reset, B92_OfAResetQueuePairIsNothing) {
  AdapterBench bench;
  BenchQp qp = bench.create_qp(AdapterBench::rc_context(), hw::QpState::kReset);
  EXPECT_EQ(bench.modify(qp, hw::QpState::kReset), hw::CommandStatus::kOk);
  EXPECT_EQ(bench.modify(qp, hw::QpState::kErr), hw::CommandStatus::kBadState);
  EXPECT_EQ(bench.modify(qp, hw::QpState::kInit), hw::CommandStatus::kOk);
}

// The error's own stop is still under way, held up by a read of receive WQEs.
TEST(Reset, InTheMiddleOfAnErrorEndsOnlyWhenTheRingIsFree) {
  for (const bool destroyed : {false, true}) {
    Connection c;
    c.bench.dma.set_read_latency(c.qp.context.rq_base, 4096, 50 * hw::kMicrosecond);
    c.bench.post_recv(c.qp, 1, {});
    c.bench.ring_recv(c.qp);
    c.bench.run_for(hw::kMicrosecond);
    const Time free = c.bench.dma.reads(c.qp.context.rq_base, 4096).at(0).done;
    c.bench.ring(hw::bar::kQpErrorDoorbell, c.qp.qpn(), 0);
    if (destroyed) {
      EXPECT_EQ(c.bench.issue(hw::CommandOpcode::kDestroyQp, c.qp.qpn()).status,
                hw::CommandStatus::kOk);
    } else {
      EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
    }
    EXPECT_GE(c.bench.now(), free);
    // The receive queues that follow work, each with its own number.
    for (int i = 0; i < 3; ++i) {
      BenchQp next = c.bench.create_qp();
      c.bench.receive(next, 40u + static_cast<unsigned>(i), {{c.area, 64, c.key}});
      c.settle();
      c.bench.arrive(next, c.send(500));
      c.settle();
      EXPECT_EQ(c.bench.poll(next.recv_cq).at(0).wr_id, 40u + static_cast<unsigned>(i));
    }
  }
}

// In any state, with work on both sides, and without completions.
TEST(Destroy, B85_InAnyState) {
  for (const auto state : {hw::QpState::kReset, hw::QpState::kInit, hw::QpState::kRtr,
                           hw::QpState::kRts, hw::QpState::kSqd, hw::QpState::kErr}) {
    AdapterBench bench;
    BenchQp qp = bench.create_qp(AdapterBench::rc_context(), std::min(state, hw::QpState::kRts));
    if (state > hw::QpState::kRts) {
      EXPECT_EQ(bench.modify(qp, state), hw::CommandStatus::kOk);
    }
    if (state == hw::QpState::kRts) {
      for (int i = 0; i < 5; ++i) bench.post_send(qp, {});
      bench.ring_send(qp);
      for (int i = 0; i < 5; ++i) bench.post_recv(qp, 1, {});
      bench.ring_recv(qp);
      for (std::uint32_t i = 0; i < 5; ++i) {
        bench.arrive_at(bench.now() + i * 100'000, qp,
                        AdapterBench::request(Op::kRcSendOnly, 500 + i));
      }
      bench.run_for(300'000);
    }
    EXPECT_EQ(bench.issue(hw::CommandOpcode::kDestroyQp, qp.qpn()).status, hw::CommandStatus::kOk);
    const std::size_t before = bench.dma.log().size();
    bench.run_idle();
    bench.arrive(qp, AdapterBench::request(Op::kRcSendOnly, 505));  // a late packet
    bench.ring(hw::bar::kSendDoorbell, qp.qpn(), 6);
    bench.run_idle();
    EXPECT_LE(bench.dma.log().size(), before + 1);  // the interrupt of the answer, no more
    EXPECT_EQ(bench.issue(hw::CommandOpcode::kQueryQp, qp.qpn()).status,
              hw::CommandStatus::kBadObject);
    qp.context.state = hw::QpState::kReset;
    EXPECT_EQ(bench.command(hw::CommandOpcode::kCreateQp, qp.qpn(), qp.context),
              hw::CommandStatus::kOk);  // the number is free again
  }
}

TEST(Sqd, FinishesWhatWasBegunAndBeginsNothing) {
  BenchOptions options;
  options.parameters.requester.window_packets = 2;
  Connection c(AdapterBench::rc_context(), options);
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaWrite, 1000));  // four packets
  c.post(c.inline_wr());
  EXPECT_EQ(psns(c.sent()), (Psns{100, 101}));
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kSqd), hw::CommandStatus::kOk);
  c.arrive_and_settle(AdapterBench::ack(101));
  EXPECT_EQ(psns(c.sent()), (Psns{102, 103}));
  c.arrive_and_settle(AdapterBench::ack(103));
  EXPECT_TRUE(c.sent().empty());
  EXPECT_EQ(c.sends().size(), 1u);
  c.post(c.inline_wr());  // accepted, not begun
  EXPECT_TRUE(c.sent().empty());
  c.post_receives(1);
  c.arrive_and_settle(c.send(500));  // receiving goes on
  EXPECT_EQ(psns(c.sent()), Psns{500});
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kRts), hw::CommandStatus::kOk);
  c.settle();
  EXPECT_EQ(psns(c.sent()), (Psns{104, 105}));
}

TEST(Sqd, StillRepeatsWhatWasLost) {
  hw::QpContext context = AdapterBench::rc_context();
  context.timeout = 5;
  Connection c(context);
  c.post(c.inline_wr(), 2);
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kSqd), hw::CommandStatus::kOk);
  c.sent();
  c.arrive_and_settle(AdapterBench::nak(100, hw::NakCode::kPsnSequence));
  EXPECT_EQ(psns(c.sent()), (Psns{100, 101}));
  c.arrive_and_settle(AdapterBench::ack(101));
  EXPECT_EQ(c.sends().size(), 2u);
}

}  // namespace
}  // namespace hcasim::testing
