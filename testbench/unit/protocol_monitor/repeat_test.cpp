// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "script.hpp"

namespace hcasim::monitor {
namespace {

fabric::PacketHeaders write(std::uint32_t psn, Op opcode = Op::kRcWriteOnly,
                            std::uint32_t length = 16) {
  return Script::remote(opcode, psn, length);
}

// Four writes of one packet, PSNs 100 to 103.
void send_four(Script& s) {
  for (std::uint32_t psn = 100; psn < 104; ++psn) s.sent(write(psn), 16);
}

TEST(Repeat, AfterASequenceNakFromThere) {
  Script s;
  send_four(s);
  s.arrived(Script::nak(101, 1, hw::NakCode::kPsnSequence));
  for (std::uint32_t psn = 101; psn < 105; ++psn) s.sent(write(psn), 16);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(Repeat, NotOfWhatIsAcknowledged) {
  Script s;
  send_four(s);
  s.arrived(Script::nak(102, 2, hw::NakCode::kPsnSequence));
  s.sent(write(101), 16);
  EXPECT_EQ(s.broken(), Rules{"repeat-acknowledged"});
}

TEST(Repeat, NotAfterAnAck) {
  Script s;
  send_four(s);
  s.arrived(Script::ack(103, 4)).wait(hw::kSecond);
  s.sent(write(103), 16);
  EXPECT_EQ(s.broken(), Rules{"repeat-acknowledged"});
}

TEST(Repeat, MayGoOnWithWhatIsNotAcknowledged) {
  Script s;
  send_four(s);
  s.wait(hw::kSecond).sent(write(100), 16);
  s.arrived(Script::ack(102, 3));
  s.sent(write(103), 16);
  EXPECT_EQ(s.broken(), kSilent);
  s.wait(hw::kSecond).sent(write(103), 16).wait(hw::kSecond).sent(write(103), 16);
  s.sent(write(105), 16);  // 104 is left out
  EXPECT_EQ(s.broken(), Rules{"psn-order"});
}

TEST(Repeat, NotWithoutACause) {
  Script s;
  send_four(s);
  s.arrived(Script::ack(101, 2));
  s.sent(write(102), 16);
  EXPECT_EQ(s.broken(), Rules{"repeat-cause"});
}

TEST(Repeat, AfterTheTimeout) {
  Script s;  // a millisecond
  s.sent(write(100), 16).sent(write(101), 16);
  s.wait(997 * hw::kMicrosecond).sent(write(100), 16);  // after 999
  EXPECT_EQ(s.broken(), Rules{"repeat-cause"});
  s.sent(write(101), 16);
  s.wait(998 * hw::kMicrosecond).sent(write(100), 16);  // a whole one after the last
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(Repeat, ATimeoutBeginsWithTheLastAnswer) {
  Script s;
  send_four(s);
  s.wait(900 * hw::kMicrosecond).arrived(Script::ack(100, 1));
  s.wait(900 * hw::kMicrosecond).sent(write(101), 16);
  EXPECT_EQ(s.broken(), Rules{"repeat-cause"});
}

TEST(Repeat, ByATimeoutThatAnAnswerCameTooLateFor) {
  ProtocolMonitor patient({.reaction = 10 * hw::kMicrosecond});
  patient.add_port();
  patient.add(0, Script::qp());
  auto packet = std::make_unique<fabric::Packet>();
  const auto send = [&](hw::Time at) {
    packet->set_headers(Script::packet(Op::kRcFetchAdd, 100));
    patient.sent(0, *packet, at);
  };
  send(0);
  packet->set_headers(Script::ack(100, 1, 31, Op::kRcAtomicAcknowledge));
  packet->dest_qp = 0x10;
  patient.arrived(0, *packet, hw::kMillisecond + hw::kMicrosecond);
  send(hw::kMillisecond + 5 * hw::kMicrosecond);
  EXPECT_EQ(patient.violations().text(), "");
}

TEST(Repeat, NeverByATimerThatIsOff) {
  MonitoredQp qp = Script::qp();
  qp.ack_timeout = 0;
  Script s(qp);
  send_four(s);
  s.wait(100 * hw::kSecond).sent(write(100), 16);
  EXPECT_EQ(s.broken(), Rules{"repeat-cause"});
}

TEST(Repeat, OneNakIsOneCause) {
  Script s;
  send_four(s);
  s.arrived(Script::nak(101, 1, hw::NakCode::kPsnSequence));
  for (std::uint32_t psn = 101; psn < 104; ++psn) s.sent(write(psn), 16);
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(write(101), 16);
  EXPECT_EQ(s.broken(), Rules{"repeat-cause"});
}

TEST(Repeat, AReadWhoseResponseIsLost) {
  Script s;
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1000)).sent(write(104), 16);
  s.arrived(Script::ack(100, 1, 31, Op::kRcReadResponseFirst), kMtu);
  s.arrived(Op::kRcReadResponseMiddle, 102, kMtu);  // 101 is lost
  s.sent(Script::remote(Op::kRcReadRequest, 101, 1000 - kMtu, 0x1000 + kMtu));
  s.sent(write(104), 16);
  EXPECT_EQ(s.broken(), kSilent);
  s.arrived(Script::ack(101, 1, 31, Op::kRcReadResponseFirst), kMtu);
  s.arrived(Script::ack(104, 2));  // the rest is lost
  s.sent(Script::remote(Op::kRcReadRequest, 102, 1000 - 2 * kMtu, 0x1000 + 2 * kMtu));
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(Repeat, ALostResponseIsOneCause) {
  Script s;
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1000)).sent(write(104), 16);
  s.arrived(Op::kRcReadResponseMiddle, 101, kMtu);
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1000));
  EXPECT_EQ(s.broken(), kSilent);
  s.arrived(Op::kRcReadResponseMiddle, 102, kMtu);  // of the first request still
  s.arrived(Script::ack(104, 2));
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1000));
  EXPECT_EQ(s.broken(), Rules{"repeat-cause"});
}

