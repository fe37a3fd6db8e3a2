// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Receiving on UC: what is wrong is dropped with the rest of its message, and nobody is told.

#include "conformance/rc/connection.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

class UcResponder : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(c_.sent().empty()) << "UC never answers"; }
  void arrive(Op opcode, std::uint32_t psn, std::size_t bytes = 256) {
    c_.arrive_and_settle(c_.send(psn, bytes, opcode));
  }
  void write(Op opcode, std::uint32_t psn, std::uint64_t offset, std::size_t bytes,
             std::uint32_t total) {
    c_.arrive_and_settle(c_.write(psn, offset, bytes, opcode, total));
  }
  std::uint64_t count(const std::string& name) const { return c_.count("responder", name); }
  /// Bytes and wr_id of the receives that completed.
  void expect_received(const std::vector<std::pair<std::uint64_t, std::uint32_t>>& expected) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
    for (const hw::Cqe& cqe : c_.receives()) {
      EXPECT_EQ(cqe.status, hw::WcStatus::kSuccess);
      found.emplace_back(cqe.wr_id, cqe.byte_len);
    }
    EXPECT_EQ(found, expected);
  }

  Connection c_{AdapterBench::uc_context()};
};

TEST_F(UcResponder, ReceivesMessages) {
  c_.post_receives(4);
  arrive(Op::kUcSendOnly, 500, 100);
  arrive(Op::kUcSendFirst, 501);
  arrive(Op::kUcSendMiddle, 502);
  arrive(Op::kUcSendLast, 503, 10);
  auto immediate = c_.send(504, 0, Op::kUcSendOnlyImm);
  immediate.headers.imm.value = 0x1234;
  c_.arrive_and_settle(immediate);
  const auto done = c_.receives();
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].byte_len, 100u);
  EXPECT_EQ(done[1].byte_len, 522u);
  EXPECT_EQ(done[1].src_qp, AdapterBench::kPeerQpn);
  EXPECT_EQ(done[2].flags, hw::kCqeWithImm);
  EXPECT_EQ(done[2].imm_or_key, 0x1234u);
}

TEST_F(UcResponder, DoesNotAnswerARequestForAnAck) {
  c_.post_receives(1);
  arrive(Op::kUcSendOnly, 500);  // the packets of the bench all ask
  expect_received({{1, 256}});
}

TEST_F(UcResponder, WritesWithAndWithoutImmediate) {
  c_.post_receives(1);
  write(Op::kUcWriteFirst, 500, 4096, 256, 300);
  write(Op::kUcWriteLast, 501, 0, 44, 0);
  EXPECT_TRUE(c_.receives().empty());
  write(Op::kUcWriteOnlyImm, 502, 8192, 16, 16);
  const auto done = c_.receives();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].opcode, hw::WcOpcode::kRecvRdmaWithImm);
  EXPECT_EQ(done[0].byte_len, 16u);
  EXPECT_EQ(c_.bench.bytes(c_.area + 4096, 256), pattern(256, 500));
  EXPECT_EQ(c_.bench.bytes(c_.area + 4096 + 256, 44), pattern(44, 501));
}

TEST_F(UcResponder, ALostMiddleCostsItsMessageAndNoReceive) {
  c_.post_receives(2);
  arrive(Op::kUcSendFirst, 500);
  arrive(Op::kUcSendLast, 502, 10);  // 501 is lost
  EXPECT_TRUE(c_.receives().empty());
  arrive(Op::kUcSendOnly, 503, 20);
  expect_received({{1, 20}});
  EXPECT_EQ(count("out_of_sequence"), 1u);
  EXPECT_EQ(count("n_pkt_drops"), 1u);
}

TEST_F(UcResponder, ALostFirstCostsItsMessage) {
  c_.post_receives(2);
  arrive(Op::kUcSendMiddle, 501);
  arrive(Op::kUcSendLast, 502);
  arrive(Op::kUcSendOnly, 503, 20);
  expect_received({{1, 20}});
  EXPECT_EQ(count("out_of_sequence"), 1u);
  EXPECT_EQ(count("n_pkt_drops"), 2u);
}

