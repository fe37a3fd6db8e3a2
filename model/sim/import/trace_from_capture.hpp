// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <hcasim/sim/trace.hpp>
#include "sim/import/capture_analysis.hpp"

/// From what a capture says to a trace that does it again.
namespace hcasim::sim {

/// When receives are posted.
enum class ReceivePolicy : std::uint8_t {
  kAhead,   ///< before they are needed
  kAsSeen,  ///< late for messages that met RNR NAKs, so that there are as many again
};

/// When sends are posted.
enum class TimingPolicy : std::uint8_t {
  kCaptured,  ///< when their first packet was captured
  kAsap,      ///< after what was seen to be complete before them, without think time
};

/// What a capture cannot tell, and how it is to be taken. Each is an `assume` line of the trace.
struct ImportOptions {
  ReceivePolicy receives = ReceivePolicy::kAhead;
  TimingPolicy timing = TimingPolicy::kCaptured;
  std::uint64_t max_send_wr = 128;   ///< depth of each send queue
  std::uint64_t max_recv_wr = 128;   ///< depth of each receive queue
  std::uint64_t receive_length = 0;  ///< bytes of each receive; 0: the longest message of the QP
  std::uint64_t mtu = 1024;          ///< bytes, of connections without a message of two packets
  std::uint64_t timeout = 14;        ///< local ACK timeout code
  std::uint64_t retry_cnt = 7;       ///< retries without answer
  std::uint64_t rnr_retry = 7;       ///< retries after RNR NAK; 7: without end
  std::uint64_t min_rnr_timer = 12;  ///< code, of QPs without an RNR NAK in the capture
  std::uint64_t max_rd_atomic = 16;  ///< READs and atomics in flight
  std::uint64_t lead_ns = 100'000;   ///< nanoseconds from the epoch to the first send
  std::uint64_t tick_ps = 1000;      ///< of tracepoints whose clock has no unit
};

/// Sets one of the numbers above. `setting` is KEY=VALUE with the names of the members.
/// @throws InputError for an unknown key or a value out of range
void set_assumption(ImportOptions& options, std::string_view setting);

/// The options as `assume` lines, each with the option of `hcasim import` that changes it, and what
/// else a trace of a capture takes for granted.
std::vector<Assumption> list_assumptions(const ImportOptions& options);

/// The same for a trace of tracepoints.
std::vector<Assumption> list_tracepoint_assumptions(const ImportOptions& options);

/// What came of a conversion.
struct ImportResult {
  std::uint64_t nodes = 0;
  std::uint64_t connections = 0;
  std::uint64_t sends = 0;     ///< post_send lines: complete and refused messages
  std::uint64_t receives = 0;  ///< post_recv lines
  std::uint64_t left_out = 0;  ///< messages that are unfinished or of other services
};

/// Writes the trace. Nothing is left at `trace` unless all of it is written.
/// @throws OutputError
ImportResult trace_from_capture(const CaptureAnalysis& analysis, const ImportOptions& options,
                                const std::filesystem::path& trace);

}  // namespace hcasim::sim
