// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What happens to the messages of RC when packets are lost, repeated, refused or not captured.
#include <gtest/gtest.h>

#include "made_capture.hpp"

namespace hcasim::sim {
namespace {

using hw::BthOpcode;
using Op = hw::WrOpcode;
using Counts = std::map<Op, std::uint64_t>;
using Reasons = std::map<std::string, std::uint64_t>;

// Node 1 is the requester with queue pair 21, node 2 the responder with queue pair 22.
constexpr std::uint32_t kRequesterQp = 21;
constexpr std::uint32_t kResponderQp = 22;

class Reliable : public MadeCapture {
 protected:
  void request(BthOpcode opcode, std::uint32_t psn, std::size_t bytes = 0,
               const Tweak& tweak = nullptr) {
    send(1, opcode, kResponderQp, psn, bytes, tweak);
  }
  void respond(BthOpcode opcode, std::uint32_t psn, std::size_t bytes = 0,
               const Tweak& tweak = nullptr) {
    send(2, opcode, kRequesterQp, psn, bytes, tweak);
  }
  void ack(std::uint32_t psn) { answer(2, kRequesterQp, psn); }
  void nak(std::uint32_t psn, std::uint8_t syndrome) { answer(2, kRequesterQp, psn, syndrome); }
};

TEST_F(Reliable, OneMessageHasItsWholeRecord) {
  request(BthOpcode::kRcWriteFirst, 5, 1024, rdma(1500));
  request(BthOpcode::kRcWriteLastImm, 6, 476, [](fabric::Packet& packet) {
    packet.imm = {0xabcd};
    packet.solicited = true;
  });
  ack(6);
  const CaptureAnalysis found = analyse();
  ASSERT_EQ(found.records.size(), 1u);
  const CapturedMessage& record = found.records[0];
  EXPECT_EQ(record.opcode, Op::kRdmaWriteWithImm);
  EXPECT_EQ(record.outcome, MessageOutcome::kCompleted);
  EXPECT_EQ(record.requester, (Endpoint{node(1), kRequesterQp}));
  EXPECT_TRUE(record.requester_qpn_known);
  EXPECT_EQ(record.responder, (Endpoint{node(2), kResponderQp}));
  EXPECT_EQ(record.bytes, 1500u);
  EXPECT_EQ(record.first_psn, 5u);
  EXPECT_EQ(record.last_psn, 6u);
  EXPECT_EQ(record.path_mtu, 1024u);
  EXPECT_EQ(record.first_packet, 0);
  EXPECT_EQ(record.completed, 2 * hw::kMicrosecond);
  EXPECT_EQ(record.accepted, 2 * hw::kMicrosecond);
  EXPECT_EQ(record.imm, 0xabcdu);
  EXPECT_TRUE(record.solicited);
  EXPECT_EQ(record.remote_addr, 0x1000u);
  EXPECT_EQ(record.rkey, 0x77u);
}

TEST_F(Reliable, AtomicsAndInvalidateHaveTheirOperands) {
  request(BthOpcode::kRcCompareSwap, 1, 0, [](fabric::Packet& packet) {
    packet.atomic = {0x2000, 0x88, 3, 4};
  });
  respond(BthOpcode::kRcAtomicAcknowledge, 1);
  request(BthOpcode::kRcSendOnlyInvalidate, 2, 10,
          [](fabric::Packet& packet) { packet.ieth = {0x99}; });
  ack(2);
  const CaptureAnalysis found = analyse();
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.records[0].opcode, Op::kAtomicCmpAndSwp);
  EXPECT_EQ(found.records[0].swap_add, 3u);
  EXPECT_EQ(found.records[0].compare, 4u);
  EXPECT_EQ(found.records[0].remote_addr, 0x2000u);
  EXPECT_EQ(found.records[1].opcode, Op::kSendWithInv);
  EXPECT_EQ(found.records[1].invalidate_rkey, 0x99u);
}

TEST_F(Reliable, AnAckCoversAllBeforeIt) {
  for (std::uint32_t psn = 0; psn < 5; ++psn) request(BthOpcode::kRcSendOnly, psn, 100);
  ack(3);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 4}}));
  EXPECT_EQ(found.unfinished, 1u);
}

TEST_F(Reliable, ANakCoversAllBeforeIt) {
  for (std::uint32_t psn = 0; psn < 3; ++psn) request(BthOpcode::kRcSendOnly, psn, 100);
  nak(2, 0x60);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 2}}));
  EXPECT_EQ(found.naks.psn_sequence, 1u);
}

