// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// UC, UD, and packets that are no messages.
#include <gtest/gtest.h>

#include "made_capture.hpp"

namespace hcasim::sim {
namespace {

using hw::BthOpcode;
using Op = hw::WrOpcode;
using Counts = std::map<Op, std::uint64_t>;
using Reasons = std::map<std::string, std::uint64_t>;

class Unreliable : public MadeCapture {
 protected:
  /// UC message of three packets without the packet `lost`.
  void message(std::uint32_t psn, int lost = -1) {
    if (lost != 0) send(1, BthOpcode::kUcSendFirst, 22, psn, 1024);
    if (lost != 1) send(1, BthOpcode::kUcSendMiddle, 22, psn + 1, 1024);
    if (lost != 2) send(1, BthOpcode::kUcSendLastImm, 22, psn + 2, 100);
  }
};

TEST_F(Unreliable, UcCompletesWithItsLastPacket) {
  message(0xff'fffe);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSendWithImm, 1}}));
  EXPECT_EQ(found.bytes, 2148u);
  EXPECT_EQ(found.records[0].completed, 2 * hw::kMicrosecond);
  EXPECT_EQ(found.records[0].last_psn, 0u);
  EXPECT_EQ(found.records[0].path_mtu, 1024u);
  EXPECT_FALSE(found.records[0].requester_qpn_known);
}

TEST_F(Unreliable, UcLosesTheMessageOfALostPacket) {
  message(0);
  message(3, 1);
  message(6, 2);
  message(9);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSendWithImm, 2}}));
  EXPECT_EQ(found.unfinished, 2u);
  EXPECT_TRUE(found.unexplained.empty());
}

TEST_F(Unreliable, UcThatLostItsFirstPacketIsNoMessage) {
  message(0);
  message(3, 0);
  message(6);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSendWithImm, 2}}));
  EXPECT_EQ(found.unfinished, 0u);
  EXPECT_TRUE(found.unexplained.empty());
}

TEST_F(Unreliable, UcWithinAMessageAtTheBeginningIsUnexplained) {
  message(0, 0);
  message(3);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSendWithImm, 1}}));
  EXPECT_EQ(found.unfinished, 0u);
  EXPECT_EQ(found.unexplained,
            (Reasons{{"continues a message whose first packet is not captured", 2}}));
}

TEST_F(Unreliable, RepeatedPacketsCountOnce) {
  message(0);
  send(1, BthOpcode::kUcSendMiddle, 22, 1, 1024);
  for (int i = 0; i < 2; ++i) {
    send(1, BthOpcode::kUdSendOnly, 30, 5, 64, [](fabric::Packet& packet) { packet.src_qp = 8; });
  }
  send(1, BthOpcode::kUdSendOnly, 30, 5, 64, [](fabric::Packet& packet) { packet.src_qp = 9; });
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.messages, (Counts{{Op::kSendWithImm, 1}, {Op::kSend, 2}}));
  EXPECT_EQ(found.retransmitted, 2u);
  EXPECT_EQ(found.records[1].requester, (Endpoint{node(1), 8}));
}

class OtherPackets : public MadeCapture {};

TEST_F(OtherPackets, AreCountedByKind) {
  send(1, BthOpcode::kCnp, 22, 0, 16);
  send(1, BthOpcode::kXrcSendOnly, 22, 0, 16);
  send(1, static_cast<BthOpcode>(0xd1), 22, 0, 16);
  send(1, static_cast<BthOpcode>(0x1b), 22, 0, 16);
  send(1, BthOpcode::kUdSendOnly, 1, 0, 256);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.packets, 5u);
  EXPECT_EQ(found.not_modelled, 3u);
  EXPECT_EQ(found.unexplained, (Reasons{{"has a reserved opcode", 1}}));
  EXPECT_EQ(found.management, 1u);
  EXPECT_TRUE(found.records.empty());
  EXPECT_EQ(found.endpoints, (std::vector<Endpoint>{{node(2), 22}}));
}

TEST_F(OtherPackets, WithABadIcrcAreDroppedAsByAReceiver) {
  damage_ = [](auto& frame) { frame.back() ^= 1; };
  send(1, BthOpcode::kRcSendOnly, 22, 0, 16);
  damage_ = nullptr;
  send(1, BthOpcode::kRcSendOnly, 22, 0, 16);
  answer(2, 21, 0);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.icrc, (IcrcCounts{2, 1, 0}));
  EXPECT_EQ(found.retransmitted, 0u);
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 1}}));
}

TEST_F(OtherPackets, CutShortKeepTheirLength) {
  damage_ = [](auto& frame) { frame.resize(14 + 20 + 8 + 12 + 16); };
  send(1, BthOpcode::kRcWriteFirst, 22, 0, 1024, rdma(1500));
  send(1, BthOpcode::kRcWriteLast, 22, 1, 476);
  damage_ = nullptr;
  answer(2, 21, 1);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.icrc, (IcrcCounts{1, 0, 2}));
  EXPECT_EQ(found.bytes, 1500u);
  EXPECT_EQ(found.records[0].path_mtu, 1024u);
}

TEST_F(OtherPackets, OfOtherProtocolsAreNoPackets) {
  damage_ = [](auto& frame) { frame[13] = 6; };  // ARP
  send(1, BthOpcode::kRcSendOnly, 22, 0, 16);
  damage_ = [](auto& frame) { frame[39] ^= 4; };  // UDP length
  send(1, BthOpcode::kRcSendOnly, 22, 1, 16);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.frames, 2u);
  EXPECT_EQ(found.packets, 0u);
  EXPECT_EQ(found.unexplained, (Reasons{{"lengths in the headers contradict each other", 1}}));
}

TEST_F(OtherPackets, GoOverIpv6AndVlan) {
  const auto ipv6 = [](fabric::Packet& packet) {
    packet.address.src_gid[0] = packet.address.dst_gid[0] = 0xfd;
    packet.address.has_vlan = true;
    packet.address.vlan_tag = 100;
  };
  send(1, BthOpcode::kRcSendOnly, 22, 0, 16, ipv6);
  send(2, BthOpcode::kRcAcknowledge, 21, 0, 0, ipv6);
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.icrc.ok, 2u);
  EXPECT_EQ(found.messages, (Counts{{Op::kSend, 1}}));
  EXPECT_EQ(found.endpoints.size(), 2u);
}

}  // namespace
}  // namespace hcasim::sim
