// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Corners of single rules that the tables do not show.
#include <stdexcept>

#include "small_bench.hpp"

namespace hcasim::testbench {
namespace {

using namespace hw::rq;

TEST(ReceiveQueueDoorbell, RingOfOneSlotIsAlwaysEmpty) {
  SmallBench bench;
  bench.init(0, 1, 0);
  bench.cycle(SmallBench::doorbell(0, 0));
  bench.cycle(SmallBench::take(0, 1));
  bench.run(4);
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].status, TakeStatus::kEmpty);
  EXPECT_TRUE(bench.events.empty());
  bench.cycle(SmallBench::doorbell(0, 1));
  bench.run(4);
  ASSERT_EQ(bench.events.size(), 1U);
  EXPECT_EQ(bench.events[0], (Event{0, EventKind::kBadDoorbell, 1}));
}

// Ring of 8, tail 5, head 2: slots 5, 6, 7, 0 and 1 are posted.
TEST(ReceiveQueueDoorbell, EveryHeadAroundTheRing) {
  for (unsigned head = 0; head < 10; ++head) {
    SmallBench bench;
    bench.init(0, 8, 5);
    bench.answer_all();
    for (unsigned i = 0; i < 5; ++i) bench.cycle(SmallBench::take(0, i));
    bench.run(8);
    bench.cycle(SmallBench::doorbell(0, 2));
    bench.run(8);
    ASSERT_EQ(bench.model.snapshot(0).tail, 5);
    bench.cycle(SmallBench::doorbell(0, head));
    bench.run(4);
    const bool good = head >= 2 && head < 5;
    EXPECT_EQ(bench.events.size(), good ? 0U : 1U) << head;
    EXPECT_EQ(bench.model.snapshot(0).state, good ? QueueState::kReady : QueueState::kError);
    EXPECT_EQ(bench.model.snapshot(0).head, good ? head : 2U);
  }
}

TEST(ReceiveQueueDoorbell, PausedQueueTakesNone) {
  SmallBench bench;
  bench.init(3, 4, 1);
  bench.answer_all();
  bench.simple(CommandOp::kPause, 3);
  bench.cycle(SmallBench::doorbell(3, 1));  // an equal head is bad here too
  bench.run(4);
  ASSERT_EQ(bench.events.size(), 1U);
  EXPECT_EQ(bench.model.snapshot(3).state, QueueState::kError);
}

// The take moves the tail before the doorbell of the same cycle is looked at: the slot that it
// frees may be the new head, and the limit event is the take's.
TEST(ReceiveQueueDoorbell, SeesTheTailThatJudgingMoves) {
  SmallBench bench;
  bench.init(0, 4, 3);
  bench.answer_all();
  bench.simple(CommandOp::kSetLimit, 0, 3, 42);
  bench.cycle(SmallBench::take(0, 1));
  bench.cycle(SmallBench::doorbell(0, 0));  // in the cycle of judging
  bench.run(4);
  ASSERT_EQ(bench.events.size(), 1U);
  EXPECT_EQ(bench.events[0], (Event{0, EventKind::kSrqLimit, 42}));
  EXPECT_EQ(bench.model.snapshot(0).head, 0);
  EXPECT_EQ(bench.model.snapshot(0).state, QueueState::kReady);
}

TEST(ReceiveQueueDoorbell, BadOneStallsTheTakeThatWouldFire) {
  SmallBench bench;
  bench.init(0, 4, 3);
  bench.answer_all();
  bench.simple(CommandOp::kSetLimit, 0, 3, 42);
  bench.cycle(SmallBench::take(0, 1));
  bench.cycle(SmallBench::doorbell(0, 2));  // goes back: bad, and first
  bench.run(4);
  ASSERT_EQ(bench.events.size(), 1U);
  EXPECT_EQ(bench.events[0], (Event{0, EventKind::kBadDoorbell, 2}));
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].status, TakeStatus::kFlushed);
}

