// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "script.hpp"

namespace hcasim::monitor {
namespace {

using hw::NakCode;

void sends_arrive(Script& s, std::uint32_t count, std::uint32_t first = 500) {
  for (std::uint32_t i = 0; i < count; ++i) s.arrived(Op::kRcSendOnly, first + i, 16);
}

TEST(Ack, OfWhatArrived) {
  Script s;
  sends_arrive(s, 3);
  s.sent(Script::ack(500, 1)).sent(Script::ack(502, 3));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::ack(503, 3));
  EXPECT_EQ(s.broken(), Rules{"ack-arrived"});
}

TEST(Ack, NotOfWhatIsBeyondAGap) {
  Script s;
  sends_arrive(s, 1);
  sends_arrive(s, 2, 502);
  s.sent(Script::ack(502, 1));
  EXPECT_EQ(s.broken(), Rules{"ack-arrived"});
}

TEST(Ack, NotOfAFaultyRequest) {
  Script s;
  s.arrived(Op::kRcSendMiddle, 500, kMtu);
  s.sent(Script::ack(500, 0));
  EXPECT_EQ(s.broken(), Rules{"ack-arrived"});
}

TEST(Ack, GoesBackForADuplicateOnly) {
  Script s;
  sends_arrive(s, 3);
  s.sent(Script::ack(502, 3)).sent(Script::ack(502, 3));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::ack(501, 3));
  EXPECT_EQ(s.broken(), Rules{"ack-order"});
  sends_arrive(s, 1, 501);
  s.sent(Script::ack(500, 3));  // not even that of the duplicate
  EXPECT_EQ(s.broken(), Rules{"ack-order"});
  s.sent(Script::ack(501, 3));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::ack(501, 3));  // one duplicate, one answer
  EXPECT_EQ(s.broken(), Rules{"ack-order"});
}

TEST(Ack, DoesNotPassAResponse) {
  for (const bool answered : {true, false}) {
    Script s;
    s.arrived(Script::remote(Op::kRcReadRequest, 500, 300));
    sends_arrive(s, 1, 502);
    s.sent(Script::ack(500, 1, 31, Op::kRcReadResponseFirst), kMtu);
    if (answered) s.sent(Script::ack(501, 1, 31, Op::kRcReadResponseLast), 44);
    s.sent(Script::ack(502, 2));
    EXPECT_EQ(s.broken(), answered ? kSilent : Rules{"ack-passes-response"});
  }
}

TEST(Responses, DoNotPassEachOther) {
  Script s;
  s.arrived(Op::kRcFetchAdd, 500).arrived(Op::kRcFetchAdd, 501);
  s.sent(Script::ack(501, 2, 31, Op::kRcAtomicAcknowledge));
  EXPECT_EQ(s.broken(), Rules{"ack-passes-response"});
}

TEST(Msn, NeverDecreases) {
  Script s;
  sends_arrive(s, 2);
  s.sent(Script::ack(501, 2));
  sends_arrive(s, 1, 501);  // a duplicate
  s.sent(Script::ack(501, 2));
  EXPECT_EQ(s.broken(), kSilent);
  sends_arrive(s, 1, 500);
  s.sent(Script::ack(500, 1));
  EXPECT_EQ(s.broken(), Rules{"msn-order"});
}

TEST(Msn, CountsWhatIsComplete) {
  Script s;
  sends_arrive(s, 1);
  s.arrived(Op::kRcSendFirst, 501, kMtu);
  s.sent(Script::ack(501, 1));
  s.arrived(Op::kRcSendLast, 502, 1);
  s.sent(Script::ack(502, 2));
  EXPECT_EQ(s.broken(), kSilent);
  s.arrived(Op::kRcSendFirst, 503, kMtu);
  s.sent(Script::ack(503, 3));
  EXPECT_EQ(s.broken(), Rules{"msn-count"});
  Script late;
  sends_arrive(late, 2);
  late.sent(Script::ack(501, 1));
  EXPECT_EQ(late.broken(), Rules{"msn-count"});
}

TEST(Msn, OfANakDoesNotCountWhatItRefuses) {
  for (const std::uint32_t msn : {1u, 2u}) {
    Script s;
    sends_arrive(s, 2);
    s.sent(Script::nak(501, msn, NakCode::kRemoteOperational));
    EXPECT_EQ(s.broken(), msn == 1 ? kSilent : Rules{"msn-count"});
  }
}

TEST(Syndrome, OfAnAck) {
  for (const std::uint8_t syndrome : {0x40, 0x5f, 0x80, 0xff, 0x64, 0x65, 0x7f}) {
    Script s;
    sends_arrive(s, 1);
    s.sent(Script::ack(500, 1, syndrome));
    EXPECT_EQ(s.broken().at(0), "syndrome") << int(syndrome);
  }
}

