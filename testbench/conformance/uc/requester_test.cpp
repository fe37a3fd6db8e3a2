// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Sending on UC: packets without answers, done when they have left.

#include "conformance/rc/connection.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

class UcRequester : public ::testing::Test {
 protected:
  Connection c_{AdapterBench::uc_context()};
};

TEST_F(UcRequester, B47_MessagesAreCutIntoPacketsOfUc) {
  c_.post(c_.gather_wr(hw::WrOpcode::kSend, 600));
  c_.post(c_.gather_wr(hw::WrOpcode::kSendWithImm, 600));
  c_.post(c_.gather_wr(hw::WrOpcode::kRdmaWrite, 600));
  c_.post(c_.gather_wr(hw::WrOpcode::kRdmaWriteWithImm, 600));
  const auto sent = c_.sent();
  EXPECT_EQ(opcodes(sent), (Opcodes{Op::kUcSendFirst, Op::kUcSendMiddle, Op::kUcSendLast,
                                    Op::kUcSendFirst, Op::kUcSendMiddle, Op::kUcSendLastImm,
                                    Op::kUcWriteFirst, Op::kUcWriteMiddle, Op::kUcWriteLast,
                                    Op::kUcWriteFirst, Op::kUcWriteMiddle, Op::kUcWriteLastImm}));
  EXPECT_EQ(psns(sent), (Psns{100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111}));
  for (const SentPacket& packet : sent) EXPECT_FALSE(packet.headers.ack_req);
  EXPECT_EQ(sent[6].headers.reth.length, 600u);
}

TEST_F(UcRequester, ShortMessagesAreOnePacket) {
  for (const auto opcode : {hw::WrOpcode::kSend, hw::WrOpcode::kSendWithImm,
                            hw::WrOpcode::kRdmaWrite, hw::WrOpcode::kRdmaWriteWithImm}) {
    c_.post(c_.inline_wr(opcode));
  }
  c_.post(c_.inline_wr(hw::WrOpcode::kSend, 0));
  EXPECT_EQ(opcodes(c_.sent()), (Opcodes{Op::kUcSendOnly, Op::kUcSendOnlyImm, Op::kUcWriteOnly,
                                         Op::kUcWriteOnlyImm, Op::kUcSendOnly}));
}

TEST_F(UcRequester, CompletesWithoutAnAnswer) {
  SendWr quiet = c_.inline_wr();
  quiet.flags = 0;
  c_.bench.post_send(c_.qp, c_.gather_wr(hw::WrOpcode::kRdmaWrite, 1000));
  c_.bench.post_send(c_.qp, quiet);
  c_.post(c_.inline_wr(hw::WrOpcode::kSend));
  const auto done = c_.sends();
  ASSERT_EQ(statuses(done), (Statuses{hw::WcStatus::kSuccess, hw::WcStatus::kSuccess}));
  EXPECT_EQ(done[0].opcode, hw::WcOpcode::kRdmaWrite);
  EXPECT_EQ(done[0].byte_len, 1000u);
  EXPECT_EQ(done[1].opcode, hw::WcOpcode::kSend);
  EXPECT_EQ(done[1].wqe_index, 2u);
}

TEST_F(UcRequester, NeverSendsAgain) {
  hw::QpContext context = AdapterBench::uc_context();
  context.timeout = 1;  // means nothing on UC
  Connection c(context);
  c.post(c.inline_wr());
  c.bench.run_for(hw::kSecond);
  EXPECT_EQ(c.sent().size(), 1u);
  EXPECT_EQ(c.state(), hw::QpState::kRts);
}

TEST_F(UcRequester, ANakOfTheWrongServiceMeansNothing) {
  c_.arrive(AdapterBench::nak(100, hw::NakCode::kRemoteAccess));
  c_.post(c_.inline_wr());
  EXPECT_EQ(statuses(c_.sends()), Statuses{hw::WcStatus::kSuccess});
  EXPECT_EQ(c_.count("responder", "n_pkt_drops"), 1u);
}

TEST_F(UcRequester, TheWindowDoesNotHoldItUp) {
  BenchOptions options;
  options.parameters.requester.window_packets = 2;
  Connection c(AdapterBench::uc_context(), options);
  c.post(c.gather_wr(hw::WrOpcode::kSend, 5000));
  EXPECT_EQ(c.sent().size(), 20u);
  EXPECT_EQ(c.sends().size(), 1u);
}

TEST_F(UcRequester, OperationsThatItDoesNotHave) {
  for (const auto opcode : {hw::WrOpcode::kRdmaRead, hw::WrOpcode::kAtomicFetchAndAdd,
                            hw::WrOpcode::kAtomicCmpAndSwp, hw::WrOpcode::kSendWithInv}) {
    Connection c(AdapterBench::uc_context());
    c.post(c.gather_wr(opcode, 8));
    EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kLocQpOpErr});
    EXPECT_TRUE(c.sent().empty());
  }
}

