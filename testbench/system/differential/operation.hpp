// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "hcasim/rvt/ib_enums.hpp"

namespace hcasim::differential {

/// What a step of the sequence does. Each is a call of a verb but kQuiet, which lets the simulation
/// run until nothing moves any more.
enum class Kind : std::uint8_t {
  kCreateQp,
  kDestroyQp,
  kModifyQp,
  kQueryQp,
  kPostSend,
  kPostRecv,
  kPostSrqRecv,
  kPoll,
  kRefused,  ///< a control verb that has to be refused: see Refusal
  kArmCq,    ///< asks for a notification
  kArmSrq,   ///< sets the limit
  kResizeCq,
  kResizeSrq,
  kReregister,  ///< the slot's own region goes, and comes again under another key
  kQuiet,
};

/// What is wrong with a call; of a list with its last request.
enum class Flaw : std::uint8_t {
  kNone,
  kTooManySges,   ///< posts: refused
  kBadOpcode,     ///< sends: refused
  kLongInline,    ///< sends: refused
  kBadLkey,       ///< sends: refused; receives: found out by the message
  kBadRkey,       ///< or Q_Key; found out by the peer
  kMisaligned,    ///< a remote atomic; found out by the peer
  kTooLong,       ///< a SEND longer than any receive; found out by the peer
  kOmitted,       ///< modify: an attribute that is required is missing
  kForbidden,     ///< modify: an attribute that does not belong there
  kWrongCurrent,  ///< modify: claims a state that it is not in
  kUnknownBit,    ///< modify: a bit of the mask that nobody knows
};

/// By which key a request names memory: of all of a node, if not otherwise said.
enum class Key : std::uint8_t {
  kNode,
  kOwn,    ///< local: region of the slot
  kFast,   ///< of the peer: window that it registers and invalidates by REG_MR and LOCAL_INV
  kStale,  ///< the same by the key before
};

enum class Refusal : std::uint8_t {
  kEmptyCq,
  kCqInUse,
  kBadType,
  kTooManyWrs,
  kPdInUse,
  kEmptySrq,
  kSrqInUse,
  kCount,
};

/// One step: flat and self-contained, so that any of them can be left out.
struct Operation {
  Kind kind = Kind::kQuiet;
  Flaw flaw = Flaw::kNone;
  Key key = Key::kNode;
  std::uint8_t slot =
      0;  ///< queue pair; completion queue (of kPoll and others); Refusal (kRefused)
  std::uint8_t count = 1;  ///< requests of the list; completions asked for
  rvt::ib_qp_state to = rvt::IB_QPS_RESET;
  rvt::ib_wr_opcode opcode = rvt::IB_WR_SEND;
  bool unsignaled = false;
  bool solicited = false;  ///< sends; kArmCq: of solicited completions only
  bool racing =
      false;  ///< modify to ERR: `length` ns after the posts, instead of when all is quiet
  std::uint32_t id = 0;  ///< number in the first sequence, of which wr_ids are made
  /// Bytes of each request; modify: first PSN, where free; kArmSrq: the limit; kArmCq: odd: tell
  /// whether completions wait; a new size.
  std::uint32_t length = 0;
};

/// A pair of queue pairs, of which the ends are two neighbouring slots.
struct PairKind {
  const char* name;
  rvt::ib_qp_type type;
  std::array<std::uint8_t, 2> nodes;  ///< of either end; equal: looped back
  bool shared = false;                ///< the second end receives from the SRQ of node b
  std::uint8_t rnr_retry = 7;
};

inline constexpr std::array<PairKind, 9> kPairs = {{
    {"rc", rvt::IB_QPT_RC, {0, 1}},
    {"rc_more", rvt::IB_QPT_RC, {0, 1}},
    {"rc_srq", rvt::IB_QPT_RC, {0, 1}, true},
    {"uc", rvt::IB_QPT_UC, {0, 1}},
    {"loop", rvt::IB_QPT_RC, {0, 0}},
    {"loop_uc", rvt::IB_QPT_UC, {0, 0}},
    {"loop_srq", rvt::IB_QPT_RC, {1, 1}, true},
    {"rc_rnr", rvt::IB_QPT_RC, {0, 1}, false, 1},
    {"ud", rvt::IB_QPT_UD, {0, 1}},
}};
inline constexpr std::size_t kSlots = 2 * kPairs.size();
inline constexpr std::size_t kNodes = 2;

// Completion queues 2 n and 2 n + 1 are those of node n; one more takes the receives of the SRQ.
inline constexpr std::size_t kSharedCq = 4;
inline constexpr std::size_t kCqs = 5;
inline constexpr std::uint32_t kCqEntries = 8192;
/// More than can wait: no queue overflows.
inline constexpr std::uint32_t kLeastCqEntries = 6000;

inline constexpr std::uint32_t kSendSlots = 12;
inline constexpr std::uint32_t kReceiveSlots = 10;
inline constexpr std::uint32_t kSharedSlots = 24;
inline constexpr std::uint32_t kMostSharedSlots = 40;
inline constexpr std::uint32_t kMostSges = 2;
inline constexpr std::uint32_t kMostInline = 64;
inline constexpr std::uint32_t kMtu = 256;      // so that many messages are several packets
inline constexpr std::uint32_t kGrhBytes = 40;  // before the data of a datagram
inline constexpr std::uint8_t kMostInList = 4;

// Memory of a node: what is sent, then the areas of each slot, then those of the SRQ.
inline constexpr std::uint32_t kReceiveBytes = 2048;
inline constexpr std::uint32_t kBuffers = 64;  // receives that have an area of their own
inline constexpr std::uint32_t kSourceBytes = 64 * 1024;
inline constexpr std::uint32_t kWindowBytes = 4096;
inline constexpr std::uint32_t kReceiveArea = kBuffers * kReceiveBytes;
inline constexpr std::uint32_t kSlotBytes = 2 * kWindowBytes + kReceiveArea;
inline constexpr std::uint32_t kSharedArea = kSourceBytes + kSlots * kSlotBytes;
inline constexpr std::uint32_t kMemoryBytes = kSharedArea + kReceiveArea;

constexpr std::size_t peer_of(std::size_t slot) {
  return slot ^ 1;
}
constexpr const PairKind& pair_of(std::size_t slot) {
  return kPairs[slot / 2];
}
constexpr std::size_t node_of(std::size_t slot) {
  return pair_of(slot).nodes[slot & 1];
}
constexpr bool looped(std::size_t slot) {
  return pair_of(slot).nodes[0] == pair_of(slot).nodes[1];
}
constexpr bool reliable(std::size_t slot) {
  return pair_of(slot).type == rvt::IB_QPT_RC;
}
constexpr bool datagram(std::size_t slot) {
  return pair_of(slot).type == rvt::IB_QPT_UD;
}
constexpr bool uses_srq(std::size_t slot) {
  return pair_of(slot).shared && (slot & 1) == 1;
}
constexpr std::size_t send_cq_of(std::size_t slot) {
  return 2 * node_of(slot) + (slot / 2) % 2;
}
constexpr std::size_t recv_cq_of(std::size_t slot) {
  return uses_srq(slot) ? kSharedCq : send_cq_of(slot);
}
/// What the peer writes to and has its atomics in.
constexpr std::uint32_t window_of(std::size_t slot) {
  return kSourceBytes + static_cast<std::uint32_t>(slot) * kSlotBytes;
}
/// Where what this slot reads goes to.
constexpr std::uint32_t landing_of(std::size_t slot) {
  return window_of(slot) + kWindowBytes;
}
constexpr std::uint32_t receives_of(std::size_t slot) {
  return landing_of(slot) + kWindowBytes;
}

constexpr bool is_atomic(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_ATOMIC_CMP_AND_SWP || opcode == rvt::IB_WR_ATOMIC_FETCH_AND_ADD;
}
constexpr bool is_local(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_REG_MR || opcode == rvt::IB_WR_LOCAL_INV;
}
/// What ends in the window of the peer.
constexpr bool uses_window(rvt::ib_wr_opcode opcode) {
  return is_atomic(opcode) || opcode == rvt::IB_WR_RDMA_WRITE ||
         opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
}
constexpr bool is_send(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_SEND || opcode == rvt::IB_WR_SEND_WITH_IMM;
}
constexpr bool takes_receive(rvt::ib_wr_opcode opcode) {
  return is_send(opcode) || opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
}

constexpr bool by_window_key(const Operation& op) {
  return op.kind == Kind::kPostSend && (op.key == Key::kFast || op.key == Key::kStale);
}
/// Sends that carry their data with them need no key for it.
constexpr bool sent_inline(const Operation& op) {
  const bool lands = op.opcode == rvt::IB_WR_RDMA_READ || is_atomic(op.opcode);
  return op.length <= kMostInline && !lands && (op.id & 2) != 0;
}

inline constexpr std::uint64_t kSharedMark = 0xff;
inline constexpr unsigned kMarkShift = 56;  // of a wr_id: the slot above, or the mark
constexpr std::uint64_t wr_id_of(std::uint64_t mark, std::uint32_t id, std::uint32_t index) {
  return mark << kMarkShift | std::uint64_t{id} << 8 | index;
}

/// Part of the source area that a request sends or, of a READ, reads; a multiple of 8.
constexpr std::uint32_t source_of(std::uint32_t id, std::uint32_t index) {
  constexpr std::uint32_t kStep = 1016;
  return (id * kMostInList + index) * kStep % (kSourceBytes - 2 * kWindowBytes) / 8 * 8;
}

/// The sequence as a trace: what a trace can say as its lines, the rest as comments.
std::string to_trace(std::span<const Operation> sequence);

}  // namespace hcasim::differential
