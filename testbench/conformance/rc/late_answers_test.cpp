// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Answers that come when the requester has gone back already: what they answer is not sent again.
// And what is still on its way out when the queue pair fails.
#include "connection.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

constexpr std::uint8_t kExponent = 5;
constexpr Time kTimeout = Time{4096} * hw::kNanosecond << kExponent;
constexpr Time kJustLate = 50 * hw::kNanosecond;

hw::QpContext with_timeout() {
  hw::QpContext context = AdapterBench::rc_context();
  context.timeout = kExponent;
  context.sq_stride = 1024;
  context.max_rd_atomic = 4;
  return context;
}

/// A connection whose requester has sent something and has just timed out.
struct LateAnswer : ::testing::Test {
  void post_and_time_out() {
    c.bench.ring_send(c.qp);
    c.bench.run_for(5 * hw::kMicrosecond);
    const auto packets = c.sent();
    ASSERT_FALSE(packets.empty());
    c.bench.run_to(packets[0].at + kTimeout + kJustLate);
    ASSERT_EQ(c.count("requester", "local_ack_timeout_err"), 1u);
    ASSERT_TRUE(c.sent().empty());  // nothing was sent again yet
  }
  void post(const SendWr& wr) { c.bench.post_send(c.qp, wr); }
  PeerPacket data(std::uint32_t psn, Op opcode, std::size_t bytes) const {
    PeerPacket packet = AdapterBench::request(opcode, psn);
    packet.headers.aeth.syndrome = hw::ack_syndrome(hw::kNoCredits);
    packet.payload = pattern(bytes, psn);
    return packet;
  }
  void expect_done(std::size_t count) {
    EXPECT_EQ(statuses(c.sends()), Statuses(count, hw::WcStatus::kSuccess));
    c.bench.run_for(2 * kTimeout);
    EXPECT_EQ(c.count("requester", "local_ack_timeout_err"), 1u);
    EXPECT_EQ(c.state(), hw::QpState::kRts);
    EXPECT_EQ(c.count("requester", "ghost_acks"), 0u);
  }

  Connection c{with_timeout()};
};

TEST_F(LateAnswer, AnAckJustAfterTheTimeoutEndsTheRepetition) {
  post(c.inline_wr());
  post_and_time_out();
  c.arrive_and_settle(AdapterBench::ack(100));
  EXPECT_TRUE(c.sent().empty());
  expect_done(1);
  c.post(c.inline_wr());  // the sequence goes on behind it
  EXPECT_EQ(psns(c.sent()), Psns{101});
}

TEST_F(LateAnswer, AnAckOfAPartLeavesTheRest) {
  for (int i = 0; i < 3; ++i) post(c.inline_wr(hw::WrOpcode::kRdmaWrite, 600));  // of 3 packets
  post_and_time_out();
  c.arrive_and_settle(AdapterBench::ack(104));  // the middle of the second
  const auto again = c.sent();
  ASSERT_EQ(psns(again), (Psns{105, 106, 107, 108}));
  EXPECT_EQ(opcodes(again),
            (Opcodes{Op::kRcWriteLast, Op::kRcWriteFirst, Op::kRcWriteMiddle, Op::kRcWriteLast}));
  c.arrive_and_settle(AdapterBench::ack(108));
  expect_done(3);
}

TEST_F(LateAnswer, AnAckWithinAMessageThatIsBeingRepeatedSkipsAhead) {
  post(c.inline_wr(hw::WrOpcode::kRdmaWrite, 900));  // of 4 packets
  c.bench.post_send(c.qp, c.inline_wr());
  post_and_time_out();
  // The WQE is here again after a read; one packet leaves, then the answer comes.
  while (c.bench.port.sent.size() == 5) c.bench.engine.step();
  c.arrive_and_settle(AdapterBench::ack(102));
  const auto again = psns(c.sent());
  ASSERT_GE(again.size(), 3u);
  EXPECT_LE(again.size(), 5u);
  EXPECT_EQ(again[0], 100u);
  EXPECT_EQ(again[again.size() - 2], 103u);
  EXPECT_EQ(again.back(), 104u);
  c.arrive_and_settle(AdapterBench::ack(104));
  expect_done(2);
}