// The send queue stops, those behind it are flushed, and receiving goes on until software is ready.
TEST_F(UcRequester, Quirk5_AnErrorStopsTheSendQueueOnly) {
  SendWr wrong = c_.gather_wr(hw::WrOpcode::kSend, 100);
  wrong.sges[0].lkey += 50;
  c_.bench.post_send(c_.qp, c_.inline_wr());
  c_.bench.post_send(c_.qp, wrong);
  c_.post(c_.inline_wr());
  EXPECT_EQ(statuses(c_.sends()), (Statuses{hw::WcStatus::kSuccess, hw::WcStatus::kLocProtErr,
                                            hw::WcStatus::kWrFlushErr}));
  EXPECT_EQ(psns(c_.sent()), Psns{100});
  EXPECT_EQ(c_.state(), hw::QpState::kSqe);
  const auto errors = c_.bench.events(hw::EqeType::kQpSendError);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].number, c_.qp.qpn());
  EXPECT_EQ(errors[0].value, static_cast<std::uint32_t>(hw::WcStatus::kLocProtErr));

  c_.post(c_.inline_wr());
  EXPECT_EQ(statuses(c_.sends()), Statuses{hw::WcStatus::kWrFlushErr});
  c_.post_receives(1);
  c_.arrive_and_settle(c_.send(500, 32, Op::kUcSendOnly));
  EXPECT_EQ(statuses(c_.receives()), Statuses{hw::WcStatus::kSuccess});

  ASSERT_EQ(c_.bench.modify(c_.qp, hw::QpState::kRts), hw::CommandStatus::kOk);
  c_.post(c_.inline_wr());
  EXPECT_EQ(psns(c_.sent()), Psns{101});
  EXPECT_EQ(statuses(c_.sends()), Statuses{hw::WcStatus::kSuccess});
}

TEST_F(UcRequester, AGatherThatFailsWaitsForWhatLeftBefore) {
  c_.bench.dma.fail_reads(c_.area + 256, 64);
  c_.bench.post_send(c_.qp, c_.gather_wr(hw::WrOpcode::kSend, 64));
  c_.bench.post_send(c_.qp, c_.gather_wr(hw::WrOpcode::kSend, 1000));
  c_.post(c_.inline_wr(), 3);
  EXPECT_EQ(psns(c_.sent()), (Psns{100, 101}));
  EXPECT_EQ(statuses(c_.sends()),
            (Statuses{hw::WcStatus::kSuccess, hw::WcStatus::kLocQpOpErr, hw::WcStatus::kWrFlushErr,
                      hw::WcStatus::kWrFlushErr, hw::WcStatus::kWrFlushErr}));
  EXPECT_EQ(c_.state(), hw::QpState::kSqe);
}

TEST_F(UcRequester, GoesFromSqeToErrorAndReset) {
  SendWr wrong = c_.gather_wr(hw::WrOpcode::kSend, 100);
  wrong.sges[0].lkey += 50;
  c_.post(wrong);
  c_.post_receives(1);
  ASSERT_TRUE(c_.bench.ring(hw::bar::kQpErrorDoorbell, c_.qp.qpn(), 0));
  c_.settle();
  EXPECT_EQ(c_.state(), hw::QpState::kErr);
  EXPECT_EQ(c_.bench.events(hw::EqeType::kQpErrorDone).size(), 1u);
  EXPECT_EQ(c_.bench.modify(c_.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
}

// A reset waits for what is on its way out, and completes nothing of it.
TEST_F(UcRequester, ResetWhileAMessageLeaves) {
  BenchOptions options;
  options.byte_time = hw::kNanosecond;
  Connection c(AdapterBench::uc_context(), options);
  c.bench.post_send(c.qp, c.gather_wr(hw::WrOpcode::kSend, 8000));
  c.bench.ring_send(c.qp);
  while (c.bench.port.sent.size() < 32) c.bench.engine.step();
  const Time left = c.bench.port.free_at();
  ASSERT_LT(c.bench.now(), left);
  ASSERT_EQ(c.bench.modify(c.qp, hw::QpState::kReset), hw::CommandStatus::kOk);
  EXPECT_GE(c.bench.now(), left);
  EXPECT_TRUE(c.sends().empty());
}

TEST_F(UcRequester, LocalOperationsWaitForWhatIsLeaving) {
  const std::uint32_t key = c_.bench.create_mr(c_.area, 4096, hw::kLocalWrite, true);
  c_.bench.post_send(c_.qp, c_.inline_wr());
  SendWr invalidate = c_.inline_wr(hw::WrOpcode::kLocalInv, 0);
  invalidate.imm_or_key = key;
  c_.bench.post_send(c_.qp, invalidate);
  c_.post(c_.inline_wr());
  const auto done = c_.sends();
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[1].opcode, hw::WcOpcode::kLocalInv);
  EXPECT_EQ(psns(c_.sent()), (Psns{100, 101}));
}

}  // namespace
}  // namespace hcasim::testing
