// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "script.hpp"

namespace hcasim::monitor {
namespace {

fabric::PacketHeaders response(Op opcode, std::uint32_t psn, std::uint32_t msn = 1) {
  return Script::ack(psn, msn, hw::kNoCredits, opcode);
}

fabric::PacketHeaders value(std::uint32_t psn, std::uint64_t original, std::uint32_t msn) {
  auto answer = response(Op::kRcAtomicAcknowledge, psn, msn);
  answer.atomic_ack.original = original;
  return answer;
}

class Read : public ::testing::Test {
 protected:
  // 700 bytes: 256, 256, 188.
  Read() { s_.arrived(Script::remote(Op::kRcReadRequest, 500, 700)); }
  void answer_all() {
    s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu);
    s_.sent(Op::kRcReadResponseMiddle, 501, kMtu);
    s_.sent(response(Op::kRcReadResponseLast, 502), 188);
  }
  Script s_;
};

TEST_F(Read, IsAnswered) {
  answer_all();
  s_.arrived(Script::remote(Op::kRcReadRequest, 503, 0));
  s_.sent(response(Op::kRcReadResponseOnly, 503, 2));
  EXPECT_EQ(s_.broken(), kSilent);
}

TEST_F(Read, IsAnsweredWhenItWasAsked) {
  answer_all();
  s_.sent(response(Op::kRcReadResponseOnly, 500), 188);
  EXPECT_EQ(s_.broken(), Rules{"read-unasked"});
}

TEST_F(Read, IsAnsweredFromItsFirstPsn) {
  s_.sent(response(Op::kRcReadResponseFirst, 501), kMtu);
  EXPECT_EQ(s_.broken(), Rules{"read-unasked"});
}

TEST_F(Read, ADuplicateIsAnsweredAgain) {
  answer_all();
  s_.arrived(Script::remote(Op::kRcReadRequest, 501, 444, 0x1000 + kMtu));
  s_.sent(response(Op::kRcReadResponseFirst, 501), kMtu);
  s_.sent(response(Op::kRcReadResponseLast, 502), 188);
  EXPECT_EQ(s_.broken(), kSilent);
}

TEST_F(Read, ADuplicateMayTakeThePlaceOfTheRest) {
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu);
  s_.arrived(Script::remote(Op::kRcReadRequest, 501, 444, 0x1000 + kMtu));
  s_.sent(response(Op::kRcReadResponseFirst, 501), kMtu);
  s_.sent(response(Op::kRcReadResponseLast, 502), 188);
  s_.arrived(Op::kRcSendOnly, 503).sent(Script::ack(503, 2));
  EXPECT_EQ(s_.broken(), kSilent);
}

TEST_F(Read, ADuplicateMayBeLeftOut) {
  s_.arrived(Script::remote(Op::kRcReadRequest, 500, 700));
  answer_all();
  s_.arrived(Op::kRcSendOnly, 503).sent(Script::ack(503, 2));
  EXPECT_EQ(s_.broken(), kSilent);
}

TEST_F(Read, OpcodesOfTheResponse) {
  s_.sent(Op::kRcReadResponseMiddle, 500, kMtu);
  EXPECT_EQ(s_.broken(), Rules{"read-opcode"});  // without FIRST
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(response(Op::kRcReadResponseLast, 501), kMtu);
  EXPECT_EQ(s_.broken(), Rules{"read-opcode"});  // too early
}

TEST_F(Read, OnlyOneBeginning) {
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu);
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu);
  EXPECT_EQ(s_.broken(), Rules{"read-opcode"});
}

TEST_F(Read, TheLastIsNoMiddle) {
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu).sent(Op::kRcReadResponseMiddle, 501, kMtu);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(Op::kRcReadResponseMiddle, 502, 188);
  EXPECT_EQ(s_.broken(), Rules{"read-opcode"});
}

TEST_F(Read, PsnsOfTheResponse) {
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu);
  s_.sent(Op::kRcReadResponseMiddle, 502, kMtu);
  EXPECT_EQ(s_.broken(), Rules{"read-psn"});
}