TEST_F(LateAnswer, ReadResponsesAreTaken) {
  post(c.inline_wr());
  post(c.gather_wr(hw::WrOpcode::kRdmaRead, 700));
  post(c.inline_wr());
  post_and_time_out();
  c.arrive(data(101, Op::kRcReadResponseFirst, 256));  // acknowledges 100
  c.arrive(data(102, Op::kRcReadResponseMiddle, 256));
  c.settle();
  const auto again = c.sent();
  ASSERT_EQ(psns(again), (Psns{103, 104}));
  EXPECT_EQ(again[0].headers.reth.addr, 0x10000u + 512);
  EXPECT_EQ(again[0].headers.reth.length, 188u);
  c.arrive(data(103, Op::kRcReadResponseLast, 188));
  c.arrive_and_settle(AdapterBench::ack(104));
  expect_done(3);
  EXPECT_EQ(c.bench.bytes(c.area, 256), pattern(256, 101));
  EXPECT_EQ(c.bench.bytes(c.area + 512, 188), pattern(188, 103));
}

TEST_F(LateAnswer, AllReadsMayBeAnsweredLateAndTheLimitHoldsAfterwards) {
  for (int i = 0; i < 4; ++i) post(c.gather_wr(hw::WrOpcode::kRdmaRead, 64));
  post_and_time_out();
  for (std::uint32_t i = 0; i < 4; ++i) c.arrive(data(100 + i, Op::kRcReadResponseOnly, 64));
  c.settle();
  EXPECT_TRUE(c.sent().empty());
  expect_done(4);
  c.post(c.gather_wr(hw::WrOpcode::kRdmaRead, 64), 6);
  EXPECT_EQ(psns(c.sent()), (Psns{104, 105, 106, 107}));
}

TEST_F(LateAnswer, ASequenceNakForWhatIsToBeRepeatedCostsNoRetry) {
  for (int i = 0; i < 3; ++i) post(c.inline_wr());
  post_and_time_out();
  c.arrive_and_settle(AdapterBench::nak(101, hw::NakCode::kPsnSequence));
  EXPECT_EQ(psns(c.sent()), (Psns{101, 102}));
  c.arrive_and_settle(AdapterBench::ack(102));
  expect_done(3);
}

TEST_F(LateAnswer, AnRnrNakForWhatIsToBeRepeatedMakesItWait) {
  for (int i = 0; i < 3; ++i) post(c.inline_wr(hw::WrOpcode::kRdmaWriteWithImm));
  c.arrive(AdapterBench::ack(99, 0, hw::ack_syndrome(hw::kNoCredits)));
  post_and_time_out();
  c.arrive(AdapterBench::rnr_nak(101, 12));  // 640 us
  c.bench.run_for(630 * hw::kMicrosecond);
  EXPECT_TRUE(c.sent().empty());
  c.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(psns(c.sent()), (Psns{101, 102}));
  c.arrive_and_settle(AdapterBench::ack(102));
  expect_done(3);
}

TEST_F(LateAnswer, NeverWithoutEnd) {
  hw::QpContext context = with_timeout();
  context.timeout = 1;  // 8.192 us, and each answer takes longer
  Connection slow(context);
  for (int i = 0; i < 20; ++i) slow.bench.post_send(slow.qp, slow.inline_wr());
  slow.bench.ring_send(slow.qp);
  std::uint32_t seen = 0;
  for (int step = 0; step < 100; ++step) {
    slow.bench.run_for(hw::kMicrosecond);
    const Time now = slow.bench.now();
    for (const SentPacket& packet : slow.sent()) {
      ++seen;
      slow.bench.arrive_at(now + 9 * hw::kMicrosecond, slow.qp,
                           AdapterBench::ack(packet.headers.psn));
    }
  }
  EXPECT_EQ(statuses(slow.sends()), Statuses(20, hw::WcStatus::kSuccess));
  EXPECT_LE(seen, 60u);
}

TEST(FatalNak, NothingThatIsBeingGatheredLeavesBehindIt) {
  Connection c;
  c.bench.dma.set_read_latency(c.area, Connection::kAreaBytes, 5 * hw::kMicrosecond);
  c.bench.post_send(c.qp, c.inline_wr());
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kRdmaWrite, 256 * 40));
  c.bench.ring_send(c.qp);
  c.bench.run_for(4 * hw::kMicrosecond);
  ASSERT_EQ(psns(c.sent()), Psns{100});  // the others wait for their payload
  c.arrive_and_settle(AdapterBench::nak(100, hw::NakCode::kRemoteAccess));
  EXPECT_TRUE(c.sent().empty());
  EXPECT_EQ(statuses(c.sends()),
            (Statuses{hw::WcStatus::kRemAccessErr, hw::WcStatus::kWrFlushErr}));
  EXPECT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
}

}  // namespace
}  // namespace hcasim::testing
