// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/tracepoint_requests.hpp"

#include <algorithm>

#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "hcasim/rvt/ib_enums.hpp"

namespace hcasim::sim {
namespace {

// Bytes of inline data that a queue pair of a trace takes where its line says nothing: the default
// of `max_inline_data=`.
constexpr std::uint64_t kMostInline = 64;

// Immediate data: the sender's tracepoint does not have it, the receiver's does. Operands: none
// has them.
void set_operands(Operation& line, hw::WrOpcode opcode, const SeenReceive* receive) {
  switch (opcode) {
    case hw::WrOpcode::kSendWithImm:
    case hw::WrOpcode::kRdmaWriteWithImm:
      line.set(Arg::kImm, receive != nullptr ? receive->imm.value_or(0) : 0);
      return;
    case hw::WrOpcode::kAtomicCmpAndSwp:
      line.set(Arg::kCompare, 0);
      line.set(Arg::kSwap, 0);
      return;
    case hw::WrOpcode::kAtomicFetchAndAdd:
      line.set(Arg::kAdd, 1);
      return;
    default:
      return;
  }
}

void set_flags(Operation& line, const SeenPost& post) {
  if ((post.send_flags & rvt::IB_SEND_SIGNALED) == 0) line.flags |= kUnsignaled;
  if ((post.send_flags & rvt::IB_SEND_FENCE) != 0) line.flags |= kFence;
  if ((post.send_flags & rvt::IB_SEND_SOLICITED) != 0) line.flags |= kSolicited;
  const bool fits = post.length <= kMostInline;
  if ((post.send_flags & rvt::IB_SEND_INLINE) != 0 && fits) line.flags |= kInline;
}

}  // namespace

void set_buffer(Operation& line, NameId mr, std::uint64_t length, std::uint64_t offset) {
  length = std::min(length, kMaxLength);
  if (length != 0) line.add_sge({mr, static_cast<std::uint32_t>(length), offset});
}

void fill_request(Operation& line, const PlannedSend& send, const SeenReceive* receive,
                  const RegionNames& regions) {
  const SeenPost& post = *send.post;
  line.opcode = static_cast<SendOpcode>(post.opcode);
  set_flags(line, post);
  if (!hw::is_local(post.opcode)) set_buffer(line, regions.buffers, post.length, 0);
  set_operands(line, post.opcode, receive);
  if (!hw::has_remote_address(post.opcode)) return;
  const bool refused = send.spoilt == Spoilt::kNoRights;
  line.set(Arg::kRemoteMr, refused ? regions.no_rights : regions.buffers);
  line.set(Arg::kRemoteOffset, send.spoilt == Spoilt::kMisaligned ? 1 : 0);
}

void fill_made_up(Operation& line, const SeenReceive& receive, bool datagram,
                  const RegionNames& regions) {
  line.opcode = receive.write         ? SendOpcode::kRdmaWriteWithImm
                : receive.invalidates ? SendOpcode::kSendWithInv
                : receive.imm         ? SendOpcode::kSendWithImm
                                      : SendOpcode::kSend;
  std::uint64_t length = receive.length;
  if (datagram) length -= std::min<std::uint64_t>(length, hw::kGrhAreaBytes);
  set_buffer(line, regions.buffers, length, 0);
  const bool invalidates = line.opcode == SendOpcode::kSendWithInv;
  if (!invalidates && (receive.imm || receive.write)) line.set(Arg::kImm, receive.imm.value_or(0));
  if (!receive.write) return;
  line.set(Arg::kRemoteMr, regions.buffers);
  line.set(Arg::kRemoteOffset, 0);
}

}  // namespace hcasim::sim