TEST_F(Read, LengthsOfTheResponse) {
  s_.sent(response(Op::kRcReadResponseFirst, 500), kMtu - 4);
  EXPECT_EQ(s_.broken(), Rules{"read-length"});
  s_.sent(Op::kRcReadResponseMiddle, 501, kMtu);
  s_.sent(response(Op::kRcReadResponseLast, 502), 187);
  EXPECT_EQ(s_.broken(), Rules{"read-length"});
}

TEST_F(Read, ItsResponseCountsInItsMsn) {
  s_.sent(response(Op::kRcReadResponseFirst, 500, 2), kMtu);
  EXPECT_EQ(s_.broken(), Rules{"msn-count"});
}

TEST_F(Read, IsCountedInItsLastResponse) {
  s_.sent(response(Op::kRcReadResponseFirst, 500, 0), kMtu);
  s_.sent(Op::kRcReadResponseMiddle, 501, kMtu);
  EXPECT_EQ(s_.broken(), kSilent);
  s_.sent(response(Op::kRcReadResponseLast, 502, 0), 188);
  EXPECT_EQ(s_.broken(), Rules{"msn-count"});
}

TEST(Atomic, IsCountedInItsResponse) {
  Script s;
  s.arrived(Op::kRcFetchAdd, 500).sent(value(500, 1, 0));
  EXPECT_EQ(s.broken(), Rules{"msn-count"});
}

TEST(ReadResponse, OfAllLengths) {
  for (std::uint32_t length = 0; length < 3 * kMtu + 2; ++length) {
    Script s;
    s.arrived(Script::remote(Op::kRcReadRequest, 500, length));
    std::uint32_t psn = 500;
    std::uint32_t done = 0;
    do {
      const std::uint32_t bytes = std::min(kMtu, length - done);
      const bool first = done == 0;
      const bool last = done + bytes == length;
      s.sent(response(first ? (last ? Op::kRcReadResponseOnly : Op::kRcReadResponseFirst)
                            : (last ? Op::kRcReadResponseLast : Op::kRcReadResponseMiddle),
                      psn++),
             bytes);
      done += bytes;
    } while (done != length);
    s.arrived(Op::kRcSendOnly, psn).sent(Script::ack(psn, 2));
    EXPECT_EQ(s.broken(), kSilent) << length;
  }
}

TEST(Atomic, IsAnsweredWhenItWasAsked) {
  Script s;
  s.arrived(Op::kRcFetchAdd, 500).arrived(Op::kRcCompareSwap, 501);
  s.sent(value(500, 1, 1)).sent(value(501, 2, 2));
  EXPECT_EQ(s.broken(), kSilent);
  s.sent(value(501, 2, 2));
  EXPECT_EQ(s.broken(), Rules{"atomic-unasked"});
  s.arrived(Op::kRcSendOnly, 502).sent(value(502, 2, 3));
  EXPECT_EQ(s.broken(), Rules{"atomic-unasked"});
}

TEST(Atomic, ADuplicateHasTheSameValue) {
  Script s;
  s.arrived(Op::kRcFetchAdd, 500).arrived(Op::kRcFetchAdd, 501);
  s.sent(value(500, 10, 1)).sent(value(501, 15, 2));
  s.arrived(Op::kRcFetchAdd, 500).sent(value(500, 10, 2));
  EXPECT_EQ(s.broken(), kSilent);
  s.arrived(Op::kRcFetchAdd, 501).sent(value(501, 20, 2));
  EXPECT_EQ(s.broken(), Rules{"atomic-value"});
}

TEST(Atomic, ADuplicateMayBeForgotten) {
  Script s;
  for (std::uint32_t psn = 500; psn < 505; ++psn) {
    s.arrived(Op::kRcFetchAdd, psn).sent(value(psn, psn, psn - 499));
  }
  s.arrived(Op::kRcFetchAdd, 500);
  s.arrived(Op::kRcFetchAdd, 505).sent(value(505, 1, 6));
  EXPECT_EQ(s.broken(), kSilent);
}

}  // namespace
}  // namespace hcasim::monitor
