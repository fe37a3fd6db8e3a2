// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/message.hpp"

#include <algorithm>
#include <utility>

namespace hcasim::sim {

namespace {

constexpr std::uint64_t kAtomicBytes = 8;

hw::WrOpcode opening_opcode(hw::Operation operation) {
  switch (operation) {
    case hw::Operation::kWrite:
      return hw::WrOpcode::kRdmaWrite;
    case hw::Operation::kReadRequest:
      return hw::WrOpcode::kRdmaRead;
    case hw::Operation::kCompareSwap:
      return hw::WrOpcode::kAtomicCmpAndSwp;
    case hw::Operation::kFetchAdd:
      return hw::WrOpcode::kAtomicFetchAndAdd;
    default:
      return hw::WrOpcode::kSend;
  }
}

void open_atomic(const hw::AtomicEth& atomic, CapturedMessage& record) {
  record.bytes = kAtomicBytes;
  record.remote_addr = atomic.addr;
  record.rkey = atomic.rkey;
  record.swap_add = atomic.swap_add;
  if (record.opcode == hw::WrOpcode::kAtomicCmpAndSwp) record.compare = atomic.compare;
}

void open_rdma(const hw::Reth& reth, CapturedMessage& record) {
  record.bytes = reth.length;
  record.remote_addr = reth.addr;
  record.rkey = reth.rkey;
}

}  // namespace

Ends ends_of(const Flow& requests, const Flow* answers, std::optional<std::uint32_t> sender) {
  Ends ends;
  ends.requester.address = requests.key.src;
  ends.responder = {requests.key.dst, requests.key.dest_qp};
  ends.path_mtu = requests.path_mtu();
  if (answers != nullptr) {
    sender = answers->key.dest_qp;
    ends.path_mtu = std::max(ends.path_mtu, answers->path_mtu());
  }
  ends.requester.qpn = sender.value_or(0);
  ends.requester_qpn_known = sender.has_value();
  return ends;
}

CapturedMessage open_message(const Flow& flow, const SeenPacket& packet, const Ends& ends) {
  CapturedMessage record;
  record.transport = flow.key.transport;
  record.opcode = opening_opcode(packet.info().operation);
  record.requester = ends.requester;
  record.requester_qpn_known = ends.requester_qpn_known;
  record.responder = ends.responder;
  record.path_mtu = ends.path_mtu;
  record.first_psn = record.last_psn = packet.psn;
  record.first_frame = packet.frame;
  record.first_packet = packet.time;
  const std::uint16_t headers = packet.info().headers;
  if (headers & hw::kHasAtomicEth) open_atomic(flow.details_of(packet).atomic, record);
  if (headers & hw::kHasReth) open_rdma(flow.details_of(packet).reth, record);
  if (headers & hw::kHasDeth) record.qkey = flow.details_of(packet).qkey;
  if (packet.info().operation == hw::Operation::kSend) record.bytes = packet.payload;
  if (packet.info().ends) close_message(flow, packet, record);
  return record;
}

void close_message(const Flow& flow, const SeenPacket& packet, CapturedMessage& record) {
  record.solicited = packet.solicited;
  const std::uint16_t headers = packet.info().headers;
  if (headers & hw::kHasImmDt) {
    record.imm = flow.details_of(packet).imm;
    record.opcode = record.opcode == hw::WrOpcode::kRdmaWrite ? hw::WrOpcode::kRdmaWriteWithImm
                                                              : hw::WrOpcode::kSendWithImm;
  }
  if (headers & hw::kHasIeth) {
    record.invalidate_rkey = flow.details_of(packet).invalidate_rkey;
    record.opcode = hw::WrOpcode::kSendWithInv;
  }
}

void count_message(CapturedMessage record, CaptureAnalysis& analysis) {
  switch (record.outcome) {
    case MessageOutcome::kCompleted:
      ++analysis.messages[record.opcode];
      analysis.bytes += record.bytes;
      break;
    case MessageOutcome::kRefused:
      ++analysis.refused;
      break;
    case MessageOutcome::kUnfinished:
      ++analysis.unfinished;
      break;
  }
  analysis.records.push_back(std::move(record));
}

}  // namespace hcasim::sim