TEST(Syndrome, OfAResponseIsThatOfAnAck) {
  Script s;
  s.arrived(Script::remote(Op::kRcReadRequest, 500, 3)).arrived(Op::kRcFetchAdd, 501);
  s.sent(Script::ack(500, 1, hw::rnr_syndrome(1), Op::kRcReadResponseOnly), 3);
  EXPECT_EQ(s.broken(), Rules{"syndrome"});
  s.sent(Script::ack(501, 2, hw::nak_syndrome(NakCode::kPsnSequence), Op::kRcAtomicAcknowledge));
  EXPECT_EQ(s.broken(), Rules{"syndrome"});
}

TEST(CreditCode, IsNoneWithASharedReceiveQueue) {
  for (const bool srq : {false, true}) {
    MonitoredQp qp = Script::qp();
    qp.uses_srq = srq;
    Script s(qp);
    sends_arrive(s, 2);
    s.sent(Script::ack(500, 1, hw::ack_syndrome(hw::kNoCredits)));
    EXPECT_EQ(s.broken(), kSilent);
    s.sent(Script::ack(501, 2, hw::ack_syndrome(3)));
    EXPECT_EQ(s.broken(), srq ? Rules{"credit-code"} : kSilent);
  }
}

TEST(SequenceNak, NamesThePacketThatIsMissed) {
  for (const std::uint32_t psn : {500u, 501u, 502u}) {
    Script s;
    sends_arrive(s, 1);
    sends_arrive(s, 1, 503);
    s.sent(Script::nak(psn, 1, NakCode::kPsnSequence));
    EXPECT_EQ(s.broken(), psn == 501 ? kSilent : Rules{"sequence-nak"});
  }
}

TEST(SequenceNak, IsForAGap) {
  Script s;
  sends_arrive(s, 2);
  s.sent(Script::nak(502, 2, NakCode::kPsnSequence));
  EXPECT_EQ(s.broken(), Rules{"sequence-nak"});
}

TEST(SequenceNak, ComesOnceUntilTheGapCloses) {
  Script s;
  sends_arrive(s, 1, 501);
  s.sent(Script::nak(500, 0, NakCode::kPsnSequence));
  sends_arrive(s, 1, 502);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::nak(500, 0, NakCode::kPsnSequence));
  EXPECT_EQ(s.broken(), Rules{"sequence-nak-once"});
  sends_arrive(s, 1, 500);
  sends_arrive(s, 1, 502);  // another gap
  s.sent(Script::nak(501, 1, NakCode::kPsnSequence));
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(SequenceNak, OfAResponderWithoutRoom) {
  for (const bool room : {true, false}) {
    Script s;
    sends_arrive(s, 4);
    if (!room) s.discarded(Op::kRcSendOnly, 501, 16);
    s.sent(Script::ack(500, 1)).sent(Script::nak(501, 1, NakCode::kPsnSequence));
    EXPECT_EQ(s.broken(), room ? Rules{"sequence-nak"} : kSilent);
    sends_arrive(s, 3, 501);
    s.sent(Script::ack(503, 4));
    EXPECT_EQ(s.broken(), kSilent);
  }
}

TEST(RnrNak, IsForWhatNeedsAReceive) {
  Script send;
  sends_arrive(send, 2);
  send.sent(Script::ack(500, 0, hw::rnr_syndrome(1)));
  send.arrived(Op::kRcSendOnly, 501, 16);  // dropped
  sends_arrive(send, 2);
  send.sent(Script::ack(501, 2));
  EXPECT_EQ(send.broken(), kSilent);

  Script immediate;
  immediate.arrived(Script::remote(Op::kRcWriteFirst, 500, 300), kMtu);
  immediate.arrived(Op::kRcWriteLastImm, 501, 44);
  immediate.sent(Script::ack(501, 0, hw::rnr_syndrome(1)));
  immediate.arrived(Op::kRcWriteLastImm, 501, 44).sent(Script::ack(501, 1));
  EXPECT_EQ(immediate.broken(), kSilent);
}

TEST(RnrNak, IsNotForAnythingElse) {
  Script write;
  write.arrived(Script::remote(Op::kRcWriteOnly, 500, 3), 3);
  write.sent(Script::ack(500, 0, hw::rnr_syndrome(1)));
  EXPECT_EQ(write.broken(), Rules{"rnr-nak"});
  Script read;
  read.arrived(Script::remote(Op::kRcReadRequest, 500, 3));
  read.sent(Script::ack(500, 0, hw::rnr_syndrome(1)));
  EXPECT_EQ(read.broken(), Rules{"rnr-nak"});
  Script middle;
  middle.arrived(Op::kRcSendFirst, 500, kMtu).arrived(Op::kRcSendLast, 501, 3);
  middle.sent(Script::ack(501, 0, hw::rnr_syndrome(1)));
  EXPECT_EQ(middle.broken(), Rules{"rnr-nak"});
}

