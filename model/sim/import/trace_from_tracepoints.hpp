// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "sim/import/trace_from_capture.hpp"
#include "sim/import/tracepoints.hpp"

/// From the tracepoints of a machine to a trace that does it again.
namespace hcasim::sim {

/// What came of it.
struct TracepointImport {
  std::uint64_t nodes = 0;
  std::uint64_t connections = 0;
  std::uint64_t sends = 0;           ///< post_send lines of posts in the file
  std::uint64_t receives = 0;        ///< post_recv lines, all inferred
  std::uint64_t made_up_peers = 0;   ///< queue pairs whose peer is not in the file
  std::uint64_t made_up_sends = 0;   ///< post_send lines of such peers
  std::uint64_t unfinished = 0;      ///< posts left out for want of an end
  std::uint64_t not_repeated = 0;    ///< posts left out as no replay fails in their way
  std::uint64_t without_sender = 0;  ///< receives left out: the peer's post is not in the file
  std::uint64_t idle = 0;            ///< queue pairs left out
};

/// Writes the trace. Nothing is left at `trace` unless all of it is written.
/// @throws OutputError
TracepointImport trace_from_tracepoints(const TracepointAnalysis& analysis,
                                        const ImportOptions& options,
                                        const std::filesystem::path& trace);

}  // namespace hcasim::sim
