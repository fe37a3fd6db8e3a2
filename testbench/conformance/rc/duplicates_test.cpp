// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "connection.hpp"

namespace hcasim::testing {
namespace {

TEST(Duplicate, SendIsAcknowledgedAgainAndDeliveredOnce) {
  Connection c;
  c.post_receives(3);
  c.arrive_and_settle(c.send(500));
  c.arrive_and_settle(c.send(501));
  c.sent();
  c.arrive_and_settle(c.send(500));
  const auto answers = c.sent();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].headers.psn, 501u);  // all that arrived
  EXPECT_EQ(hw::syndrome_kind(answers[0].headers.aeth.syndrome), hw::SyndromeKind::kAck);
  EXPECT_EQ(answers[0].headers.aeth.msn, 2u);
  EXPECT_EQ(c.receives().size(), 2u);
  EXPECT_EQ(c.count("responder", "duplicate_request"), 1u);
}

TEST(Duplicate, WriteIsNotWrittenAgain) {
  Connection c;
  c.arrive_and_settle(c.write(500, 0, 64));
  c.bench.fill(c.area, std::vector<std::uint8_t>(64, 0xee));
  c.sent();
  c.arrive_and_settle(c.write(500, 0, 64));
  EXPECT_EQ(c.bench.bytes(c.area, 64), std::vector<std::uint8_t>(64, 0xee));
  EXPECT_EQ(c.sent().size(), 1u);
}

TEST(Duplicate, ReadIsReadAgain) {
  Connection c;
  c.bench.fill(c.area, pattern(600));
  c.arrive_and_settle(c.read(500, 0, 600));
  EXPECT_EQ(psns(c.sent()), (Psns{500, 501, 502}));
  c.bench.fill(c.area + 256, pattern(344, 9));
  c.arrive_and_settle(c.read(501, 256, 344));  // the rest of it, as after a lost packet
  const auto again = c.sent();
  ASSERT_EQ(psns(again), (Psns{501, 502}));
  EXPECT_EQ(opcodes(again),
            (Opcodes{hw::BthOpcode::kRcReadResponseFirst, hw::BthOpcode::kRcReadResponseLast}));
  EXPECT_EQ(again[0].payload, c.bench.bytes(c.area + 256, 256));
  c.arrive_and_settle(c.send(503, 0));  // the sequence goes on behind the READ
  EXPECT_EQ(c.count("responder", "out_of_sequence"), 0u);
}

TEST(Duplicate, AtomicIsAnsweredFromMemoryAndNotCarriedOutAgain) {
  Connection c;
  c.bench.store<std::uint64_t>(c.area, 10);
  for (std::uint32_t i = 0; i < 3; ++i) c.arrive_and_settle(c.fetch_add(500 + i, 0, 5));
  c.sent();
  for (std::uint32_t i = 0; i < 3; ++i) {
    c.arrive_and_settle(c.fetch_add(500 + i, 0, 5));
    const auto answers = c.sent();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].headers.opcode, hw::BthOpcode::kRcAtomicAcknowledge);
    EXPECT_EQ(answers[0].headers.psn, 500 + i);
    EXPECT_EQ(answers[0].headers.atomic_ack.original, 10u + 5 * i);
  }
  EXPECT_EQ(c.bench.load<std::uint64_t>(c.area), 25u);
}

TEST(Duplicate, AnAtomicTooLongAgoIsNotAnswered) {
  Connection c;
  for (std::uint32_t i = 0; i < 5; ++i) c.arrive_and_settle(c.fetch_add(500 + i, 0, 1));
  c.sent();
  c.arrive_and_settle(c.fetch_add(500, 0, 1));  // four are kept: max_dest_rd_atomic
  EXPECT_TRUE(c.sent().empty());
  EXPECT_EQ(c.bench.load<std::uint64_t>(c.area), 5u);
}

TEST(Duplicate, AReadOfARegionThatIsGoneIsNotAnsweredWithData) {
  Connection c;
  c.arrive_and_settle(c.read(500, 0, 64));
  c.sent();
  EXPECT_EQ(c.bench.issue(hw::CommandOpcode::kDestroyMr, c.key).status, hw::CommandStatus::kOk);
  c.arrive_and_settle(c.read(500, 0, 64));
  for (const SentPacket& packet : c.sent()) EXPECT_TRUE(packet.payload.empty());
}