TEST(RnrNak, IsFollowedBySilence) {
  Script s;
  sends_arrive(s, 1);
  s.sent(Script::ack(500, 0, hw::rnr_syndrome(1)));
  sends_arrive(s, 1, 501);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::nak(500, 0, NakCode::kPsnSequence));
  EXPECT_EQ(s.broken(), Rules{"sequence-nak-once"});
}

TEST(RnrNak, TakesBackWhatArrived) {
  Script s;
  sends_arrive(s, 3);
  s.sent(Script::ack(501, 1, hw::rnr_syndrome(1)));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::ack(502, 3));
  EXPECT_EQ(s.broken(), Rules{"ack-arrived"});
}

// Both copies are refused, or the second one finds a receive, or is lost at the responder.
TEST(RnrNak, OfARequestThatArrivedTwice) {
  const auto rnr = Script::ack(501, 1, hw::rnr_syndrome(1));
  Script both;
  sends_arrive(both, 2);
  sends_arrive(both, 1, 501);
  both.sent(rnr).sent(rnr);
  EXPECT_EQ(both.broken(), kSilent);
  both.sent(rnr);  // there is no third
  EXPECT_EQ(both.broken(), Rules{"nak-arrived"});

  Script accepted;
  sends_arrive(accepted, 3);
  sends_arrive(accepted, 2, 501);
  accepted.sent(rnr).sent(Script::ack(502, 3));
  EXPECT_EQ(accepted.broken(), kSilent);

  Script behind;  // with a READ behind it that was discarded
  sends_arrive(behind, 2);
  behind.arrived(Script::remote(Op::kRcReadRequest, 502, 3));
  sends_arrive(behind, 1, 501);
  behind.sent(rnr);
  sends_arrive(behind, 1, 501);
  behind.sent(Script::ack(501, 2));
  sends_arrive(behind, 1, 501);
  behind.sent(Script::ack(501, 2));
  EXPECT_EQ(behind.broken(), kSilent);

  Script discarded;
  sends_arrive(discarded, 4);
  sends_arrive(discarded, 1, 501);
  discarded.sent(rnr);
  sends_arrive(discarded, 1, 501);
  sends_arrive(discarded, 1, 503);
  discarded.sent(Script::nak(502, 2, NakCode::kPsnSequence));
  sends_arrive(discarded, 2, 502);
  discarded.sent(Script::ack(503, 4));
  EXPECT_EQ(discarded.monitor.violations().text(), "");
}

TEST(Nak, IsForWhatArrived) {
  for (const std::uint8_t syndrome :
       {hw::rnr_syndrome(1), hw::nak_syndrome(NakCode::kRemoteOperational),
        hw::nak_syndrome(NakCode::kInvalidRequest)}) {
    Script s;
    sends_arrive(s, 1);
    s.sent(Script::ack(501, 1, syndrome));
    EXPECT_EQ(s.broken(), Rules{"nak-arrived"});
  }
  Script faulty;
  faulty.arrived(Op::kRcSendLast, 500, 3);
  faulty.sent(Script::nak(500, 0, NakCode::kInvalidRequest));
  EXPECT_EQ(faulty.broken(), kSilent);
}

TEST(AccessNak, IsForARemoteKey) {
  for (const Op opcode : {Op::kRcWriteOnly, Op::kRcReadRequest, Op::kRcCompareSwap, Op::kRcFetchAdd,
                          Op::kRcSendOnlyInvalidate, Op::kRcSendOnly}) {
    Script s;
    s.arrived(opcode, 500);
    s.sent(Script::nak(500, 0, NakCode::kRemoteAccess));
    EXPECT_EQ(s.broken(), opcode == Op::kRcSendOnly ? Rules{"access-nak"} : kSilent);
  }
}

TEST(AnswerAfterNak, IsNone) {
  Script s;
  sends_arrive(s, 3);
  s.sent(Script::ack(500, 1)).sent(Script::nak(501, 1, NakCode::kRemoteOperational));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::ack(502, 1));
  EXPECT_EQ(s.broken(), Rules{"answer-after-nak"});
}

TEST(AnswerAfterNak, NotEvenTheRestOfAResponse) {
  Script s;
  s.arrived(Script::remote(Op::kRcReadRequest, 500, 700));
  s.sent(Script::ack(500, 1, 31, Op::kRcReadResponseFirst), kMtu);
  s.sent(Script::nak(501, 1, NakCode::kRemoteOperational));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Op::kRcReadResponseMiddle, 501, kMtu);
  EXPECT_EQ(s.broken(), Rules{"answer-after-nak"});
}

}  // namespace
}  // namespace hcasim::monitor
