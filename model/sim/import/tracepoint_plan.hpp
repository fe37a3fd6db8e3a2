// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What is to be done again of a machine's tracepoints: queue pairs with their peers, made up where
// the file has none, their sends, and the receives that these need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/trace_from_capture.hpp"
#include "sim/import/tracepoints.hpp"

namespace hcasim::sim {

/// Why a send is to fail, by the status that it had.
enum class Spoilt : std::uint8_t {
  kNothing,
  kNoRights,      ///< the peer's region gives no rights
  kMisaligned,    ///< an atomic at an odd address
  kShortReceive,  ///< one byte less than the message
  kBadReceive,    ///< the receive's buffer is outside its region
  kNoReceive,     ///< there is none, and retries are as many as were seen
  kNoAnswer,      ///< the peer is in error before
};

/// A label of the trace and who waits for it.
struct PlannedLabel {
  std::size_t uses = 0;
  std::size_t number = 0;
};

/// A send of the replay.
struct PlannedSend {
  const SeenPost* post = nullptr;  ///< null: made up, for `receive`
  const SeenReceive* receive = nullptr;
  hw::Time time = 0;                    ///< since the first event
  std::size_t receive_place = kNobody;  ///< of the receive it takes at the peer
  std::size_t mr = kNobody;             ///< REG_MR, LOCAL_INV, SEND_WITH_INV: of the fast regions
  Spoilt spoilt = Spoilt::kNothing;
  PlannedLabel label;
  CompletionPlace after;  ///< by end and place, for --timing asap
};

/// A receive of the replay.
struct PlannedReceive {
  std::uint64_t length = 0;
  std::optional<hw::Time> time;  ///< none: ahead
  bool bad = false;              ///< its buffer is outside its region
  PlannedLabel label;
};

/// A queue pair of the replay.
struct PlannedEnd {
  std::size_t qp = kNobody;  ///< of the analysis; kNobody: made up
  std::size_t peer = 0;      ///< another end
  std::size_t node = 0;      ///< index into TracepointPlan::nodes
  std::string name;
  std::vector<PlannedSend> sends;
  std::vector<PlannedReceive> receives;
  std::vector<std::size_t> registered_first;  ///< fast regions that something invalidates later
  std::optional<hw::Time> fails_at;           ///< goes to ERR by itself
};

/// A region that REG_MRs register.
struct FastRegion {
  std::size_t end = 0;  ///< whose REG_MRs
  bool valid = false;
};

/// A node of the replay.
struct PlannedNode {
  std::string name;
  std::string meaning;  ///< in words
};

/// All of it.
struct TracepointPlan {
  std::vector<PlannedNode> nodes;
  std::vector<PlannedEnd> ends;
  std::vector<FastRegion> regions;
  hw::Time start = 0;                ///< of the first send
  std::uint64_t made_up_peers = 0;   ///< ends
  std::uint64_t made_up_sends = 0;   ///< by them
  std::uint64_t unfinished = 0;      ///< posts left out for want of an end
  std::uint64_t not_repeated = 0;    ///< posts left out as no replay fails in their way
  std::uint64_t without_sender = 0;  ///< receives left out
  std::uint64_t idle = 0;            ///< queue pairs left out: nothing happened on them
};

/// @param analysis outlives the plan
TracepointPlan plan_tracepoints(const TracepointAnalysis& analysis, const ImportOptions& options);

}  // namespace hcasim::sim
