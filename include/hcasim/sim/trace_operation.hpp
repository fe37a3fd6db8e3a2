// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hcasim/hw/time.hpp>
#include <hcasim/sim/name_table.hpp>

namespace hcasim::sim {

/// What a line of a trace does. Apart from kConnect each is a verbs call of that name.
enum class Verb : std::uint8_t {
  kConnect,      ///< CQ and MR if missing, a QP on each of two nodes, both up to RTS; UD QPs send
                 ///< to each other
  kRegMr,        ///< register memory
  kAllocMr,      ///< make an MR that a REG_MR work request will register
  kDeregMr,      ///< deregister memory
  kCreateCq,     ///< make a CQ
  kModifyCq,     ///< moderate the events of a CQ
  kResizeCq,     ///< give a CQ another size
  kDestroyCq,    ///< destroy a CQ
  kCreateQp,     ///< make a QP, state RESET
  kModifyQp,     ///< move a QP through its states and set its attributes
  kDestroyQp,    ///< destroy a QP
  kPostSend,     ///< one work request on a send queue
  kPostRecv,     ///< one work request on a receive queue
  kReqNotifyCq,  ///< arm a CQ for an event
  kCreateSrq,    ///< make an SRQ
  kModifySrq,    ///< give an SRQ another size or limit
  kDestroySrq,   ///< destroy an SRQ
  kPostSrqRecv,  ///< one work request on an SRQ
  kAttachMcast,  ///< attach a UD QP to a multicast group
  kDetachMcast,  ///< detach it
};
/// Number of verbs.
inline constexpr std::size_t kVerbs = 20;
/// True for verbs that post a work request.
constexpr bool is_post(Verb verb) {
  return verb == Verb::kPostSend || verb == Verb::kPostRecv || verb == Verb::kPostSrqRecv;
}

/// Opcode of a send work request; the values are those of the kernel's ib_wr_opcode.
enum class SendOpcode : std::uint8_t {
  kRdmaWrite = 0,
  kRdmaWriteWithImm = 1,
  kSend = 2,
  kSendWithImm = 3,
  kRdmaRead = 4,
  kAtomicCmpAndSwp = 5,
  kAtomicFetchAndAdd = 6,
  kLocalInv = 7,
  kSendWithInv = 9,
  kRegMr = 32,
};

/// Service type of a QP; the values are those of the kernel's ib_qp_type.
enum class ServiceType : std::uint8_t { kRc = 2, kUc = 3, kUd = 4 };

/// State of a QP; the values are those of the kernel's ib_qp_state.
enum class QpState : std::uint8_t {
  kReset = 0,
  kInit = 1,
  kRtr = 2,
  kRts = 3,
  kSqd = 4,
  kSqe = 5,
  kErr = 6,
};

/// Rights of an MR or a QP, one bit each; the values are those of the kernel's ib_access_flags.
enum AccessFlag : std::uint32_t {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
  kAllAccess = 15,
};

/// Words without a value at the end of a line, one bit each.
enum OperationFlag : std::uint32_t {
  kUnsignaled = 1,     ///< post_send: no CQE on success (unless the QP signals all)
  kFence = 2,          ///< post_send: waits for earlier READs and atomics
  kSolicited = 4,      ///< post_send: solicited event at the peer; req_notify_cq: only such events
  kInline = 8,         ///< post_send: data inside the WQE
  kMore = 16,          ///< posts: the node's next post to this queue is in the same list
  kMissedEvents = 32,  ///< req_notify_cq: ask for completions that came before the arming
};

/// The argument of a line that has a value. All are unsigned integers inside; a name is its NameId.
enum class Arg : std::uint8_t {
  // Memory regions
  kLength,        ///< reg_mr, alloc_mr, REG_MR: bytes
  kAccess,        ///< bits of AccessFlag
  kIova,          ///< address that peers use for byte 0 of the MR; absent: the driver's choice
  kMemory,        ///< reg_mr: memory of an MR: high 32 bits NameId of its node, in the same host,
                  ///< low 32 bits NameId of the MR
  kMemoryOffset,  ///< first byte of it; present whenever kMemory is
  // Completion queues
  kCqe,       ///< entries
  kVector,    ///< completion vector
  kCqCount,   ///< completions that an event waits for; 0: one
  kCqPeriod,  ///< us that it waits for them
  // Queue pairs
  kType,           ///< a ServiceType
  kSendCq,         ///< NameId of a CQ
  kRecvCq,         ///< NameId of a CQ
  kMaxSendWr,      ///< work requests
  kMaxRecvWr,      ///< work requests
  kMaxSendSge,     ///< SGEs a work request
  kMaxRecvSge,     ///< SGEs a work request
  kMaxInlineData,  ///< bytes
  kSqSigAll,       ///< 1: every send makes a CQE
  kSrq,            ///< NameId of an SRQ; connect: of each node that has one of this name
  kMrLength,       ///< connect: bytes of the default MR where it is made
  // Shared receive queues
  kMaxWr,     ///< work requests
  kMaxSge,    ///< SGEs a work request
  kSrqLimit,  ///< event when fewer remain; 0 none
  // Attributes of a QP
  kState,            ///< a QpState to go to
  kCurState,         ///< a QpState that the caller claims
  kMtu,              ///< path MTU in bytes, 256 to 4096
  kDest,             ///< peer QP: high 32 bits NameId of the node, low 32 bits NameId of the QP
  kPsn,              ///< connect: first PSN of the first endpoint
  kPsnPeer,          ///< connect: first PSN of the second endpoint
  kSqPsn,            ///< first PSN to send
  kRqPsn,            ///< first PSN expected
  kTimeout,          ///< local ACK timeout code, 0 to 31: 4.096 us * 2^code, 0 none
  kRetryCnt,         ///< 0 to 7
  kRnrRetry,         ///< 0 to 7; 7 without end
  kMinRnrTimer,      ///< RNR timer code, 0 to 31
  kMaxRdAtomic,      ///< READs and atomics in flight as requester
  kMaxDestRdAtomic,  ///< READs and atomics in flight as responder
  kPkeyIndex,        ///< index into the P_Key table
  kPort,             ///< port number from 1
  kQkey,             ///< 32 bits
  kGid,              ///< multicast group: high 64 bits of its GID; modify_qp: where sends go
  kGidLow,           ///< the low 64 bits; present whenever kGid is
  // Work requests
  kWrId,          ///< 64 bits; absent: the replayer's choice
  kRemoteMr,      ///< NameId of an MR of the peer node
  kRemoteOffset,  ///< byte of that MR; present whenever kRemoteMr is
  kRemoteAddr,    ///< raw remote address, in place of the one that follows from kRemoteMr
  kRkey,          ///< raw remote key, in place of the one of kRemoteMr
  kImm,           ///< immediate data, 32 bits
  kInvalidate,    ///< NameId of an MR: the peer's (SEND_WITH_INV), the node's own (LOCAL_INV)
  kMr,            ///< REG_MR: NameId of an MR made by alloc_mr
  kCompare,       ///< 64 bits
  kSwap,          ///< 64 bits
  kAdd,           ///< 64 bits
  kCount,         ///< number of arguments, not one of them
};
/// Number of arguments.
inline constexpr std::size_t kArgs = static_cast<std::size_t>(Arg::kCount);

/// The value that a new object has where the line that makes it (`connect`, `create_qp`,
/// `create_cq`, `reg_mr`) does not give the argument; 0 where there is no such value. `modify_qp`
/// in contrast sets what Operation::has() tells and leaves the rest as it is. Source: the grammar's
/// table, printed in traces/README.md.
std::uint64_t default_value(Arg arg);

/// When an operation may begin.
enum class Timing : std::uint8_t {
  kAsap,   ///< as soon as its queue has room; a control operation after the node's previous one
  kAt,     ///< not before the time Operation::time since the epoch
  kAfter,  ///< not before Operation::time after the completion of the operation labelled `after`
};

/// A part of a local buffer.
struct Sge {
  NameId mr = kNoName;       ///< MR of the node
  std::uint32_t length = 0;  ///< bytes
  std::uint64_t offset = 0;  ///< first byte within the MR

