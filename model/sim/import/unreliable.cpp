// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/unreliable.hpp"

#include <optional>
#include <utility>

#include "sim/import/message.hpp"
#include "sim/import/psn_line.hpp"

namespace hcasim::sim {

namespace {

/// Recognises packets that were seen before, also across several uses of the queue pairs.
class Duplicates {
 public:
  /// @return where the packet lies, nothing when it was seen before
  std::optional<LinePsn> place(std::uint32_t psn) {
    if (line_.is_far(psn)) *this = Duplicates();
    gap_ = line_.started() && line_.place(psn) != line_.highest() + 1;
    const LinePsn at = line_.place(psn);
    line_.raise(at);
    if (!seen_.insert(at)) return std::nullopt;
    return at;
  }

  /// True when the packet last placed did not follow the one before it.
  bool gap() const { return gap_; }

 private:
  PsnLine line_;
  SeenPsns seen_;
  bool gap_ = false;
};

/// Follows the packets of a UC flow as a receiver does: a gap loses the message it lies in.
class UcReceiver {
 public:
  UcReceiver(const Flow& flow, const Ends& ends, CaptureAnalysis& analysis)
      : flow_(flow), ends_(ends), analysis_(analysis) {}
  ~UcReceiver() { give_up(); }
  UcReceiver(const UcReceiver&) = delete;
  UcReceiver& operator=(const UcReceiver&) = delete;

  void take(const SeenPacket& packet) {
    const std::optional<LinePsn> at = duplicates_.place(packet.psn);
    if (!at) {
      ++analysis_.retransmitted;
    } else {
      packet.info().starts ? open(packet) : go_on(packet);
    }
  }

 private:
  void open(const SeenPacket& packet) {
    give_up();
    losing_ = false;
    current_ = open_message(flow_, packet, ends_);
    operation_ = packet.info().operation;
    if (packet.info().ends) finish(packet);
  }

  void go_on(const SeenPacket& packet) {
    const bool in_order = current_ && packet.psn == hw::psn_add(current_->last_psn, 1) &&
                          packet.info().operation == operation_;
    if (!in_order) return lose();
    current_->last_psn = packet.psn;
    if (operation_ == hw::Operation::kSend) current_->bytes += packet.payload;
    if (!packet.info().ends) return;
    close_message(flow_, packet, *current_);
    finish(packet);
  }

  void finish(const SeenPacket& packet) {
    current_->outcome = MessageOutcome::kCompleted;
    current_->completed = packet.time;
    count_message(*std::exchange(current_, std::nullopt), analysis_);
  }

  /// A lost packet explains the rest of its message, its first packet included.
  void lose() {
    losing_ = losing_ || current_ || duplicates_.gap();
    if (!losing_) ++analysis_.unexplained[kNoOpening];
    give_up();
  }

  void give_up() {
    if (current_) count_message(*std::exchange(current_, std::nullopt), analysis_);
  }

  const Flow& flow_;
  const Ends& ends_;
  CaptureAnalysis& analysis_;
  Duplicates duplicates_;
  std::optional<CapturedMessage> current_;
  hw::Operation operation_ = hw::Operation::kNone;
  bool losing_ = false;
};

}  // namespace

void analyse_unreliable(const Flow& flow, const Ends& ends, CaptureAnalysis& analysis) {
  UcReceiver receiver(flow, ends, analysis);
  for (const SeenPacket& packet : flow.packets) receiver.take(packet);
}

void analyse_datagrams(const Flow& flow, CaptureAnalysis& analysis) {
  const Ends ends = ends_of(flow, nullptr, flow.key.src_qp);
  Duplicates duplicates;
  for (const SeenPacket& packet : flow.packets) {
    if (!duplicates.place(packet.psn)) {
      ++analysis.retransmitted;
      continue;
    }
    CapturedMessage record = open_message(flow, packet, ends);
    record.outcome = MessageOutcome::kCompleted;
    record.completed = packet.time;
    count_message(std::move(record), analysis);
  }
}

}  // namespace hcasim::sim
