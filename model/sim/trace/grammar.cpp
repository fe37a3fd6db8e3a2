// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/grammar.hpp"

#include <algorithm>
#include <limits>

namespace hcasim::sim::trace {
namespace {

constexpr std::uint64_t k24 = (1U << 24) - 1;
constexpr std::uint64_t k32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t k64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kWrs = 65535;
constexpr Arg kElsewhere = Arg::kCount;

// Argument, its text, spelling, place in Operation, range, meaning of absence, help.
constexpr KeyRow kKeys[] = {
    {"bytes", "length", Kind::kNumber, Arg::kLength, 0, kMaxLength, 0, "size in bytes"},
    {"access", "access", Kind::kAccess, Arg::kAccess, 0, kAllAccess, kAllAccess, "rights"},
    {"iova", "iova", Kind::kHex, Arg::kIova, 0, k64, 0,
     "address of its first byte for peers; absent: chosen by the driver"},
    {"memory", "memory", Kind::kMemory, Arg::kMemory, 0, k64, 0,
     "memory to register instead of new memory: bytes of an MR of a node in the same host"},
    {"cqe", "cqe", Kind::kNumber, Arg::kCqe, 1, 4194303, 16384, "entries of the CQ"},
    {"comp_vector", "comp_vector", Kind::kNumber, Arg::kVector, 0, 255, 0,
     "completion vector of the CQ"},
    {"cq_count", "cq_count", Kind::kNumber, Arg::kCqCount, 0, 65535, 0,
     "completions that an armed CQ waits for before its event; 0 none"},
    {"cq_period", "cq_period", Kind::kNumber, Arg::kCqPeriod, 0, 65535, 0,
     "us after the first of them at which the event comes anyhow; 0 at once"},
    {"type", "type", Kind::kServiceType, Arg::kType, 0, 0,
     static_cast<std::uint64_t>(ServiceType::kRc), "service type: RC, UC or UD"},
    {"send_cq", "send_cq", Kind::kCq, Arg::kSendCq, 0, 0, 0, "CQ of the send queue"},
    {"recv_cq", "recv_cq", Kind::kCq, Arg::kRecvCq, 0, 0, 0, "CQ of the receive queue"},
    {"max_send_wr", "max_send_wr", Kind::kNumber, Arg::kMaxSendWr, 0, kWrs, 128,
     "depth of the send queue"},
    {"max_recv_wr", "max_recv_wr", Kind::kNumber, Arg::kMaxRecvWr, 0, kWrs, 128,
     "depth of the receive queue"},
    {"max_send_sge", "max_send_sge", Kind::kNumber, Arg::kMaxSendSge, 0, kMaxSges, 4,
     "SGEs of a send"},
    {"max_recv_sge", "max_recv_sge", Kind::kNumber, Arg::kMaxRecvSge, 0, kMaxSges, 4,
     "SGEs of a receive"},
    {"max_inline_data", "max_inline_data", Kind::kNumber, Arg::kMaxInlineData, 0, 65535, 64,
     "bytes of an inline send"},
    {"sq_sig_all", "sq_sig_all", Kind::kNumber, Arg::kSqSigAll, 0, 1, 0,
     "1: every send makes a CQE, whatever its flags"},
    {"srq", "srq", Kind::kSrq, Arg::kSrq, 0, 0, 0,
     "where receives come from, in place of a queue of its own; of `connect` at each node that has "
     "an SRQ of this name"},
    {"max_wr", "max_wr", Kind::kNumber, Arg::kMaxWr, 0, kWrs, 128, "depth of the SRQ"},
    {"max_sge", "max_sge", Kind::kNumber, Arg::kMaxSge, 0, kMaxSges, 4,
     "SGEs of a receive of the SRQ"},
    {"srq_limit", "srq_limit", Kind::kNumber, Arg::kSrqLimit, 0, kWrs, 0,
     "event once fewer receives remain; 0 none"},
    {"mr_length", "mr_length", Kind::kNumber, Arg::kMrLength, 1, kMaxLength, 16777216,
     "size in bytes of the default MR where it is made"},
    {"state", "state", Kind::kState, Arg::kState, 0, 0, 0, "state to go to"},
    {"cur_state", "cur_state", Kind::kState, Arg::kCurState, 0, 0, 0, "state it is believed in"},
    {"mtu", "mtu", Kind::kMtu, Arg::kMtu, 0, 0, 1024, "path MTU in bytes"},
    {"path_mtu", "path_mtu", Kind::kMtu, Arg::kMtu, 0, 0, 1024, "path MTU in bytes"},
    {"dest", "dest", Kind::kDest, Arg::kDest, 0, 0, 0,
     "peer: its QP number and its address (dest_qp_num, ah_attr); of a UD QP where its sends go"},
    {"qp_access_flags", "qp_access_flags", Kind::kAccess, Arg::kAccess, 0, kAllAccess, kAllAccess,
     "rights"},
    {"psn", "psn", Kind::kPsnPair, Arg::kPsn, 0, k24, 0, "first PSN of each direction"},
    {"sq_psn", "sq_psn", Kind::kNumber, Arg::kSqPsn, 0, k24, 0, "first PSN to send"},
    {"rq_psn", "rq_psn", Kind::kNumber, Arg::kRqPsn, 0, k24, 0, "first PSN expected"},
    {"timeout", "timeout", Kind::kNumber, Arg::kTimeout, 0, 31, 14,
     "local ACK timeout: 4.096 us * 2^timeout, 0 none"},
    {"retry_cnt", "retry_cnt", Kind::kNumber, Arg::kRetryCnt, 0, 7, 7, "retries without an answer"},
    {"rnr_retry", "rnr_retry", Kind::kNumber, Arg::kRnrRetry, 0, 7, 7,
     "retries after RNR NAKs, 7 without end"},
    {"min_rnr_timer", "min_rnr_timer", Kind::kNumber, Arg::kMinRnrTimer, 0, 31, 12,
     "code of the pause asked for by RNR NAKs"},
    {"max_rd_atomic", "max_rd_atomic", Kind::kNumber, Arg::kMaxRdAtomic, 0, 255, 16,
     "READs and atomics in flight as requester; of `connect` also as responder"},
    {"max_dest_rd_atomic", "max_dest_rd_atomic", Kind::kNumber, Arg::kMaxDestRdAtomic, 0, 255, 16,
     "READs and atomics in flight as responder"},
    {"pkey_index", "pkey_index", Kind::kNumber, Arg::kPkeyIndex, 0, 65535, 0,
     "index into the P_Key table"},
    {"port_num", "port_num", Kind::kNumber, Arg::kPort, 1, 255, 1,
     "port of the adapter; of `connect` at both ends"},
    {"qkey", "qkey", Kind::kHex, Arg::kQkey, 0, k32, 0,
     "Q_Key of a UD QP, for what comes and what it sends"},
    {"gid", "gid", Kind::kGid, Arg::kGid, 0, 0, 0, "multicast group"},
    {"dest_group", "dest_group", Kind::kGid, Arg::kGid, 0, 0, 0,
     "multicast group that the sends of a UD QP go to, in place of a peer"},
    {"mr", "mr", Kind::kMr, Arg::kMr, 0, 0, 0, "MR made by `alloc_mr`"},
    {"length", "length", Kind::kDataLength, kElsewhere, 0, kMaxLength, 0,
     "that many bytes of the default MR, from its start"},
    {"sge", "sge", Kind::kSges, kElsewhere, 0, 0, 0, "buffer in pieces"},
    {"remote", "remote", Kind::kRemote, Arg::kRemoteMr, 0, k64, 0, "place at the peer"},
    {"remote_addr", "remote_addr", Kind::kHex, Arg::kRemoteAddr, 0, k64, 0,
     "raw address, in place of that of `remote`"},
    {"rkey", "rkey", Kind::kHex, Arg::kRkey, 0, k32, 0, "raw key, in place of that of `remote`"},
    {"imm", "imm", Kind::kHex, Arg::kImm, 0, k32, 0, "immediate data"},
    {"invalidate", "invalidate", Kind::kMrOrPeerMr, Arg::kInvalidate, 0, 0, 0,
     "MR to invalidate: of the peer, for LOCAL_INV of the node itself"},
    {"compare", "compare", Kind::kNumber, Arg::kCompare, 0, k64, 0, "value compared with"},
    {"swap", "swap", Kind::kNumber, Arg::kSwap, 0, k64, 0, "value put in its place"},
    {"add", "add", Kind::kNumber, Arg::kAdd, 0, k64, 0, "value added"},
    {"wr_id", "wr_id", Kind::kNumber, Arg::kWrId, 0, k64, 0,
     "identifier in the completion; absent: chosen by the replay"},
    {"at", "at", Kind::kAt, kElsewhere, 0, 0, 0, "not before this time since the epoch"},
    {"after", "after", Kind::kAfter, kElsewhere, 0, 0, 0,
     "not before the completion of an earlier operation of the node"},
    {"label", "label", Kind::kLabel, kElsewhere, 0, 0, 0, "name of this operation for `after`"},
};
static_assert(std::size(kKeys) <= kMaxKeys);

constexpr std::size_t find_key(std::string_view id) {
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    if (kKeys[i].id == id) return i;
  }
  return kMaxKeys;
}

// From a list of ids with a blank between them. A wrong id is an error of the compiler.
consteval KeySet keys(std::string_view list) {
  KeySet set;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    set.insert(find_key(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return set;
}

constexpr KeySet kNone{};
constexpr KeySet kTimes = keys("at after label");
constexpr KeySet kBuffer = keys("length sge");
constexpr KeySet kQpCaps =
    keys("type max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data sq_sig_all srq");

constexpr VerbRow kVerbRows[] = {
    {"connect", Verb::kConnect, Role::kCreates, ObjectKind::kQp, kNone,
     kQpCaps | keys("mtu psn timeout retry_cnt rnr_retry min_rnr_timer max_rd_atomic access cqe "
                    "mr_length qkey port_num"),
     kNone, 0,
     "on both nodes: the CQ `cq` and the MR `mr` with all rights if missing, a QP, all states up "
     "to RTS; UD QPs send to each other"},
    {"reg_mr", Verb::kRegMr, Role::kCreates, ObjectKind::kMr, keys("bytes"),
     kTimes | keys("access iova memory"), kNone, 0, "registers memory"},
    {"alloc_mr", Verb::kAllocMr, Role::kCreates, ObjectKind::kMr, keys("bytes"), kTimes, kNone, 0,
     "makes an MR of at most that size, to be registered by a REG_MR"},
    {"dereg_mr", Verb::kDeregMr, Role::kDestroys, ObjectKind::kMr, kNone, kTimes, kNone, 0,
     "deregisters memory; lines that follow may still name it, to see them fail"},
    {"create_cq", Verb::kCreateCq, Role::kCreates, ObjectKind::kCq, kNone,
     kTimes | keys("cqe comp_vector cq_count cq_period"), kNone, 0, "makes a CQ"},
    {"modify_cq", Verb::kModifyCq, Role::kUses, ObjectKind::kCq, keys("cq_count cq_period"), kTimes,
     kNone, 0, "moderates the events of a CQ"},
    {"resize_cq", Verb::kResizeCq, Role::kUses, ObjectKind::kCq, keys("cqe"), kTimes, kNone, 0,
     "gives a CQ another size; what it holds stays"},
    {"destroy_cq", Verb::kDestroyCq, Role::kDestroys, ObjectKind::kCq, kNone, kTimes, kNone, 0,
     "destroys a CQ"},
    {"create_qp", Verb::kCreateQp, Role::kCreates, ObjectKind::kQp, keys("send_cq recv_cq"),
     kTimes | kQpCaps, kNone, 0, "makes a QP in state RESET"},
    {"modify_qp", Verb::kModifyQp, Role::kUses, ObjectKind::kQp, kNone,
     kTimes | keys("state cur_state path_mtu dest qp_access_flags sq_psn rq_psn timeout retry_cnt "
                   "rnr_retry min_rnr_timer max_rd_atomic max_dest_rd_atomic pkey_index port_num "
                   "qkey dest_group"),
     kNone, 0, "sets what is given and nothing else"},
    {"destroy_qp", Verb::kDestroyQp, Role::kDestroys, ObjectKind::kQp, kNone, kTimes, kNone, 0,
     "destroys a QP"},
    {"post_send", Verb::kPostSend, Role::kUses, ObjectKind::kQp, kNone, kTimes | keys("wr_id"),
     kNone, 0, "posts the work request of the given opcode"},
    {"post_recv", Verb::kPostRecv, Role::kUses, ObjectKind::kQp, kNone, kTimes | keys("wr_id"),
     kBuffer, kMore, "posts a receive"},
    {"req_notify_cq", Verb::kReqNotifyCq, Role::kUses, ObjectKind::kCq, kNone, kTimes, kNone,
     kSolicited | kMissedEvents, "arms a CQ for one event"},
    {"create_srq", Verb::kCreateSrq, Role::kCreates, ObjectKind::kSrq, kNone,
     kTimes | keys("max_wr max_sge srq_limit"), kNone, 0, "makes an SRQ"},
    {"modify_srq", Verb::kModifySrq, Role::kUses, ObjectKind::kSrq, kNone,
     kTimes | keys("max_wr srq_limit"), kNone, 0,
     "sets what is given; with a limit above 0 its label completes at the event"},
    {"destroy_srq", Verb::kDestroySrq, Role::kDestroys, ObjectKind::kSrq, kNone, kTimes, kNone, 0,
     "destroys an SRQ"},
    {"post_srq_recv", Verb::kPostSrqRecv, Role::kUses, ObjectKind::kSrq, kNone,
     kTimes | keys("wr_id"), kBuffer, kMore, "posts a receive to an SRQ"},
    {"attach_mcast", Verb::kAttachMcast, Role::kUses, ObjectKind::kQp, keys("gid"), kTimes, kNone,
     0,
     "attaches a UD QP to a group: it gets a copy of what is sent there, its own sends included"},
    {"detach_mcast", Verb::kDetachMcast, Role::kUses, ObjectKind::kQp, keys("gid"), kTimes, kNone,
     0, "detaches it"},
};
static_assert(std::size(kVerbRows) == kVerbs);

constexpr std::uint32_t kAnySend = kUnsignaled | kFence | kMore;
constexpr std::uint32_t kAnyMessage = kAnySend | kSolicited | kInline;
constexpr KeySet kPlace = keys("remote");
constexpr KeySet kRaw = keys("remote_addr rkey");

constexpr OpcodeRow kOpcodes[] = {
    {"SEND", SendOpcode::kSend, kNone, kNone, kBuffer, kNone, kNone, kAnyMessage,
     "message into a receive"},
    {"SEND_WITH_IMM", SendOpcode::kSendWithImm, keys("imm"), kNone, kBuffer, kNone, kNone,
     kAnyMessage, "the same with immediate data"},
    {"SEND_WITH_INV", SendOpcode::kSendWithInv, kNone, kNone, kBuffer, keys("invalidate"),
     keys("rkey"), kAnyMessage, "the same; the peer invalidates an MR, named or by raw key"},
    {"RDMA_WRITE", SendOpcode::kRdmaWrite, kNone, kNone, kBuffer, kPlace, kRaw, kAnySend | kInline,
     "writes to the peer's memory"},
    {"RDMA_WRITE_WITH_IMM", SendOpcode::kRdmaWriteWithImm, keys("imm"), kNone, kBuffer, kPlace,
     kRaw, kAnyMessage, "the same, and completes a receive of the peer"},
    {"RDMA_READ", SendOpcode::kRdmaRead, kNone, kNone, kBuffer, kPlace, kRaw, kAnySend,
     "reads from the peer's memory"},
    {"ATOMIC_CMP_AND_SWP", SendOpcode::kAtomicCmpAndSwp, keys("compare swap"), kNone, kBuffer,
     kPlace, kRaw, kAnySend, "compares 8 bytes of the peer, swaps if equal, returns the old ones"},
    {"ATOMIC_FETCH_AND_ADD", SendOpcode::kAtomicFetchAndAdd, keys("add"), kNone, kBuffer, kPlace,
     kRaw, kAnySend, "adds to 8 bytes of the peer, returns the old ones"},
    {"LOCAL_INV", SendOpcode::kLocalInv, keys("invalidate"), kNone, kNone, kNone, kNone, kAnySend,
     "invalidates an MR of the node"},
    {"REG_MR", SendOpcode::kRegMr, keys("mr"), keys("bytes access iova"), kNone, kNone, kNone,
     kAnySend, "registers an MR made by alloc_mr; without length all of it"},
};

constexpr std::uint64_t kMtuList[] = {256, 512, 1024, 2048, 4096};

constexpr WordRow kAccessWords[] = {
    {"all", kAllAccess, "all four"},
    {"none", 0, "local reading only"},
    {"local_write", kLocalWrite, "the adapter may write for the node"},
    {"remote_write", kRemoteWrite, "peers may write"},
    {"remote_read", kRemoteRead, "peers may read"},
    {"remote_atomic", kRemoteAtomic, "peers may do atomics"},
};

constexpr WordRow kStates[] = {
    {"RESET", 0, ""}, {"INIT", 1, ""}, {"RTR", 2, ""}, {"RTS", 3, ""},
    {"SQD", 4, ""},   {"SQE", 5, ""},  {"ERR", 6, ""},
};

constexpr WordRow kServiceTypes[] = {
    {"RC", 2, "reliable connection"},
    {"UC", 3, "unreliable connection"},
    {"UD", 4, "unreliable datagram"},
};

constexpr WordRow kFlagWords[] = {
    {"unsignaled", kUnsignaled, "no CQE when it succeeds"},
    {"fence", kFence, "waits for earlier READs and atomics of the queue"},
    {"solicited", kSolicited, "solicited event at the peer; `req_notify_cq`: only for such"},
    {"inline", kInline, "the data travels inside the work request"},
    {"more", kMore, "the node's next post to this queue is in the same list: one doorbell"},
    {"missed_events", kMissedEvents, "report completions that came before the arming"},
};

constexpr auto kDefaults = [] {
  std::array<std::uint64_t, kArgs> table{};
  for (const KeyRow& row : kKeys) {
    if (row.arg != kElsewhere) table[static_cast<std::size_t>(row.arg)] = row.initial;
  }
  return table;
}();

template <typename Rows>
std::string word_list(const Rows& rows) {
  std::string text;
  for (const WordRow& row : rows) (text += text.empty() ? "" : ", ") += row.word;
  return text;
}

}  // namespace

std::span<const KeyRow> key_rows() {
  return kKeys;
}
std::span<const VerbRow> verb_rows() {
  return kVerbRows;
}
std::span<const OpcodeRow> opcode_rows() {
  return kOpcodes;
}
std::span<const std::uint64_t> mtus() {
  return kMtuList;
}
std::span<const WordRow> access_words() {
  return kAccessWords;
}
std::span<const WordRow> state_words() {
  return kStates;
}
std::span<const WordRow> service_types() {
  return kServiceTypes;
}
std::span<const WordRow> flag_words() {
  return kFlagWords;
}

std::size_t key_index(std::string_view id) {
  return find_key(id);
}

const VerbRow& verb_row(Verb verb) {
  return kVerbRows[static_cast<std::size_t>(verb)];
}

const OpcodeRow* opcode_row(SendOpcode opcode) {
  for (const OpcodeRow& row : kOpcodes) {
    if (row.opcode == opcode) return &row;
  }
  return nullptr;
}

std::string_view word_of(std::span<const WordRow> words, std::uint64_t value) {
  for (const WordRow& row : words) {
    if (row.value == value) return row.word;
  }
  return {};
}

std::string_view kind_name(ObjectKind kind) {
  constexpr std::string_view kNames[] = {"object", "MR", "CQ", "QP", "SRQ"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string describe_value(const KeyRow& row) {
  switch (row.kind) {
    case Kind::kNumber:
    case Kind::kHex:
    case Kind::kDataLength: {
      const bool whole_width = row.max == k64 || (row.kind == Kind::kHex && row.max == k32);
      if (whole_width) return row.max == k64 ? "a number of 64 bits" : "a number of 32 bits";
      return "a number from " + std::to_string(row.min) + " to " + std::to_string(row.max);
    }
    case Kind::kMtu:
      return "256, 512, 1024, 2048 or 4096";
    case Kind::kAccess:
      return "rights (" + word_list(kAccessWords) + ") with commas between";
    case Kind::kServiceType:
      return "a service type (" + word_list(kServiceTypes) + ")";
    case Kind::kState:
      return "a QP state (" + word_list(kStates) + ")";
    case Kind::kCq:
      return "a CQ of the node";
    case Kind::kMr:
      return "an MR of the node";
    case Kind::kMrOrPeerMr:
      return "an MR";
    case Kind::kSrq:
      return "an SRQ of the node";
    case Kind::kDest:
      return "NODE.QP";
    case Kind::kGid:
      return "an IPv6 address in ff00::/8, such as ff0e::1";
    case Kind::kPsnPair:
      return "two numbers X,Y from 0 to " + std::to_string(row.max);
    case Kind::kMemory:
      return "NODE.MR:OFFSET, or NODE.MR for offset 0";
    case Kind::kRemote:
      return "MR:OFFSET of the peer, or MR alone for offset 0";
    case Kind::kSges:
      return "MR:OFFSET:LENGTH, 1 to " + std::to_string(kMaxSges) + " with commas";
    case Kind::kLabel:
      return "a name";
    case Kind::kAt:
      return "a time such as 12.5us (ns, us, ms, s; whole picoseconds; 1000000s at most)";
    case Kind::kAfter:
      return "LABEL or LABEL+TIME, such as ping+500ns";
  }
  return {};
}

}  // namespace hcasim::sim::trace

namespace hcasim::sim {

std::uint64_t default_value(Arg arg) {
  return trace::kDefaults[static_cast<std::size_t>(arg)];
}

}  // namespace hcasim::sim
