// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "script.hpp"

namespace hcasim::monitor {
namespace {

TEST(Destination, IsThePeer) {
  Script s;
  s.sent(Op::kRcSendOnly, 100);
  EXPECT_EQ(s.broken(), kSilent);
  auto astray = Script::packet(Op::kRcSendOnly, 101);
  astray.dest_qp = 0x21;
  s.sent(astray);
  EXPECT_EQ(s.broken(), Rules{"destination"});
}

TEST(Destination, OfAPacketWithoutSenderIsKnown) {
  Script s;
  auto packet = Script::packet(Op::kRcSendOnly, 100);
  packet.src_qp = 0;  // as in a capture
  s.sent(packet);
  EXPECT_EQ(s.broken(), kSilent);
  packet.psn = 101;
  packet.dest_qp = 0x77;
  s.sent(packet);
  EXPECT_EQ(s.broken(), Rules{"destination"});
}

TEST(Destination, OfAQueuePairThatIsGone) {
  Script s;
  s.monitor.remove(0, 0x10);
  s.sent(Op::kRcSendOnly, 100);
  EXPECT_EQ(s.broken(), Rules{"destination"});
}

TEST(Partition, IsThatOfTheConnection) {
  MonitoredQp qp = Script::qp();
  qp.pkey = 0x8001;
  Script s(qp);
  auto packet = Script::packet(Op::kRcSendOnly, 100);
  packet.pkey = 0x8001;
  s.sent(packet);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(Op::kRcSendOnly, 101);
  EXPECT_EQ(s.broken(), Rules{"partition"});
}

TEST(Header, HasNothingInReservedPlaces) {
  for (const auto spoil : {+[](fabric::PacketHeaders& p) { p.version = 1; },
                           +[](fabric::PacketHeaders& p) { p.reserved_6 = 1; },
                           +[](fabric::PacketHeaders& p) { p.reserved_7 = 1; }}) {
    Script s;
    auto packet = Script::packet(Op::kRcSendOnly, 100);
    s.sent(packet);
    EXPECT_EQ(s.broken(), kSilent);
    packet.psn = 101;
    spoil(packet);
    s.sent(packet);
    EXPECT_EQ(s.broken(), Rules{"header"});
  }
}

TEST(Service, IsThatOfTheQueuePair) {
  Script s;
  for (const Op opcode : {Op::kUcSendOnly, Op::kUdSendOnly, Op::kXrcSendOnly, static_cast<Op>(0x15),
                          static_cast<Op>(0x18), Op::kManufacturerFirst}) {
    s.sent(opcode, 100);
    EXPECT_EQ(s.broken(), Rules{"service"}) << int(opcode);
  }
  s.sent(Op::kRcSendOnlyInvalidate, 100);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(Service, UnreliableOnesHaveFewerOperations) {
  MonitoredQp qp = Script::qp();
  qp.service = hw::Transport::kUc;
  Script uc(qp);
  uc.sent(static_cast<Op>(0x2c), 100);  // as READ request of RC
  uc.sent(static_cast<Op>(0x37), 100);  // as SEND with invalidate
  EXPECT_EQ(uc.broken(), (Rules{"service", "service"}));
  qp.service = hw::Transport::kUd;
  Script ud(qp);
  ud.sent(static_cast<Op>(0x6a), 100);  // as WRITE
  EXPECT_EQ(ud.broken(), Rules{"service"});
}

TEST(Solicited, OnTheLastPacketThatCompletesAReceive) {
  const auto solicited = [](Op opcode, std::uint32_t psn, std::uint32_t length = 0) {
    auto packet = Script::remote(opcode, psn, length);
    packet.solicited = true;
    return packet;
  };
  Script s;
  s.sent(solicited(Op::kRcSendOnly, 100));
  s.sent(solicited(Op::kRcSendOnlyInvalidate, 101));
  s.sent(solicited(Op::kRcWriteOnlyImm, 102));
  s.sent(Op::kRcSendFirst, 103, kMtu);
  s.sent(solicited(Op::kRcSendLastImm, 104), 1);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(solicited(Op::kRcSendFirst, 105), kMtu);
  EXPECT_EQ(s.broken(), Rules{"solicited"});
  s.sent(Op::kRcSendLast, 106, 1);
  for (const Op opcode : {Op::kRcWriteOnly, Op::kRcReadRequest, Op::kRcFetchAdd}) {
    Script other;
    other.sent(solicited(opcode, 100));
    EXPECT_EQ(other.broken(), Rules{"solicited"}) << int(opcode);
  }
}

TEST(Congestion, NotificationsHaveNoPlaceInAnySequence) {
  Script s;
  s.sent(Op::kCnp, 0);
  s.sent(Op::kRcSendOnly, 100);
  s.sent(Op::kCnp, 7777);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(NoAnswer, OnAnUnreliableService) {
  for (const hw::Transport service : {hw::Transport::kUc, hw::Transport::kUd}) {
    MonitoredQp qp = Script::qp();
    qp.service = service;
    Script s(qp);
    s.arrived(Op::kUcSendOnly, 500);
    EXPECT_EQ(s.broken(), kSilent);
    s.sent(Script::ack(500, 1));
    EXPECT_EQ(s.broken(), Rules{"no-answer"});
  }
}

class Datagram : public ::testing::Test {
 protected:
  static MonitoredQp qp() {
    MonitoredQp qp = Script::qp();
    qp.service = hw::Transport::kUd;
    qp.qkey = 0x1234;
    return qp;
  }
  static fabric::PacketHeaders packet(std::uint32_t psn, Op opcode = Op::kUdSendOnly) {
    auto packet = Script::packet(opcode, psn);
    packet.qkey = 0x1234;
    packet.dest_qp = 0x999;  // any
    return packet;
  }
  Script s_{qp()};
};

TEST_F(Datagram, CountsItsPackets) {
  s_.sent(packet(100), kMtu).sent(packet(101, Op::kUdSendOnlyImm), 0).sent(packet(102), 13);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(packet(104));
  EXPECT_EQ(s_.broken(), Rules{"psn-order"});
}

TEST_F(Datagram, FitsIntoAPacket) {
  s_.sent(packet(100), kMtu);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(packet(101), kMtu + 1);
  EXPECT_EQ(s_.broken(), Rules{"payload-length"});
}

TEST_F(Datagram, HasTheQkeyOfItsDestination) {
  auto wrong = packet(100);
  wrong.qkey = 0x1235;
  s_.sent(wrong);
  EXPECT_EQ(s_.broken(), Rules{"qkey"});
}

TEST(SourceQp, OfADatagramIsItsSender) {
  MonitoredQp qp = Script::qp();
  qp.service = hw::Transport::kUd;
  Script s(qp);
  s.sent(Op::kUdSendOnly, 100);
  EXPECT_EQ(s.broken(), kSilent);
  auto wrong = Script::packet(Op::kUdSendOnly, 101);
  wrong.src_qp = 0x11;
  s.sent(wrong);
  EXPECT_EQ(s.broken(), Rules{"source-qp"});
}

class Unreliable : public ::testing::Test {
 protected:
  static MonitoredQp qp() {
    MonitoredQp qp = Script::qp();
    qp.service = hw::Transport::kUc;
    return qp;
  }
  Script s_{qp()};
};

TEST_F(Unreliable, SendsEachPacketOnce) {
  s_.sent(Op::kUcSendFirst, 100, kMtu).sent(Op::kUcSendMiddle, 101, kMtu);
  s_.sent(Op::kUcSendLastImm, 102, 3).sent(Script::remote(Op::kUcWriteOnly, 103, 16), 16);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(Script::remote(Op::kUcWriteOnly, 103, 16), 16);  // again
  EXPECT_EQ(s_.broken(), Rules{"psn-order"});
  s_.sent(Op::kUcSendOnly, 106, 3);  // two left out
  EXPECT_EQ(s_.broken(), Rules{"psn-order"});
}

TEST_F(Unreliable, EndsWhatItBegan) {
  s_.sent(Op::kUcSendFirst, 100, kMtu);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(Op::kUcSendOnly, 101, 3);
  EXPECT_EQ(s_.broken(), Rules{"opcode-sequence"});
  s_.sent(Script::remote(Op::kUcWriteFirst, 102, 300), kMtu);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(Op::kUcWriteLast, 103, 45);
  EXPECT_EQ(s_.broken(), Rules{"dma-length"});
}

TEST_F(Unreliable, FillsAllPacketsButTheLast) {
  s_.sent(Op::kUcSendFirst, 100, kMtu).sent(Op::kUcSendMiddle, 101, kMtu);
  s_.sent(Op::kUcSendLast, 102, kMtu).sent(Op::kUcSendOnly, 103, 0);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(Op::kUcSendFirst, 104, kMtu - 1);
  EXPECT_EQ(s_.broken(), Rules{"payload-length"});
  s_.sent(Op::kUcSendMiddle, 105, kMtu - 1);
  EXPECT_EQ(s_.broken(), Rules{"payload-length"});
  s_.sent(Op::kUcSendLast, 106, 0);
  EXPECT_EQ(s_.broken(), Rules{"payload-length"});
  s_.sent(Op::kUcSendOnly, 107, kMtu + 1);
  EXPECT_EQ(s_.broken(), Rules{"payload-length"});
}

// A DETH stands in the packets of UD alone, for the opcode says whether there is one.
TEST_F(Unreliable, HasNoDatagramHeader) {
  s_.sent(Op::kUdSendOnly, 100);
  EXPECT_EQ(s_.broken(), Rules{"service"});
}

TEST_F(Datagram, IsNoMessageOfSeveralPackets) {
  s_.sent(packet(100, Op::kUcSendFirst), kMtu);
  EXPECT_EQ(s_.broken(), Rules{"service"});
}

TEST(Ports, AreJudgedEachForItself) {
  Script s;
  fabric::PacketObserver& second = s.monitor.add_port();
  MonitoredQp qp = Script::qp();
  qp.sq_psn = 7;
  s.monitor.add(1, qp);
  auto packet = std::make_unique<fabric::Packet>();
  packet->set_headers(Script::packet(Op::kRcFetchAdd, 7));
  second.on_sent(*packet, 0);
  EXPECT_EQ(s.broken(), kSilent);
  packet->psn = 9;
  second.on_sent(*packet, 0);
  ASSERT_EQ(s.monitor.violations().kept().size(), 1u);
  EXPECT_EQ(s.monitor.violations().kept()[0].port, 1u);
}

TEST(Report, TellsTimeRulePacketAndWhatWasExpected) {
  Script s;
  s.sent(Op::kRcSendOnly, 105, 16);
  const std::string text = s.monitor.violations().text();
  EXPECT_EQ(text,
            "1000 ns, port 0, QP 0x10: psn-order (a packet has the PSN after the one before it; "
            "section 9.7.1): SEND only (0x4) to 0x20, PSN 105, 16 bytes; expected: PSN 100\n");
}

TEST(Report, CountsWhatItDoesNotKeep) {
  Script s;
  for (std::uint32_t i = 0; i < 100; ++i) s.sent(Op::kRcReadResponseMiddle, 105, 16);
  EXPECT_EQ(s.monitor.violations().count(), 100u);
  EXPECT_TRUE(s.monitor.violations().text().ends_with("and 80 more\n"));
}

TEST(Report, HasWordsForEachRule) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Rule::kCount); ++i) {
    const auto rule = static_cast<Rule>(i);
    EXPECT_TRUE(names.insert(name_of(rule)).second);
    EXPECT_FALSE(text_of(rule).empty());
    EXPECT_EQ(section_of(rule).front(), '9');
  }
}

}  // namespace
}  // namespace hcasim::monitor