TEST(Repeat, AReadGoesOnWhereItsResponseEnded) {
  Script s;
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1000));
  s.arrived(Script::ack(100, 1, 31, Op::kRcReadResponseFirst), kMtu);
  s.arrived(Op::kRcReadResponseMiddle, 102, kMtu);
  s.sent(Script::remote(Op::kRcReadRequest, 100, 1000));
  EXPECT_EQ(s.broken(), Rules{"repeat-acknowledged"});
}

TEST(Repeat, IsTheSameRead) {
  for (const auto& [address, length] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {0x1000, 1000}, {0x1000 + kMtu, 1000}, {0x1000, 1000 - kMtu}}) {
    Script s;
    s.sent(Script::remote(Op::kRcReadRequest, 100, 1000));
    s.arrived(Script::ack(100, 1, 31, Op::kRcReadResponseFirst), kMtu);
    s.arrived(Op::kRcReadResponseMiddle, 102, kMtu);
    s.sent(Script::remote(Op::kRcReadRequest, 101, length, address));
    EXPECT_EQ(s.broken(), Rules{"repeat-same"});
  }
}

TEST(Repeat, IsTheSameMessage) {
  const std::vector<std::pair<fabric::PacketHeaders, std::size_t>> others{
      {write(100, Op::kRcWriteFirst, 601), kMtu},  // another length
      {Script::remote(Op::kRcWriteFirst, 100, 600, 0x1001), kMtu},
      {write(100, Op::kRcWriteOnly, 16), 16},
      {Script::packet(Op::kRcSendFirst, 100), kMtu},
      {Script::packet(Op::kRcFetchAdd, 100), 0},
      {Script::remote(Op::kRcReadRequest, 100, 600), 0},
      {write(101, Op::kRcWriteLast), kMtu},  // in place of MIDDLE
      {write(102, Op::kRcWriteLast), 87},
      {write(102, Op::kRcWriteLastImm), 88}};
  for (const auto& [packet, bytes] : others) {
    Script s;
    s.sent(write(100, Op::kRcWriteFirst, 600), kMtu);
    s.sent(write(101, Op::kRcWriteMiddle), kMtu).sent(write(102, Op::kRcWriteLast), 88);
    s.sent(Script::remote(Op::kRcWriteOnly, 103, 0));
    s.wait(hw::kSecond);
    EXPECT_EQ(s.broken(), kSilent);
    s.sent(packet, bytes);
    EXPECT_EQ(s.broken(), Rules{"repeat-same"}) << int(packet.opcode);
  }
  Script s;
  s.sent(write(100, Op::kRcWriteFirst, 600), kMtu);
  s.sent(write(101, Op::kRcWriteMiddle), kMtu).sent(write(102, Op::kRcWriteLast), 88);
  s.wait(hw::kSecond).sent(write(101, Op::kRcWriteMiddle), kMtu);
  s.sent(write(102, Op::kRcWriteLast), 88);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(Repeat, IsTheSameAtomic) {
  Script s;
  auto atomic = Script::packet(Op::kRcFetchAdd, 100);
  atomic.atomic = {0x1000, 7, 5, 0};
  s.sent(atomic).wait(hw::kSecond).sent(atomic);
  EXPECT_EQ(s.broken(), kSilent);
  atomic.atomic.swap_add = 6;
  s.wait(hw::kSecond).sent(atomic);
  EXPECT_EQ(s.broken(), Rules{"repeat-same"});
}

TEST(Repeat, GoesOnInAMessageThatIsNotAllSent) {
  Script s;
  s.sent(write(100, Op::kRcWriteFirst, 900), kMtu).sent(write(101, Op::kRcWriteMiddle), kMtu);
  s.arrived(Script::nak(100, 0, hw::NakCode::kPsnSequence));
  s.sent(write(100, Op::kRcWriteFirst, 900), kMtu).sent(write(101, Op::kRcWriteMiddle), kMtu);
  s.sent(write(102, Op::kRcWriteMiddle), kMtu).sent(write(103, Op::kRcWriteLast), 132);
  EXPECT_EQ(s.broken(), kSilent);
}

TEST(RnrWait, IsAsLongAsTheNakSays) {
  for (const hw::Time early : {2, 0}) {
    Script s;
    s.sent(Op::kRcFetchAdd, 100);
    s.arrived(Script::ack(100, 0, hw::rnr_syndrome(12)));  // 640 us
    s.wait(639 * hw::kMicrosecond - early * hw::kMicrosecond).sent(Op::kRcFetchAdd, 100);
    EXPECT_EQ(s.broken(), early != 0 ? Rules{"rnr-wait"} : kSilent);
  }
}

TEST(RnrWait, ASecondNakDoesNotLengthenIt) {
  Script s;
  s.sent(Op::kRcFetchAdd, 100);
  s.arrived(Script::ack(100, 0, hw::rnr_syndrome(12))).wait(600 * hw::kMicrosecond);
  s.arrived(Script::ack(100, 0, hw::rnr_syndrome(12))).wait(40 * hw::kMicrosecond);
  s.sent(Op::kRcFetchAdd, 100);
  EXPECT_EQ(s.broken(), kSilent);
}

// Its second copy found a receive; the requester has gone back already.
TEST(RnrWait, AnAckDuringItMayComeTooLate) {
  Script s;
  s.sent(Op::kRcFetchAdd, 100).sent(Op::kRcSendOnly, 101);
  s.arrived(Script::ack(100, 1, 31, Op::kRcAtomicAcknowledge));
  s.arrived(Script::ack(101, 1, hw::rnr_syndrome(12)));
  s.arrived(Script::ack(101, 2)).wait(640 * hw::kMicrosecond);
  s.sent(Op::kRcSendOnly, 101);
  EXPECT_EQ(s.broken(), kSilent);
  s.arrived(Script::ack(101, 2)).wait(hw::kSecond).sent(Op::kRcSendOnly, 101);
  EXPECT_EQ(s.broken(), Rules{"repeat-acknowledged"});
}

TEST(Answers, OfNothingSentChangeNothing) {
  Script s;
  send_four(s);
  s.arrived(Script::ack(104, 5));  // not sent yet
  s.arrived(Script::ack(90, 5));
  s.arrived(Script::nak(104, 5, hw::NakCode::kRemoteAccess));
  s.wait(hw::kSecond).sent(write(100), 16);
  EXPECT_EQ(s.broken(), kSilent);
}

}  // namespace
}  // namespace hcasim::monitor