TEST_F(Reliable, ALaterAckDoesNotCompleteARead) {
  request(BthOpcode::kRcReadRequest, 0, 0, rdma(100));
  request(BthOpcode::kRcSendOnly, 1, 100);
  ack(1);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 1}}));
  EXPECT_EQ(found.unfinished, 1u);
}

TEST_F(Reliable, AReadResponseCoversAllBeforeIt) {
  request(BthOpcode::kRcSendOnly, 0, 100);
  request(BthOpcode::kRcReadRequest, 1, 0, rdma(100));
  respond(BthOpcode::kRcReadResponseOnly, 1, 100);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 1}, {Op::kRdmaRead, 1}}));
  EXPECT_EQ(found.bytes, 200u);
}

TEST_F(Reliable, PsnsWrap) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    request(BthOpcode::kRcSendFirst, 0xff'fffc + 2 * i, 256);
    request(BthOpcode::kRcSendLast, 0xff'fffd + 2 * i, 4);
    if (i == 2) ack(0xff'fffd + 2 * i);
  }
  request(BthOpcode::kRcSendLast, 0xff'ffff, 4);  // again
  ack(3);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 4}}));
  EXPECT_EQ(found.bytes, 4u * 260);
  EXPECT_EQ(found.retransmitted, 1u);
  EXPECT_EQ(found.records[1].last_psn, 0xff'ffffu);
}

TEST_F(Reliable, AMessageWhoseFirstPacketComesLateIsWhole) {
  request(BthOpcode::kRcSendOnly, 9, 1);
  ack(9);
  request(BthOpcode::kRcSendMiddle, 11, 256);
  nak(10, 0x60);
  request(BthOpcode::kRcSendFirst, 10, 256);
  request(BthOpcode::kRcSendMiddle, 11, 256);
  request(BthOpcode::kRcSendLast, 12, 10);
  ack(12);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 2}}));
  EXPECT_EQ(found.bytes, 1u + 522);
  EXPECT_EQ(found.retransmitted, 1u);
  EXPECT_TRUE(found.unexplained.empty());
}

TEST_F(Reliable, AReadIsAskedForAgainFromTheMiddle) {
  request(BthOpcode::kRcReadRequest, 100, 0, rdma(4 * 1024));
  respond(BthOpcode::kRcReadResponseFirst, 100, 1024);
  respond(BthOpcode::kRcReadResponseLast, 103, 1024);  // 101 and 102 were lost
  request(BthOpcode::kRcReadRequest, 101, 0, rdma(3 * 1024));
  respond(BthOpcode::kRcReadResponseFirst, 101, 1024);
  respond(BthOpcode::kRcReadResponseMiddle, 102, 1024);
  respond(BthOpcode::kRcReadResponseLast, 103, 1024);
  request(BthOpcode::kRcReadRequest, 104, 0, rdma(1024));
  respond(BthOpcode::kRcReadResponseOnly, 104, 1024);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kRdmaRead, 2}}));
  EXPECT_EQ(found.bytes, 5u * 1024);
  EXPECT_EQ(found.retransmitted, 1u);
  EXPECT_EQ(found.records[0].last_psn, 103u);
  EXPECT_EQ(found.records[0].completed, 5 * hw::kMicrosecond);
}

TEST_F(Reliable, AReadIsUnfinishedWhileAResponseIsMissing) {
  request(BthOpcode::kRcReadRequest, 100, 0, rdma(3 * 1024));
  respond(BthOpcode::kRcReadResponseFirst, 100, 1024);
  respond(BthOpcode::kRcReadResponseLast, 102, 1024);
  EXPECT_EQ(analyse().unfinished, 1u);
}

TEST_F(Reliable, RnrNaksBelongToOneMessage) {
  request(BthOpcode::kRcSendOnly, 0, 10);
  request(BthOpcode::kRcSendOnly, 1, 10);
  nak(1, 0x2c);
  request(BthOpcode::kRcSendOnly, 1, 10);
  nak(1, 0x2c);
  request(BthOpcode::kRcSendOnly, 1, 10);
  ack(1);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 2}}));
  EXPECT_EQ(found.retransmitted, 2u);
  EXPECT_EQ(found.naks.rnr, 2u);
  EXPECT_TRUE(found.records[0].rnr_naks.empty());
  const CapturedMessage& record = found.records[1];
  EXPECT_EQ(record.rnr_naks, (std::vector<hw::Time>{2 * hw::kMicrosecond, 4 * hw::kMicrosecond}));
  EXPECT_EQ(record.rnr_timer_code, 12);
  EXPECT_EQ(record.accepted, 6 * hw::kMicrosecond);
}