// A doorbell that would be bad finds its queue in ERROR because of a beat of the same cycle: it
// needs no event then, and does not stall the take of another queue that fires.
TEST(ReceiveQueueDoorbell, NeedsNoEventWhenABeatFailsItsQueue) {
  SmallBench bench;
  bench.init(0, 4, 3);
  bench.answer_all();
  bench.simple(CommandOp::kSetLimit, 0, 3, 42);
  bench.init(1, 4, 2);
  bench.run(4);
  bench.cycle(SmallBench::take(0, 1));
  Inputs in = SmallBench::beat(bench.requests.back().tag, true, true);
  in.doorbell_valid = true;
  in.doorbell = {1, 0};
  bench.cycle(in);  // judges the take
  bench.run(4);
  ASSERT_EQ(bench.events.size(), 2U);
  EXPECT_EQ(bench.events[0], (Event{0, EventKind::kSrqLimit, 42}));
  EXPECT_EQ(bench.events[1], (Event{1, EventKind::kFetchError, 0}));
}

TEST(ReceiveQueueLimit, FiresBelowAndNotAtTheLimit) {
  for (unsigned limit = 0; limit <= 4; ++limit) {
    SmallBench bench;
    bench.init(0, 8, 4);
    bench.answer_all();
    bench.simple(CommandOp::kSetLimit, 0, limit, 7);
    bench.run(4);
    EXPECT_TRUE(bench.events.empty()) << "arming fires nothing";
    for (unsigned taken = 1; taken <= 4; ++taken) {
      bench.cycle(SmallBench::take(0, taken, TakeKind::kPeek));
      bench.run(4);
      bench.cycle(SmallBench::take(0, taken));
      bench.run(4);
      EXPECT_EQ(bench.events.size(), 4 - taken < limit ? 1U : 0U) << limit << ' ' << taken;
    }
  }
}

TEST(ReceiveQueueTake, PeekPassesTakesThatWait) {
  SmallBench bench;
  bench.init(0, 4, 2);
  bench.run(4);
  bench.cycle(SmallBench::take(0, 1));
  bench.cycle(SmallBench::take(0, 2, TakeKind::kPeek));
  bench.run(4);
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].tag, 2U);
  EXPECT_EQ(bench.answers[0].remaining, 2);
  EXPECT_EQ(bench.answers[0].wqe, Beat{});
}

TEST(ReceiveQueueFetch, ShortAnswerFails) {
  SmallBench bench;
  bench.init(0, 4, 2, 128);
  bench.run(4);
  bench.cycle(SmallBench::take(0, 1));
  bench.cycle(SmallBench::beat(0, false));
  bench.cycle(SmallBench::beat(0, true));  // the second of four, and not delivered
  bench.run(6);
  ASSERT_EQ(bench.events.size(), 1U);
  EXPECT_EQ(bench.events[0], (Event{0, EventKind::kFetchError, 0}));
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].status, TakeStatus::kFetchError);
}

TEST(ReceiveQueueFetch, FailureOfADeadRequestIsSilent) {
  SmallBench bench;
  bench.init(0, 4, 2);
  bench.run(4);
  bench.cycle(SmallBench::doorbell(0, 9));
  bench.run(4);
  bench.cycle(SmallBench::beat(0, true, true));
  bench.run(4);
  ASSERT_EQ(bench.events.size(), 1U);
  EXPECT_EQ(bench.events[0].kind, EventKind::kBadDoorbell);
  EXPECT_EQ(bench.simple(CommandOp::kInvalidate, 0).status, CommandStatus::kOk);
}

TEST(ReceiveQueueFetch, TagsComeBackLowestFirst) {
  SmallBench bench;
  for (std::uint32_t q = 0; q < 3; ++q) bench.init(q, 4, 1);
  bench.run(4);
  bench.cycle(SmallBench::beat(1, true));
  bench.cycle(SmallBench::beat(0, true));
  bench.cycle(SmallBench::doorbell(0, 2));
  bench.run(4);
  EXPECT_EQ(bench.requests.back().tag, 0);
  bench.cycle(SmallBench::doorbell(0, 3));
  bench.run(4);
  EXPECT_EQ(bench.requests.back().tag, 1);
}

TEST(ReceiveQueueFetch, NoMoreThanPrefetchAheadOfTheAnswer) {
  Parameters parameters;
  parameters.prefetch = 2;
  SmallBench bench(parameters);
  bench.init(0, 16, 10);
  bench.answer_all();
  EXPECT_EQ(bench.model.snapshot(0).fetch, 2);
  bench.cycle(SmallBench::take(0, 1));
  Inputs hold;
  hold.take_rsp_ready = false;
  for (unsigned i = 0; i < 8; ++i) bench.cycle(hold);
  EXPECT_EQ(bench.model.snapshot(0).fetch, 2) << "the WQE in the answer still has its place";
  bench.run(4);
  EXPECT_EQ(bench.model.snapshot(0).fetch, 3);
}