TEST(OutOfOrder, OneNakForAGapAndSilenceUntilItCloses) {
  Connection c;
  c.post_receives(8);
  c.arrive_and_settle(c.send(500));
  c.sent();
  c.arrive_and_settle(c.send(503));
  expect_nak(c.sent(), 501, hw::NakCode::kPsnSequence);
  c.arrive_and_settle(c.send(502));
  c.arrive_and_settle(c.send(504));
  EXPECT_TRUE(c.sent().empty());
  for (std::uint32_t psn = 501; psn <= 503; ++psn) c.arrive_and_settle(c.send(psn));
  EXPECT_EQ(psns(c.sent()), (Psns{501, 502, 503}));
  c.arrive_and_settle(c.send(506));  // another gap, another NAK
  expect_nak(c.sent(), 504, hw::NakCode::kPsnSequence);
  EXPECT_EQ(c.receives().size(), 4u);
  EXPECT_EQ(c.count("responder", "out_of_sequence"), 2u);
  EXPECT_EQ(c.state(), hw::QpState::kRts);
}

TEST(OutOfOrder, ADuplicateInAGapIsStillAcknowledged) {
  Connection c;
  c.post_receives(4);
  c.arrive_and_settle(c.send(500));
  c.arrive_and_settle(c.send(502));
  c.sent();
  c.arrive_and_settle(c.send(500));
  EXPECT_EQ(psns(c.sent()), Psns{500});
}

TEST(PsnWrap, B44_TheResponderPassesIt) {
  hw::QpContext context = AdapterBench::rc_context();
  context.rq_psn = 0xff'fff0;
  context.rq_size = 128;
  Connection c(context);
  c.post_receives(64);
  for (std::uint32_t i = 0; i < 64; ++i) c.arrive_and_settle(c.send(0xff'fff0 + i));
  EXPECT_EQ(c.receives().size(), 64u);
  EXPECT_EQ(c.sent().back().headers.psn, 0x2fu);
  c.arrive_and_settle(c.send(0xff'ffff));  // a duplicate from before the wrap
  EXPECT_EQ(c.sent().at(0).headers.psn, 0x2fu);
  EXPECT_EQ(c.count("responder", "duplicate_request"), 1u);
  EXPECT_EQ(c.count("responder", "out_of_sequence"), 0u);
}

TEST(PsnWrap, B44_TheRequesterPassesItWithItsWindow) {
  hw::QpContext context = AdapterBench::rc_context();
  context.sq_psn = 0xff'fff0;
  context.sq_size = 128;
  BenchOptions options;
  options.parameters.requester.window_packets = 16;
  Connection c(context, options);
  c.post(c.inline_wr(), 64);
  std::uint32_t seen = 0;
  while (true) {
    const auto packets = c.sent();
    if (packets.empty()) break;
    for (const SentPacket& packet : packets) {
      EXPECT_EQ(packet.headers.psn, (0xff'fff0 + seen++) & hw::kPsnMask);
    }
    EXPECT_LE(packets.size(), 16u);
    c.arrive_and_settle(AdapterBench::ack(packets.back().headers.psn));
  }
  EXPECT_EQ(seen, 64u);
  EXPECT_EQ(c.sends().size(), 64u);
}

// A NAK from behind the wrap.
TEST(PsnWrap, B44_ANakBehindItRepeatsTheRightPackets) {
  hw::QpContext context = AdapterBench::rc_context();
  context.sq_psn = 0xff'fffd;
  Connection c(context);
  c.post(c.inline_wr(), 6);
  c.sent();
  c.arrive_and_settle(AdapterBench::nak(0, hw::NakCode::kPsnSequence));
  EXPECT_EQ(psns(c.sent()), (Psns{0, 1, 2}));
  EXPECT_EQ(c.sends().size(), 3u);
  c.arrive_and_settle(AdapterBench::ack(2));
  EXPECT_EQ(c.sends().size(), 3u);
}

// A READ whose answer lies across the wrap.
TEST(PsnWrap, B44_AReadAcrossIt) {
  hw::QpContext context = AdapterBench::rc_context();
  context.sq_psn = context.rq_psn = 0xff'ffff;
  Connection c(context);
  c.bench.fill(c.area, pattern(600));
  c.arrive_and_settle(c.read(0xff'ffff, 0, 600));
  const auto answers = c.sent();
  EXPECT_EQ(psns(answers), (Psns{0xff'ffff, 0, 1}));
  c.post(c.gather_wr(hw::WrOpcode::kRdmaRead, 600, 8192));
  EXPECT_EQ(psns(c.sent()), Psns{0xff'ffff});
  for (const SentPacket& answer : answers) c.arrive({answer.headers, answer.payload});
  c.settle();
  EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kSuccess});
  EXPECT_EQ(c.bench.bytes(c.area + 8192, 600), pattern(600));
}

}  // namespace
}  // namespace hcasim::testing
