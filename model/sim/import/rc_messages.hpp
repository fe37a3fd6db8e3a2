// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "sim/import/message.hpp"
#include "sim/import/rc_epoch.hpp"

namespace hcasim::sim {

/// A message of RC on its way to an outcome.
struct RcMessage {
  CapturedMessage record;
  LinePsn first = 0;
  LinePsn last = 0;       ///< of the requests, or of the responses to a READ
  bool end_seen = false;  ///< false: `last` is only the last one seen
  SeenPsns answered;      ///< READ: the responses seen

  bool contains(LinePsn psn) const { return first <= psn && psn <= last; }
  bool settled() const { return record.outcome != MessageOutcome::kUnfinished; }
  /// True for what is complete when a response of its own was seen: READ and atomics.
  bool needs_response() const { return hw::needs_response(record.opcode); }
};

/// Joins request packets to messages.
/// @param pieces sorted by PSN
/// @return sorted by PSN; without outcome yet
std::vector<RcMessage> assemble_messages(const Flow& flow, const Ends& ends,
                                         const std::vector<RequestPiece>& pieces,
                                         Reasons& unexplained);

}  // namespace hcasim::sim