// 16 lines hold two WQEs of 512 bytes. The victim is the oldest that nothing protects.
TEST(ReceiveQueueEviction, SparesAQueueThatATakeWaitsFor) {
  Parameters parameters;
  parameters.lines = 16;
  SmallBench bench(parameters);
  bench.init(0, 4, 1, 512);
  bench.answer_all();
  bench.init(1, 4, 1, 512);
  bench.answer_all();
  bench.init(2, 4, 1, 512);
  Inputs hold = SmallBench::take(0, 1);
  hold.take_rsp_ready = false;
  bench.cycle(hold);  // queue 0 will be in take_rsp, which is blocked
  hold = SmallBench::take(2, 2);
  hold.take_rsp_ready = false;
  bench.cycle(hold);
  hold.take_valid = false;
  for (unsigned i = 0; i < 4; ++i) bench.cycle(hold);
  EXPECT_EQ(bench.model.counters().evictions, 1U);
  EXPECT_EQ(bench.model.snapshot(1).fetch, 0) << "queue 1 was evicted, not the older queue 0";
  bench.answer_all();
  bench.run(20);
  EXPECT_EQ(bench.model.counters().takes_ok, 2U);
}

TEST(ReceiveQueueCommand, ArgumentsAreChecked) {
  SmallBench bench;
  const auto status = [&bench](std::uint64_t base, unsigned size, unsigned stride, unsigned head) {
    Command c;
    c.op = CommandOp::kInit;
    c.queue = 5;
    c.base = base;
    c.size = static_cast<std::uint16_t>(size);
    c.stride = static_cast<std::uint16_t>(stride);
    c.head = static_cast<std::uint16_t>(head);
    return bench.command(c).status;
  };
  EXPECT_EQ(status(0x1000, 0, 64, 0), CommandStatus::kBadArgument);
  EXPECT_EQ(status(0x1000, 4, 64, 4), CommandStatus::kBadArgument);
  EXPECT_EQ(status(0x1020, 4, 32, 0), CommandStatus::kBadArgument);
  EXPECT_EQ(status(0x1100, 4, 512, 0), CommandStatus::kBadArgument);
  for (const unsigned stride : {0U, 16U, 48U, 96U, 1024U}) {
    EXPECT_EQ(status(0x1000, 4, stride, 0), CommandStatus::kBadArgument) << stride;
  }
  EXPECT_EQ(status(0x1040, 65535, 32, 65534), CommandStatus::kOk);
  EXPECT_EQ(status(0x1000, 0, 7, 9), CommandStatus::kBadState);
}

TEST(ReceiveQueueCommand, EveryOneInEveryState) {
  constexpr auto kOk = CommandStatus::kOk;
  constexpr auto kNo = CommandStatus::kBadState;
  // INIT has good arguments, RESUME too.
  const CommandStatus expected[7][4] = {
      {kOk, kNo, kNo, kNo}, {kNo, kOk, kOk, kNo}, {kNo, kOk, kNo, kNo}, {kNo, kNo, kOk, kNo},
      {kNo, kOk, kOk, kOk}, {kOk, kOk, kOk, kOk}, {kOk, kOk, kOk, kOk}};
  for (unsigned op = 0; op < 7; ++op) {
    for (unsigned state = 0; state < 4; ++state) {
      SmallBench bench;
      if (state != 0) bench.init(0, 4, 0);
      if (state == 2) bench.simple(CommandOp::kPause, 0);
      if (state == 3) bench.simple(CommandOp::kToError, 0);
      ASSERT_EQ(static_cast<unsigned>(bench.model.snapshot(0).state), state);
      Command c;
      c.op = static_cast<CommandOp>(op);
      c.base = 0x1000;
      c.size = 4;
      c.stride = 64;
      EXPECT_EQ(bench.command(c).status, expected[op][state]) << op << ' ' << state;
    }
  }
}

TEST(ReceiveQueueModel, RefusesParametersOutOfRange) {
  Parameters parameters;
  parameters.lines = 15;
  EXPECT_THROW(hca::ReceiveQueueModel{parameters}, std::invalid_argument);
  parameters = {};
  parameters.fetch_bytes = 768;
  EXPECT_THROW(hca::ReceiveQueueModel{parameters}, std::invalid_argument);
}

}  // namespace
}  // namespace hcasim::testbench