  friend bool operator==(const Sge&, const Sge&) = default;
};

/// Most SGEs a line may have; one more than a receive queue takes, so that refusal can be traced.
inline constexpr std::size_t kMaxSges = 32;
/// Largest length of a work request and of a memory region in bytes: 2 GiB.
inline constexpr std::uint64_t kMaxLength = std::uint64_t{1} << 31;

/// Longest time of an `at=` or `after=`: eleven days. Sums of several stay below hw::kNever.
inline constexpr hw::Time kLongestTime = 1'000'000 * hw::kSecond;

/// Name of the CQ that `connect` makes on a node that has none of this name.
inline constexpr const char* kDefaultCq = "cq";
/// Name of the MR that `connect` makes on a node that has none of this name, and to which the short
/// form `length=` refers, from its first byte on.
inline constexpr const char* kDefaultMr = "mr";

/// One line of a trace. Plain and flat: a reader fills the same object again and again without
/// touching the heap. Arguments that a line does not have are absent, never 0.
class Operation {
 public:
  Verb verb = Verb::kConnect;             ///< what to do
  SendOpcode opcode = SendOpcode::kSend;  ///< kPostSend only
  Timing timing = Timing::kAsap;          ///< when to begin
  std::uint32_t flags = 0;                ///< bits of OperationFlag
  NameId node = kNoName;                  ///< who does it; of connect the first endpoint's node
  NameId object = kNoName;                ///< the MR, CQ or QP; of connect the first QP
  NameId peer_node = kNoName;             ///< connect: the second endpoint's node
  NameId peer_object = kNoName;           ///< connect: the second endpoint's QP
  NameId label = kNoName;                 ///< name of this operation, or kNoName
  NameId after = kNoName;                 ///< kAfter: label on the same node
  hw::Time time = 0;                      ///< kAt: since the epoch; kAfter: delay; picoseconds
  std::uint64_t line = 0;                 ///< where it stands in the trace, from 1

