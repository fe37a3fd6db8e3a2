// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/rc_messages.hpp"

#include <utility>

namespace hcasim::sim {

namespace {

/// Walks over the request packets of one flow in the order of their PSNs.
class Assembler {
 public:
  Assembler(const Flow& flow, const Ends& ends, const std::vector<RequestPiece>& pieces)
      : flow_(flow), ends_(ends), pieces_(pieces) {}

  std::vector<RcMessage> run(Reasons& unexplained) {
    std::vector<RcMessage> messages;
    while (at_ < pieces_.size()) {
      if (here().packet->info().starts) {
        messages.push_back(take_message());
        losing_ = false;
      } else {
        losing_ = losing_ || follows_gap();
        if (!losing_) ++unexplained[kNoOpening];
        ++at_;
      }
    }
    return messages;
  }

 private:
  const RequestPiece& here() const { return pieces_[at_]; }

  /// A lost first packet explains the rest of its message; the beginning of a capture is no loss.
  bool follows_gap() const { return at_ > 0 && pieces_[at_ - 1].last + 1 < here().first; }

  RcMessage take_message() {
    const RequestPiece& opening = pieces_[at_++];
    RcMessage message;
    message.record = open_message(flow_, *opening.packet, ends_);
    message.first = opening.first;
    message.last = opening.last;
    message.end_seen = opening.packet->info().ends;
    const hw::Operation operation = opening.packet->info().operation;
    while (!message.end_seen && at_ < pieces_.size() && continues(operation)) take_packet(message);
    if (!message.end_seen && at_ < pieces_.size()) end_before_next(message);
    message.record.last_psn = static_cast<std::uint32_t>(message.last) & hw::kPsnMask;
    return message;
  }

  bool continues(hw::Operation operation) const {
    const hw::OpcodeInfo& info = here().packet->info();
    return !info.starts && info.operation == operation;
  }

  void take_packet(RcMessage& message) {
    const RequestPiece& piece = pieces_[at_++];
    add_missing(piece.first - message.last - 1, message);
    if (counts_payload(message)) message.record.bytes += piece.packet->payload;
    message.last = piece.last;
    message.end_seen = piece.packet->info().ends;
    if (message.end_seen) close_message(flow_, *piece.packet, message.record);
  }

  /// The end was not captured: it lies right before the next packet, if there is room for it.
  void end_before_next(RcMessage& message) {
    const LinePsn missing = here().first - message.last - 1;
    if (missing == 0) return;
    add_missing(missing, message);
    message.last += missing;
    message.end_seen = true;
  }

  /// Packets that the capture lacks are taken for full ones.
  void add_missing(LinePsn packets, RcMessage& message) const {
    if (counts_payload(message)) {
      message.record.bytes += static_cast<std::uint64_t>(packets) * ends_.path_mtu;
    }
  }

  /// The length of an RDMA WRITE is in its first packet; that of a SEND is a sum.
  static bool counts_payload(const RcMessage& message) {
    return message.record.opcode == hw::WrOpcode::kSend;
  }

  const Flow& flow_;
  const Ends& ends_;
  const std::vector<RequestPiece>& pieces_;
  std::size_t at_ = 0;
  bool losing_ = false;  // in the rest of a message whose first packet was lost
};

}  // namespace

std::vector<RcMessage> assemble_messages(const Flow& flow, const Ends& ends,
                                         const std::vector<RequestPiece>& pieces,
                                         Reasons& unexplained) {
  return Assembler(flow, ends, pieces).run(unexplained);
}

}  // namespace hcasim::sim
