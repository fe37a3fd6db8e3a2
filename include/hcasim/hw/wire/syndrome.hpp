// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "hcasim/hw/time.hpp"

/// The syndrome byte of the AETH: what kind of answer it is, and a value of five bits
/// (InfiniBand specification 9.7.5.1).
namespace hcasim::hw {

/// The three top bits of a syndrome.
enum class SyndromeKind : std::uint8_t {
  kAck = 0x00,     ///< value: credit code
  kRnrNak = 0x20,  ///< value: RNR timer code
  kReserved = 0x40,
  kNak = 0x60,  ///< value: reason
};

/// The whole syndrome of each NAK that is not RNR.
enum class NakCode : std::uint8_t {
  kPsnSequence = 0x60,
  kInvalidRequest = 0x61,
  kRemoteAccess = 0x62,
  kRemoteOperational = 0x63,
  kInvalidRdRequest = 0x64,
};

/// Low five bits of a syndrome.
inline constexpr std::uint8_t kSyndromeValueMask = 0x1f;

/// Credit code of a responder that gives no credit information, as one on an SRQ always does.
inline constexpr std::uint8_t kNoCredits = 0x1f;

/// Receive WQEs by credit code 0..30: what a responder announces in an ACK.
inline constexpr std::array<std::uint16_t, 31> kCreditTable{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

/// RNR NAK waiting times by timer code 0..31, in units of 10 microseconds. Code 0 is the longest.
inline constexpr std::array<std::uint32_t, 32> kRnrTimerTable{
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

/// What kind of answer a syndrome is. The top bit is reserved and makes it kReserved.
constexpr SyndromeKind syndrome_kind(std::uint8_t syndrome) {
  return (syndrome & 0x80) != 0 ? SyndromeKind::kReserved
                                : static_cast<SyndromeKind>(syndrome & 0x60);
}

/// Credit code, RNR timer code or reason, 0..31.
constexpr std::uint8_t syndrome_value(std::uint8_t syndrome) {
  return syndrome & kSyndromeValueMask;
}

/// The syndrome of an ACK. @param credit_code 0..30, or kNoCredits
constexpr std::uint8_t ack_syndrome(std::uint8_t credit_code) {
  return credit_code & kSyndromeValueMask;
}

/// The syndrome of an RNR NAK. @param timer_code 0..31
constexpr std::uint8_t rnr_syndrome(std::uint8_t timer_code) {
  return static_cast<std::uint8_t>(0x20 | (timer_code & kSyndromeValueMask));
}

/// The syndrome of a NAK.
constexpr std::uint8_t nak_syndrome(NakCode code) {
  return static_cast<std::uint8_t>(code);
}

/// Receive WQEs that a credit code stands for. @param credit_code 0..30
constexpr std::uint32_t credits_of(std::uint8_t credit_code) {
  return kCreditTable[credit_code];
}

/// The code of the largest number of credits that is not above `credits`, 0..30.
constexpr std::uint8_t credit_code_for(std::uint32_t credits) {
  if (credits >= kCreditTable.back()) return 30;
  if (credits < 2) return static_cast<std::uint8_t>(credits);
  // From 2 on there are two codes for each power of two: that, and half as much again.
  const int power = std::bit_width(credits) - 1;
  return static_cast<std::uint8_t>(2 * power + static_cast<int>(credits >> (power - 1) & 1));
}

/// How long an RNR NAK asks the requester to wait. @param timer_code 0..31
constexpr Time rnr_timer(std::uint8_t timer_code) {
  return Time{kRnrTimerTable[timer_code & kSyndromeValueMask]} * 10 * kMicrosecond;
}

/// The code of the shortest waiting time that is not below `wait`; above all of them code 0.
constexpr std::uint8_t rnr_timer_code_for(Time wait) {
  for (std::uint8_t code = 1; code <= kSyndromeValueMask; ++code) {
    if (rnr_timer(code) >= wait) return code;
  }
  return 0;
}

static_assert(credit_code_for(5) == 4 && credit_code_for(6) == 5 && credit_code_for(32767) == 29);
static_assert(rnr_timer(1) == 10 * kMicrosecond && rnr_timer(12) == 640 * kMicrosecond);

}  // namespace hcasim::hw