  /// True when the line gives `arg`.
  bool has(Arg arg) const { return (present_ >> static_cast<unsigned>(arg) & 1) != 0; }
  /// The value of `arg`, or default_value(arg) when the line does not give it.
  std::uint64_t value(Arg arg) const {
    return has(arg) ? values_[static_cast<std::size_t>(arg)] : default_value(arg);
  }
  /// Gives `arg` a value.
  void set(Arg arg, std::uint64_t value) {
    values_[static_cast<std::size_t>(arg)] = value;
    present_ |= std::uint64_t{1} << static_cast<unsigned>(arg);
  }
  /// True when `flag` stands on the line.
  bool flag(OperationFlag flag) const { return (flags & flag) != 0; }

  /// The local buffer, in order; empty for zero bytes.
  std::span<const Sge> sges() const { return {sges_.data(), sge_count_}; }
  /// Sum of the lengths of the SGEs in bytes.
  std::uint64_t length() const {
    std::uint64_t sum = 0;
    for (const Sge& sge : sges()) sum += sge.length;
    return sum;
  }
  /// Appends an SGE. @return false when there are kMaxSges already
  bool add_sge(const Sge& sge) {
    if (sge_count_ == kMaxSges) return false;
    sges_[sge_count_++] = sge;
    return true;
  }

  /// Makes this an operation without object, arguments, flags, SGEs, label and time.
  void reset(Verb new_verb);
  /// True when both mean the same; the line number is not looked at.
  bool same_as(const Operation& other) const;

 private:
  static_assert(kArgs <= 64, "one bit an argument");
  std::uint64_t present_ = 0;
  std::array<std::uint64_t, kArgs> values_{};
  std::uint32_t sge_count_ = 0;
  std::array<Sge, kMaxSges> sges_{};
};

}  // namespace hcasim::sim