TEST_F(UcResponder, ALostLastIsSeenByTheNextFirst) {
  c_.post_receives(2);
  arrive(Op::kUcSendFirst, 500);
  arrive(Op::kUcSendFirst, 502);  // 501 is lost
  arrive(Op::kUcSendLast, 503, 4);
  expect_received({{1, 260}});
  EXPECT_EQ(count("out_of_sequence"), 1u);
}

TEST_F(UcResponder, ANewMessageInOrderEndsTheOneBefore) {
  c_.post_receives(2);
  arrive(Op::kUcSendFirst, 500);
  write(Op::kUcWriteOnly, 501, 4096, 16, 16);
  arrive(Op::kUcSendOnly, 502, 8);
  expect_received({{1, 8}});
  EXPECT_EQ(count("out_of_sequence"), 0u);
}

TEST_F(UcResponder, AnotherKindOfMiddleIsDropped) {
  c_.post_receives(1);
  arrive(Op::kUcSendFirst, 500);
  write(Op::kUcWriteMiddle, 501, 0, 256, 0);
  arrive(Op::kUcSendLast, 502);
  EXPECT_TRUE(c_.receives().empty());
  EXPECT_EQ(count("n_pkt_drops"), 2u);
  EXPECT_EQ(c_.state(), hw::QpState::kRts);
}

TEST_F(UcResponder, PacketsOfTheWrongLengthAreDropped) {
  c_.post_receives(1);
  arrive(Op::kUcSendFirst, 500, 255);
  arrive(Op::kUcSendOnly, 501, 257);
  arrive(Op::kUcSendOnly, 502, 256);
  expect_received({{1, 256}});
}

TEST_F(UcResponder, B01_WithoutReceiveTheMessageIsLost) {
  arrive(Op::kUcSendFirst, 500);
  arrive(Op::kUcSendMiddle, 501);
  c_.post_receives(1);
  arrive(Op::kUcSendLast, 502);
  EXPECT_TRUE(c_.receives().empty());
  arrive(Op::kUcSendOnly, 503, 30);
  expect_received({{1, 30}});
  EXPECT_EQ(count("out_of_buffer"), 1u);
  EXPECT_EQ(c_.count("response", "rnr_naks"), 0u);
}

// Packets that wait for the answer to a take are looked at one by one.
TEST_F(UcResponder, WhatWaitedBehindAMessageWithoutReceiveIsNotLost) {
  c_.arrive(c_.send(500, 256, Op::kUcSendFirst));
  c_.arrive(c_.send(501, 4, Op::kUcSendLast));
  c_.arrive_and_settle(c_.write(502, 4096, 64, Op::kUcWriteOnly));
  EXPECT_EQ(c_.bench.bytes(c_.area + 4096, 64), pattern(64, 502));
  EXPECT_EQ(count("out_of_buffer"), 1u);
  EXPECT_EQ(count("n_pkt_drops"), 2u);
}

TEST_F(UcResponder, TooLongAMessageIsDroppedAndItsReceiveServesTheNext) {
  c_.post_receives(1, 300);
  arrive(Op::kUcSendFirst, 500);
  arrive(Op::kUcSendMiddle, 501);
  arrive(Op::kUcSendLast, 502);
  arrive(Op::kUcSendOnly, 503, 77);
  expect_received({{1, 77}});
  EXPECT_EQ(count("resp_local_length_error"), 1u);
}

