// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Opcodes, PSN arithmetic and syndromes.
#include <gtest/gtest.h>

#include "hcasim/hw/wire/opcode.hpp"
#include "hcasim/hw/wire/psn.hpp"
#include "hcasim/hw/wire/syndrome.hpp"

namespace hcasim::hw {
namespace {

TEST(Opcode, BelongsToAService) {
  EXPECT_EQ(transport_of(BthOpcode::kRcFetchAdd), Transport::kRc);
  EXPECT_EQ(transport_of(BthOpcode::kUcWriteOnly), Transport::kUc);
  EXPECT_EQ(transport_of(BthOpcode::kUdSendOnlyImm), Transport::kUd);
  EXPECT_EQ(transport_of(BthOpcode::kCnp), Transport::kCnp);
  EXPECT_EQ(transport_of(BthOpcode::kXrcSendOnly), Transport::kXrc);
  EXPECT_EQ(transport_of(static_cast<BthOpcode>(0xe5)), Transport::kManufacturer);
}

TEST(Opcode, CarriesTheHeadersOfTheSpecification) {
  struct Row {
    BthOpcode opcode;
    std::uint16_t headers;
    int bytes;
  };
  const Row rows[] = {
      {BthOpcode::kRcSendFirst, 0, 0},
      {BthOpcode::kRcSendLastImm, kHasImmDt, 4},
      {BthOpcode::kRcSendOnlyInvalidate, kHasIeth, 4},
      {BthOpcode::kRcWriteFirst, kHasReth, 16},
      {BthOpcode::kRcWriteLastImm, kHasImmDt, 4},
      {BthOpcode::kRcWriteOnlyImm, kHasReth | kHasImmDt, 20},
      {BthOpcode::kRcReadRequest, kHasReth, 16},
      {BthOpcode::kRcReadResponseFirst, kHasAeth, 4},
      {BthOpcode::kRcReadResponseMiddle, 0, 0},
      {BthOpcode::kRcReadResponseLast, kHasAeth, 4},
      {BthOpcode::kRcAcknowledge, kHasAeth, 4},
      {BthOpcode::kRcAtomicAcknowledge, kHasAeth | kHasAtomicAckEth, 12},
      {BthOpcode::kRcCompareSwap, kHasAtomicEth, 28},
      {BthOpcode::kUdSendOnly, kHasDeth, 8},
      {BthOpcode::kUdSendOnlyImm, kHasDeth | kHasImmDt, 12},
      {BthOpcode::kXrcWriteOnlyImm, kHasXrcEth | kHasReth | kHasImmDt, 24},
      {BthOpcode::kXrcAcknowledge, kHasAeth, 4},
      {BthOpcode::kCnp, 0, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.opcode));
    EXPECT_EQ(opcode_info(row.opcode).headers, row.headers);
    EXPECT_EQ(opcode_info(row.opcode).bytes, row.bytes);
  }
}

TEST(Opcode, IsReservedWhereTheServiceHasNoSuchOperation) {
  for (const int value : {0x15, 0x18, 0x2c, 0x31, 0x36, 0x60, 0x6a, 0x80, 0xb5, 0xc0, 0xff}) {
    EXPECT_EQ(opcode_info(static_cast<BthOpcode>(value)).operation, Operation::kNone) << value;
  }
}

TEST(Opcode, SaysWhereAMessageStartsAndEnds) {
  EXPECT_TRUE(opcode_info(BthOpcode::kUcSendFirst).starts);
  EXPECT_FALSE(opcode_info(BthOpcode::kUcSendFirst).ends);
  EXPECT_FALSE(opcode_info(BthOpcode::kRcWriteMiddle).starts);
  EXPECT_TRUE(opcode_info(BthOpcode::kRcWriteLastImm).ends);
  EXPECT_TRUE(opcode_info(BthOpcode::kRcReadRequest).starts);
  EXPECT_TRUE(opcode_info(BthOpcode::kRcReadResponseOnly).response);
}

TEST(Psn, WrapsAt24Bits) {
  EXPECT_EQ(psn_add(0xff'ffff, 1), 0u);
  EXPECT_EQ(psn_add(0, -1), 0xff'ffffu);
  EXPECT_EQ(psn_distance(0xff'fffe, 3), 5);
  EXPECT_EQ(psn_distance(3, 0xff'fffe), -5);
  EXPECT_EQ(psn_distance(0, 0x7f'ffff), 0x7f'ffff);
  EXPECT_EQ(psn_distance(0, 0x80'0000), -0x80'0000);
  EXPECT_TRUE(psn_before(0xff'ffff, 0));
  EXPECT_FALSE(psn_before(5, 5));
  EXPECT_TRUE(psn_within(1, 0xff'fff0, 2));
  EXPECT_FALSE(psn_within(3, 0xff'fff0, 2));
}

TEST(Syndrome, TellsAckFromNak) {
  EXPECT_EQ(syndrome_kind(ack_syndrome(kNoCredits)), SyndromeKind::kAck);
  EXPECT_EQ(syndrome_kind(0x2c), SyndromeKind::kRnrNak);
  EXPECT_EQ(syndrome_value(0x2c), 12);
  EXPECT_EQ(rnr_syndrome(12), 0x2c);
  EXPECT_EQ(syndrome_kind(nak_syndrome(NakCode::kRemoteAccess)), SyndromeKind::kNak);
  EXPECT_EQ(syndrome_kind(0x40), SyndromeKind::kReserved);
  EXPECT_EQ(syndrome_kind(0x9f), SyndromeKind::kReserved);
}

TEST(Syndrome, CodesCreditsDownwards) {
  EXPECT_EQ(credits_of(9), 24u);
  EXPECT_EQ(credits_of(30), 32768u);
  EXPECT_EQ(credit_code_for(0), 0);
  EXPECT_EQ(credit_code_for(5), 4);
  EXPECT_EQ(credit_code_for(1'000'000), 30);
  for (std::uint32_t credits = 0; credits <= 40'000; ++credits) {
    const std::uint8_t code = credit_code_for(credits);
    ASSERT_LE(credits_of(code), credits);
    const std::uint32_t more = code == 30 ? ~0u : credits_of(static_cast<std::uint8_t>(code + 1));
    ASSERT_GT(more, credits);
  }
  for (std::uint8_t code = 0; code <= 30; ++code) {
    EXPECT_EQ(credit_code_for(credits_of(code)), code);
  }
}

TEST(Syndrome, CodesRnrTimersUpwards) {
  EXPECT_EQ(rnr_timer(0), 655'360 * kMicrosecond);
  EXPECT_EQ(rnr_timer(31), 491'520 * kMicrosecond);
  EXPECT_EQ(rnr_timer_code_for(0), 1);
  EXPECT_EQ(rnr_timer_code_for(641 * kMicrosecond), 13);
  EXPECT_EQ(rnr_timer_code_for(kSecond), 0);
  for (std::uint8_t code = 0; code <= 31; ++code) {
    EXPECT_EQ(rnr_timer_code_for(rnr_timer(code)), code);
  }
}

}  // namespace
}  // namespace hcasim::hw
