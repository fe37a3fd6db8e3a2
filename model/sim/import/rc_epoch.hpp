// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/import/message.hpp"
#include "sim/import/psn_line.hpp"

namespace hcasim::sim {

/// The PSNs that one request packet stands for: its own, or those of the responses to a READ.
struct RequestPiece {
  LinePsn first;
  LinePsn last;
  const SeenPacket* packet;
};

/// An answer and the place of its PSN.
struct Answer {
  LinePsn psn;
  const SeenPacket* packet;
};

/// The requests of one flow, and the answers to them, from one use of its queue pairs: collects
/// packets as they were captured, then finds out what became of every message.
class RcEpoch {
 public:
  RcEpoch(const Flow& requests, const Ends& ends) : flow_(&requests), ends_(ends) {}

  /// True when a request with this PSN cannot belong here.
  bool is_far(std::uint32_t psn) const { return line_.is_far(psn); }

  /// @return false for a retransmission: the PSN was seen before
  bool add_request(const SeenPacket& packet);
  void add_answer(const SeenPacket& packet);

  /// Adds all messages, and the packets that fit none, to the analysis.
  void settle(CaptureAnalysis& analysis) const;

 private:
  /// PSNs that a request takes up.
  LinePsn span_of(const SeenPacket& packet) const;

  const Flow* flow_;
  Ends ends_;
  PsnLine line_;
  std::vector<RequestPiece> pieces_;  // sorted by PSN, apart from each other
  std::vector<Answer> answers_;       // in the order of the capture
};

}  // namespace hcasim::sim
