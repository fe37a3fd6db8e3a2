// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/layout.hpp"

/// Completion-queue and event-queue elements.
namespace hcasim::hw {

/// Completion opcodes: the values of enum ib_wc_opcode.
enum class WcOpcode : std::uint8_t {
  kSend = 0,
  kRdmaWrite = 1,
  kRdmaRead = 2,
  kCompSwap = 3,
  kFetchAdd = 4,
  kBindMw = 5,
  kLocalInv = 6,
  kRegMr = 8,
  kRecv = 128,
  kRecvRdmaWithImm = 129,
};

/// Completion status: the values of enum ib_wc_status.
enum class WcStatus : std::uint8_t {
  kSuccess = 0,
  kLocLenErr = 1,
  kLocQpOpErr = 2,
  kLocProtErr = 4,
  kWrFlushErr = 5,
  kBadRespErr = 7,
  kLocAccessErr = 8,
  kRemInvReqErr = 9,
  kRemAccessErr = 10,
  kRemOpErr = 11,
  kRetryExcErr = 12,
  kRnrRetryExcErr = 13,
  kFatalErr = 19,
  kGeneralErr = 21,
};

/// Completion flags: the values of enum ib_wc_flags.
enum CqeFlags : std::uint8_t {
  kCqeGrh = 1,
  kCqeWithImm = 2,
  kCqeWithInvalidate = 4,
};

/// A completion: 64 bytes. owner is 1 in the first lap of the ring, 0 in the second, and so on; the
/// ring starts zeroed, so a slot is new when its owner bit equals the lap's.
struct Cqe {
  std::uint64_t wr_id;  ///< of the receive WQE; 0 for sends
  std::uint32_t qpn;
  std::uint32_t src_qp;      ///< sender's QPN
  std::uint32_t byte_len;    ///< bytes of the message; of a datagram with the GRH's area before it
  std::uint32_t imm_or_key;  ///< immediate data, or the key that was invalidated
  std::uint32_t wqe_index;   ///< slot of the WQE in its ring; all earlier send slots are done too
  WcOpcode opcode;
  WcStatus status;
  std::uint8_t flags;        ///< CqeFlags
  std::uint8_t vendor_err;   ///< AETH syndrome that caused a remote error
  std::uint16_t pkey_index;  ///< of the P_Key that a datagram came with
  std::uint8_t reserved[29];
  std::uint8_t owner;
};
static_assert(sizeof(Cqe) == 64);

/// A receive WQE of a UD queue pair begins with room for the GRH; a datagram over IPv4 has its IPv4
/// header in the last 20 bytes of it.
inline constexpr std::uint32_t kGrhAreaBytes = 40;

/// What an event-queue element reports.
enum class EqeType : std::uint8_t {
  /// number: CQN, armed and something arrived; value: completions up to the last solicited or
  /// failed one, modulo 2^32
  kCompletion = 0,
  kCommandDone = 1,     ///< value: token of the mailbox; its status is in the mailbox
  kCqError = 2,         ///< number: CQN overflowed
  kQpError = 3,         ///< number: QPN went to ERR on its own; value: WcStatus
  kQpErrorDone = 4,     ///< number: QPN answered a QP-error doorbell; value: tail of its own RQ
  kQpAccessError = 5,   ///< number: QPN; refused remote access that no receive WQE can report
  kQpRequestError = 6,  ///< number: QPN; invalid request that no receive WQE can report
  kCommEst = 7,         ///< number: QPN; first packet in RTR
  kSrqLimit = 8,        ///< number: receive queue; value: arm number
  /// Answer to a take doorbell. number: SRQ; value: tag << 8 | hw::rq::TakeStatus; value2: slot.
  /// When it was granted, the WQE has been written to SrqContext::take_record before, so that the
  /// slot is free from then on.
  kTakeGrant = 9,
  kLastWqe = 10,            ///< number: QPN of an SRQ that reached its last WQE
  kReceiveQueueError = 11,  ///< number: receive queue; value: tail (BAD_DOORBELL, FETCH_ERROR)
  kSendQueueError = 12,     ///< number: QPN; a send WQE or doorbell that makes no sense
  kQpSendError = 13,        ///< number: QPN of UC or UD went to SQE on its own; value: WcStatus
  kPortState = 14,          ///< number: port, 1-based; value: 1 its link came up, 0 it went down
};

/// An event: 32 bytes. owner as in Cqe.
struct Eqe {
  EqeType type;
  std::uint8_t reserved0[3];
  std::uint32_t number;
  std::uint32_t value;
  std::uint32_t value2;
  std::uint8_t reserved1[15];
  std::uint8_t owner;
};
static_assert(sizeof(Eqe) == 32);

/// Where a CQ's or an EQ's consumer count lies in host memory. The adapter reads it when its ring
/// looks full, so that polling costs no MMIO.
struct ConsumerRecord {
  std::uint32_t count;  ///< entries consumed since creation, modulo 2^32
  std::uint32_t reserved;
};
static_assert(sizeof(ConsumerRecord) == 8);

/// Where the adapter reports the tail of a receive queue it owns, before the CQE of that slot.
struct TailRecord {
  std::uint32_t tail;
  std::uint32_t reserved;
};
static_assert(sizeof(TailRecord) == 8);

}  // namespace hcasim::hw