TEST_F(UcResponder, WritesThatMayNotBeAreDropped) {
  const auto before = c_.bench.bytes(c_.area, 64);
  auto wrong_key = c_.write(500, 0, 16, Op::kUcWriteOnly);
  wrong_key.headers.reth.rkey += 99;
  c_.arrive_and_settle(wrong_key);
  write(Op::kUcWriteFirst, 501, 0, 256, 257);  // a LAST of more bytes than there should be
  write(Op::kUcWriteLast, 502, 0, 9, 0);
  EXPECT_EQ(count("resp_remote_access_errors"), 1u);
  EXPECT_EQ(c_.state(), hw::QpState::kRts);
  EXPECT_TRUE(c_.bench.events(hw::EqeType::kQpAccessError).empty());
  write(Op::kUcWriteOnly, 503, 4096, 16, 16);
  EXPECT_EQ(c_.bench.bytes(c_.area + 4096, 16), pattern(16, 503));
}

TEST_F(UcResponder, WithoutTheRightWritesAreDropped) {
  hw::QpContext context = AdapterBench::uc_context();
  context.access_flags = 0;
  Connection c(context);
  c.arrive_and_settle(c.write(500, 0, 16, Op::kUcWriteOnly));
  EXPECT_EQ(c.bench.bytes(c.area, 16), std::vector<std::uint8_t>(16, 0));
  EXPECT_EQ(c.state(), hw::QpState::kRts);
  EXPECT_TRUE(c.sent().empty());
}

TEST_F(UcResponder, OpcodesOfRcAreNotForIt) {
  c_.post_receives(1);
  arrive(Op::kRcSendOnly, 500);
  arrive(static_cast<Op>(0x2c), 500);  // READ: not of UC
  EXPECT_TRUE(c_.receives().empty());
  EXPECT_EQ(count("n_pkt_drops"), 2u);
  EXPECT_EQ(c_.state(), hw::QpState::kRts);
}

TEST_F(UcResponder, ABadLocalKeyEndsTheQueuePair) {
  c_.bench.post_recv(c_.qp, 77, {{c_.area, 512, c_.key + 50}});
  c_.bench.ring_recv(c_.qp);
  c_.settle();
  arrive(Op::kUcSendOnly, 500);
  const auto done = c_.receives();
  ASSERT_EQ(statuses(done), Statuses{hw::WcStatus::kLocProtErr});
  EXPECT_EQ(done[0].wr_id, 77u);
  EXPECT_EQ(c_.state(), hw::QpState::kErr);
}

// The receive in hand is the first to be flushed.
TEST_F(UcResponder, ErrorFlushesTheReceiveInHand) {
  c_.post_receives(1);
  arrive(Op::kUcSendFirst, 500);
  arrive(Op::kUcSendLast, 502);
  ASSERT_EQ(c_.bench.modify(c_.qp, hw::QpState::kErr), hw::CommandStatus::kOk);
  const auto done = c_.receives();
  ASSERT_EQ(statuses(done), Statuses{hw::WcStatus::kWrFlushErr});
  EXPECT_EQ(done[0].wr_id, 1u);
}

TEST_F(UcResponder, TheFirstPacketEstablishesTheConnection) {
  Connection c(AdapterBench::uc_context());
  BenchQp qp = c.bench.create_qp(AdapterBench::uc_context(), hw::QpState::kRtr);
  c.bench.events();
  c.bench.arrive(qp, c.write(500, 0, 16, Op::kUcWriteOnly));
  c.bench.arrive(qp, c.write(501, 0, 16, Op::kUcWriteOnly));
  c.settle();
  EXPECT_EQ(c.bench.events(hw::EqeType::kCommEst).size(), 1u);
}

TEST_F(UcResponder, ForeignPartitionsAreNotServed) {
  c_.post_receives(1);
  auto foreign = c_.send(500, 16, Op::kUcSendOnly);
  foreign.headers.pkey = 0x8001;
  c_.arrive_and_settle(foreign);
  EXPECT_EQ(count("pkey_violations"), 1u);
  auto limited = c_.send(500, 16, Op::kUcSendOnly);
  limited.headers.pkey = 0x7fff;  // a limited member of the default partition
  c_.arrive_and_settle(limited);
  expect_received({{1, 16}});
}

}  // namespace
}  // namespace hcasim::testing
