// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "script.hpp"

namespace hcasim::monitor {
namespace {

TEST(PsnOrder, PsnsFollowEachOther) {
  Script s;
  s.sent(Op::kRcSendOnly, 100).sent(Op::kRcSendOnly, 101);
  s.sent(Script::remote(Op::kRcReadRequest, 102, 3 * kMtu + 1));
  s.sent(Op::kRcSendOnly, 106);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Op::kRcSendOnly, 108);
  EXPECT_EQ(s.broken(), Rules{"psn-order"});
}

TEST(PsnOrder, AReadTakesAsManyPsnsAsItsResponse) {
  Script s;
  s.sent(Script::remote(Op::kRcReadRequest, 100, 2 * kMtu));
  s.sent(Script::remote(Op::kRcReadRequest, 102, 0));
  s.sent(Op::kRcSendOnly, 103);
  EXPECT_EQ(s.broken(), kSilent);
  Script other;
  other.sent(Script::remote(Op::kRcReadRequest, 100, 2 * kMtu));
  other.sent(Script::remote(Op::kRcReadRequest, 103, 0));
  EXPECT_EQ(other.broken(), Rules{"psn-order"});
}

TEST(PsnOrder, PsnsWrap) {
  MonitoredQp qp = Script::qp();
  qp.sq_psn = 0xff'ffff;
  Script s(qp);
  s.sent(Op::kRcSendOnly, 0xff'ffff).sent(Script::remote(Op::kRcWriteOnly, 0, 4), 4);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(OpcodeSequence, OfMessages) {
  Script s;
  s.sent(Op::kRcSendFirst, 100, kMtu).sent(Op::kRcSendMiddle, 101, kMtu);
  s.sent(Op::kRcSendLastInvalidate, 102, 1).sent(Op::kRcSendOnlyImm, 103);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(OpcodeSequence, BrokenInEachWay) {
  struct Case {
    std::vector<Op> good;
    Op bad;
  };
  for (const Case& one : std::vector<Case>{{{}, Op::kRcSendMiddle},
                                           {{}, Op::kRcSendLast},
                                           {{}, Op::kRcWriteLastImm},
                                           {{Op::kRcSendFirst}, Op::kRcSendOnly},
                                           {{Op::kRcSendFirst}, Op::kRcSendFirst},
                                           {{Op::kRcSendFirst}, Op::kRcWriteMiddle},
                                           {{Op::kRcWriteFirst}, Op::kRcSendLast},
                                           {{Op::kRcSendFirst}, Op::kRcReadRequest},
                                           {{Op::kRcWriteFirst}, Op::kRcFetchAdd}}) {
    Script s;
    std::uint32_t psn = 100;
    for (const Op opcode : one.good) s.sent(Script::remote(opcode, psn++, 1024), kMtu);
    EXPECT_EQ(s.broken(), kSilent);
    s.sent(Script::remote(one.bad, psn, 1024), kMtu);
    EXPECT_EQ(s.broken().at(0), "opcode-sequence") << int(one.bad);
  }
}

TEST(PayloadLength, OfEachPartOfAMessage) {
  Script s;
  s.sent(Op::kRcSendFirst, 100, kMtu);
  s.sent(Op::kRcSendLast, 101, kMtu);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::remote(Op::kRcWriteOnly, 102, 0), 0);
  s.sent(Script::remote(Op::kRcWriteOnly, 103, kMtu), kMtu);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(PayloadLength, BrokenInEachWay) {
  struct Case {
    Op opcode;
    std::size_t bytes;
    bool inside;
  };
  for (const Case& one : std::vector<Case>{{Op::kRcSendFirst, kMtu - 1, false},
                                           {Op::kRcSendFirst, kMtu + 4, false},
                                           {Op::kRcSendMiddle, 0, true},
                                           {Op::kRcSendLast, 0, true},
                                           {Op::kRcSendLast, kMtu + 1, true},
                                           {Op::kRcSendOnly, kMtu + 1, false},
                                           {Op::kRcReadRequest, 8, false},
                                           {Op::kRcCompareSwap, 8, false}}) {
    Script s;
    if (one.inside) s.sent(Op::kRcSendFirst, 100, kMtu);
    EXPECT_EQ(s.broken(), kSilent);
    s.sent(one.opcode, one.inside ? 101 : 100, one.bytes);
    EXPECT_EQ(s.broken(), Rules{"payload-length"}) << int(one.opcode) << " " << one.bytes;
  }
}

TEST(DmaLength, IsTheSumOfThePayloads) {
  Script s;
  s.sent(Script::remote(Op::kRcWriteFirst, 100, 600), kMtu);
  s.sent(Op::kRcWriteMiddle, 101, kMtu).sent(Op::kRcWriteLast, 102, 88);
  s.sent(Script::remote(Op::kRcWriteOnly, 103, 5), 5);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(DmaLength, BrokenInEachWay) {
  Script less;
  less.sent(Script::remote(Op::kRcWriteFirst, 100, 600), kMtu).sent(Op::kRcWriteLast, 101, 88);
  EXPECT_EQ(less.broken(), Rules{"dma-length"});
  Script more;
  more.sent(Script::remote(Op::kRcWriteFirst, 100, 300), kMtu).sent(Op::kRcWriteLast, 101, 88);
  EXPECT_EQ(more.broken(), Rules{"dma-length"});
  Script only;
  only.sent(Script::remote(Op::kRcWriteOnly, 100, 6), 5);
  EXPECT_EQ(only.broken(), Rules{"dma-length"});
  Script whole;  // an ONLY would do
  whole.sent(Script::remote(Op::kRcWriteFirst, 100, kMtu), kMtu);
  EXPECT_EQ(whole.broken(), Rules{"dma-length"});
  Script read;
  read.sent(Script::remote(Op::kRcReadRequest, 100, 0x8000'0001));
  EXPECT_EQ(read.broken().at(0), "dma-length");
}

TEST(ReadLimit, OfReadsAndAtomicsTogether) {
  Script s;  // two
  s.sent(Script::remote(Op::kRcReadRequest, 100, 600)).sent(Op::kRcFetchAdd, 103);
  s.sent(Script::remote(Op::kRcWriteOnly, 104, 0));
  EXPECT_EQ(s.broken(), kSilent);
  s.arrived(Script::ack(100, 1, 31, Op::kRcReadResponseFirst), kMtu);
  s.sent(Op::kRcFetchAdd, 105);
  EXPECT_EQ(s.broken(), Rules{"read-limit"});
}

TEST(ReadLimit, CountsWhatHasNoResponseYet) {
  Script s;
  s.sent(Script::remote(Op::kRcReadRequest, 100, 600)).sent(Op::kRcFetchAdd, 103);
  s.arrived(Script::ack(100, 1, 31, Op::kRcReadResponseFirst), kMtu);
  s.arrived(Op::kRcReadResponseMiddle, 101, kMtu);
  s.arrived(Script::ack(102, 1, 31, Op::kRcReadResponseLast), 88);
  s.sent(Op::kRcFetchAdd, 104);
  s.arrived(Script::ack(103, 2, 31, Op::kRcAtomicAcknowledge));
  s.sent(Op::kRcFetchAdd, 105);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(PsnWindow, EndsAtHalfTheNumbers) {
  // Each READ takes 2^22 PSNs.
  MonitoredQp qp = Script::qp();
  Script s(qp);
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1u << 30));
  s.sent(Script::remote(Op::kRcReadRequest, 100 + (1u << 22), 1u << 30));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::remote(Op::kRcWriteOnly, 100 + (1u << 23), 0));
  EXPECT_EQ(s.broken(), Rules{"psn-window"});
}

TEST(Credit, BeginsWithOneRequest) {
  Script s(Script::qp(), true);
  auto send = Script::packet(Op::kRcSendOnly, 100);
  send.ack_req = true;
  s.sent(send).sent(Script::remote(Op::kRcWriteOnly, 101, 0));
  EXPECT_EQ(s.broken(), kSilent);
  send.psn = 102;
  s.sent(send);
  EXPECT_EQ(s.broken(), Rules{"credit"});
}

TEST(Credit, ComesWithAnswers) {
  Script s(Script::qp(), true);
  const auto send = [&](std::uint32_t psn) {
    auto packet = Script::packet(Op::kRcSendOnly, psn);
    packet.ack_req = true;
    s.sent(packet);
  };
  send(100);
  s.sent(Script::remote(Op::kRcWriteOnly, 101, 0));
  s.arrived(Script::ack(100, 1, hw::ack_syndrome(2)));  // two beyond the first message
  send(102);
  s.sent(Script::remote(Op::kRcWriteOnlyImm, 103, 0));
  send(104);
  EXPECT_EQ(s.broken(), kSilent);
  send(105);
  EXPECT_EQ(s.broken(), Rules{"credit"});
  s.arrived(Script::ack(105, 6, hw::ack_syndrome(hw::kNoCredits)));
  for (std::uint32_t psn = 106; psn < 120; ++psn) send(psn);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(Credit, TheRequestBeyondItAsksForAnAcknowledgement) {
  Script s(Script::qp(), true);
  s.sent(Op::kRcSendFirst, 100, kMtu);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Op::kRcSendLast, 101, 5);
  EXPECT_EQ(s.broken(), Rules{"credit-ack-request"});
  s.arrived(Script::ack(101, 1, hw::ack_syndrome(1)));
  s.sent(Op::kRcSendOnly, 102);  // within the credit
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Script::remote(Op::kRcWriteOnlyImm, 103, 0));
  EXPECT_EQ(s.broken(), Rules{"credit-ack-request"});
}

TEST(RequestAfterNak, IsNone) {
  for (const hw::NakCode code : {hw::NakCode::kInvalidRequest, hw::NakCode::kRemoteAccess,
                                 hw::NakCode::kRemoteOperational}) {
    Script s;
    s.sent(Script::remote(Op::kRcWriteOnly, 100, 0));
    s.sent(Script::remote(Op::kRcWriteOnly, 101, 0));
    s.arrived(Script::nak(100, 0, code));
    EXPECT_EQ(s.broken(), kSilent);
    s.sent(Script::remote(Op::kRcWriteOnly, 102, 0));
    EXPECT_EQ(s.broken(), Rules{"request-after-nak"});
  }
}

TEST(RequestAfterNak, WhatIsOnItsWayMayLeave) {
  ProtocolMonitor patient({.reaction = 10 * hw::kMicrosecond});
  patient.add_port();
  patient.add(0, Script::qp());
  auto packet = std::make_unique<fabric::Packet>();
  packet->set_headers(Script::packet(Op::kRcFetchAdd, 100));
  patient.sent(0, *packet, 0);
  packet->set_headers(Script::nak(100, 0, hw::NakCode::kRemoteAccess));
  packet->dest_qp = 0x10;
  patient.arrived(0, *packet, hw::kMicrosecond);
  packet->set_headers(Script::packet(Op::kRcFetchAdd, 101));
  patient.sent(0, *packet, 11 * hw::kMicrosecond);
  EXPECT_EQ(patient.violations().count(), 0u);
  packet->psn = 102;
  patient.sent(0, *packet, 12 * hw::kMicrosecond);
  EXPECT_EQ(patient.violations().kept().at(0).rule, Rule::kRequestAfterNak);
}

}  // namespace
}  // namespace hcasim::monitor