TEST_F(Reliable, ASendTakesItsReceiveWithItsFirstPacket) {
  request(BthOpcode::kRcSendFirst, 0, 256);
  ack(0);
  request(BthOpcode::kRcSendLast, 1, 10);
  ack(1);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.records[0].accepted, 1 * hw::kMicrosecond);
  EXPECT_EQ(found.records[0].completed, 3 * hw::kMicrosecond);
}

TEST_F(Reliable, RnrWithoutEndIsUnfinished) {
  request(BthOpcode::kRcSendOnly, 0, 10);
  nak(0, 0x21);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.unfinished, 1u);
  EXPECT_EQ(found.refused, 0u);
  EXPECT_EQ(found.records[0].rnr_naks.size(), 1u);
}

TEST_F(Reliable, EachFatalNakRefusesOneMessage) {
  for (const std::uint8_t code : {0x61, 0x62, 0x63}) {
    const std::uint32_t base = (code - 0x60u) << 20;  // far apart: connections of their own
    request(BthOpcode::kRcWriteOnly, base, 64, rdma(64));
    request(BthOpcode::kRcWriteOnly, base + 1, 64, rdma(64));
    request(BthOpcode::kRcWriteOnly, base + 2, 64, rdma(64));
    nak(base + 1, code);
  }
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kRdmaWrite, 3}}));
  EXPECT_EQ(found.refused, 3u);
  EXPECT_EQ(found.unfinished, 3u);
  EXPECT_EQ(found.naks, (NakCounts{0, 0, 1, 1, 1}));
  EXPECT_EQ(found.records[4].refused_with, hw::NakCode::kRemoteAccess);
}

TEST_F(Reliable, ACaptureThatBeginsWithinAMessageSaysSo) {
  ack(6);
  request(BthOpcode::kRcSendMiddle, 8, 256);
  request(BthOpcode::kRcSendLast, 9, 10);
  request(BthOpcode::kRcSendOnly, 10, 10);
  ack(10);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 1}}));
  EXPECT_EQ(found.unexplained,
            (Reasons{{"answers a request that is not captured", 1},
                     {"continues a message whose first packet is not captured", 2}}));
}

TEST_F(Reliable, ALostFirstPacketExplainsTheRest) {
  request(BthOpcode::kRcSendOnly, 0, 10);
  request(BthOpcode::kRcSendMiddle, 2, 256);
  request(BthOpcode::kRcSendLast, 3, 10);
  nak(1, 0x60);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 1}}));
  EXPECT_TRUE(found.unexplained.empty());
}

TEST_F(Reliable, PacketsThatTheCaptureLacksAreTakenForFullOnes) {
  request(BthOpcode::kRcSendFirst, 0, 1024);
  request(BthOpcode::kRcSendLast, 3, 10);
  ack(3);
  request(BthOpcode::kRcSendFirst, 4, 1024);
  request(BthOpcode::kRcSendOnly, 6, 1);
  ack(6);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 3}}));
  EXPECT_EQ(found.bytes, (3 * 1024u + 10) + 2 * 1024u + 1);
}

TEST_F(Reliable, QueuePairNumbersAreUsedAgain) {
  for (const std::uint32_t start : {0x100000u, 0x900000u, 0x400000u}) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      request(BthOpcode::kRcSendOnly, start + i, 8);
      ack(start + i);
    }
  }
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 9}}));
  EXPECT_EQ(found.retransmitted, 0u);
  EXPECT_EQ(found.unfinished, 0u);
}

TEST_F(Reliable, ConnectionsWithTheSamePsnsAreToldApart) {
  constexpr std::uint32_t kPairs = 4;
  for (std::uint32_t psn = 0; psn < 10; ++psn) {
    for (std::uint32_t qp = 0; qp < kPairs; ++qp) {
      send(1, BthOpcode::kRcSendOnly, 200 + qp, psn, 64);
    }
    for (std::uint32_t qp = 0; qp < kPairs; ++qp) answer(2, 100 + (3 - qp) * 7, psn);
  }
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 40}}));
  EXPECT_EQ(found.endpoints.size(), 2 * kPairs);
  for (const CapturedMessage& record : found.records) {
    ASSERT_TRUE(record.requester_qpn_known);
    EXPECT_EQ(record.requester.qpn, 100 + (3 - (record.responder.qpn - 200)) * 7);
  }
}

