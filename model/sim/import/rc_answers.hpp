// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/import/rc_messages.hpp"

namespace hcasim::sim {

/// Applies the answers of a responder, in the order of the capture, to the messages of its
/// requester.
class RcAnswers {
 public:
  /// @param pieces the requests, sorted by PSN
  /// @param messages joined from them; their outcome is set here
  RcAnswers(const std::vector<RequestPiece>& pieces, std::vector<RcMessage>& messages,
            CaptureAnalysis& analysis)
      : pieces_(pieces), messages_(messages), analysis_(analysis) {}

  void apply(const Answer& answer);

 private:
  bool answers_something(const Answer& answer) const;
  RcMessage* message_with(LinePsn psn);
  void acknowledge(LinePsn up_to, hw::Time time);
  void complete(RcMessage& message, hw::Time time);
  void apply_acknowledge(const Answer& answer);
  void apply_rnr_nak(const Answer& answer);
  void apply_nak(const Answer& answer);
  void apply_read_response(const Answer& answer);
  void apply_atomic_response(const Answer& answer);

  const std::vector<RequestPiece>& pieces_;
  std::vector<RcMessage>& messages_;
  CaptureAnalysis& analysis_;
  std::size_t next_ = 0;      // the first message that no ACK has passed
  std::size_t accepted_ = 0;  // the first whose first packet no ACK has passed
};

/// Counts an answer's NAK by its kind; nothing for an ACK.
void count_nak(const SeenPacket& packet, NakCounts& naks);

}  // namespace hcasim::sim