// Two connections that begin with the same PSN. Order alone would pair them wrongly.
TEST_F(Reliable, AnswersAreOfTheKindOfTheirRequests) {
  send(1, BthOpcode::kRcSendFirst, 200, 0, 256);
  send(1, BthOpcode::kRcSendLast, 200, 1, 8);
  send(1, BthOpcode::kRcSendOnly, 201, 0, 64);
  send(1, BthOpcode::kRcFetchAdd, 201, 1);
  answer(2, 101, 0);
  send(2, BthOpcode::kRcAtomicAcknowledge, 101, 1);
  answer(2, 100, 1);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 2}, {Op::kAtomicFetchAndAdd, 1}}));
  EXPECT_EQ(found.uncertain, 0u);
  for (const CapturedMessage& record : found.records) {
    EXPECT_EQ(record.requester.qpn, record.responder.qpn - 100);
  }
}

TEST_F(Reliable, AnswersCountTheMessagesOfTheirRequester) {
  // Of 200 each second packet ends a message, of 201 each.
  for (std::uint32_t psn = 0; psn < 4; ++psn) {
    send(1, psn % 2 == 0 ? BthOpcode::kRcSendFirst : BthOpcode::kRcSendLast, 200, psn, 256);
    send(1, BthOpcode::kRcSendOnly, 201, psn, 256);
  }
  const auto counted = [](std::uint32_t messages) {
    return [messages](fabric::Packet& packet) { packet.aeth = {0x1f, messages}; };
  };
  for (const std::uint32_t psn : {1u, 3u}) {
    send(2, BthOpcode::kRcAcknowledge, 101, psn, 0, counted(psn + 1));
    send(2, BthOpcode::kRcAcknowledge, 100, psn, 0, counted((psn + 1) / 2));
  }
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 6}}));
  EXPECT_EQ(found.uncertain, 0u);
  for (const CapturedMessage& record : found.records) {
    EXPECT_EQ(record.requester.qpn, record.responder.qpn - 100);
  }
}

// The answer to 101 came before the request of 201, so that it can only be that of 200, although
// the one to 100 fits 200 as well, and in its turn.
TEST_F(Reliable, NoFlowIsLeftAloneThatCouldHaveAPartner) {
  send(1, BthOpcode::kRcSendOnly, 200, 0, 8);
  answer(2, 101, 0);
  send(1, BthOpcode::kRcSendOnly, 200, 0, 8);
  send(1, BthOpcode::kRcSendOnly, 201, 0, 8);
  answer(2, 100, 0);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 2}}));
  EXPECT_EQ(found.retransmitted, 1u);
  EXPECT_TRUE(found.unexplained.empty());
}

TEST_F(Reliable, WhatOrderAloneDecidesIsUncertain) {
  for (std::uint32_t qp = 0; qp < 3; ++qp) send(1, BthOpcode::kRcSendOnly, 200 + qp, 0, 8);
  for (std::uint32_t qp = 0; qp < 3; ++qp) answer(2, 100 + qp, 0);
  send(1, BthOpcode::kRcSendOnly, 300, 77, 8);
  answer(2, 301, 77);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 4}}));
  EXPECT_EQ(found.uncertain, 3u);
  EXPECT_EQ(found.records[0].requester.qpn, 100u);
}

TEST_F(Reliable, OneSidedCapturesHaveNoCompletions) {
  for (std::uint32_t psn = 0; psn < 3; ++psn) request(BthOpcode::kRcSendOnly, psn, 10);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.unfinished, 3u);
  EXPECT_FALSE(found.records[0].requester_qpn_known);
}

TEST_F(Reliable, AnswersOfTheWrongKindAreUnexplained) {
  request(BthOpcode::kRcSendOnly, 0, 10);
  respond(BthOpcode::kRcReadResponseOnly, 0, 10);
  respond(BthOpcode::kRcAtomicAcknowledge, 0);
  EXPECT_EQ(analyse().unexplained, (Reasons{{"answers a request of another kind", 2}}));
}

TEST_F(Reliable, RequestsGoBothWaysInOneConnection) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    send(1, BthOpcode::kRcSendOnly, 22, 1000 + i, 10);
    send(2, BthOpcode::kRcAcknowledge, 21, 1000 + i);
    send(2, BthOpcode::kRcWriteOnly, 21, 5000 + i, 20, rdma(20));
    send(1, BthOpcode::kRcAcknowledge, 22, 5000 + i);
  }
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 3}, {Op::kRdmaWrite, 3}}));
  EXPECT_EQ(found.endpoints.size(), 2u);
}

}  // namespace
}  // namespace hcasim::sim
