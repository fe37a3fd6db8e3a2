// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wqe.hpp"
#include "sim/ftrace/parse.hpp"

/// What the tracepoints of a machine with rdmavt say about the work requests on it.
namespace hcasim::sim {

/// No queue pair, post or receive.
inline constexpr std::size_t kNobody = ~std::size_t{0};

/// A completion, by queue pair and its place among what was posted or received there.
struct CompletionPlace {
  std::size_t qp = kNobody;
  std::size_t index = kNobody;
  bool receive = false;
};

/// A send work request: one rvt_post_one_wr. Times count from the first event.
struct SeenPost {
  hw::WrOpcode opcode = hw::WrOpcode::kSend;
  hw::Time time = 0;
  std::uint64_t wr_id = 0;
  std::uint32_t length = 0;            ///< bytes
  std::uint32_t send_flags = 0;        ///< ib_send_flags
  std::uint32_t psn = 0;               ///< first one, 24 bits
  std::uint32_t packets = 0;           ///< PSNs that it takes
  std::uint32_t slot = 0;              ///< of the send queue
  bool ended = false;                  ///< an event, or one of a later post, says that it is done
  std::optional<hw::WcStatus> status;  ///< of its completion
  hw::Time completed = 0;              ///< when that was entered
  std::uint32_t rnr_waits = 0;         ///< how often it waited for a receive
  hw::Time last_rnr = 0;               ///< when it last began to
  std::size_t receive = kNobody;       ///< of the peer, where that is known
  CompletionPlace after;               ///< the latest completion of its device before it

  bool failed() const {
    return status && *status != hw::WcStatus::kSuccess && *status != hw::WcStatus::kWrFlushErr;
  }
  bool flushed() const { return status && *status == hw::WcStatus::kWrFlushErr; }
};

/// A completed receive: one rvt_cq_enter.
struct SeenReceive {
  hw::Time time = 0;
  hw::WcStatus status = hw::WcStatus::kSuccess;
  std::uint32_t length = 0;  ///< bytes; of a datagram with the GRH's 40
  bool write = false;        ///< of an RDMA WRITE with immediate data
  bool grh = false;
  bool invalidates = false;
  std::optional<std::uint32_t> imm;
  std::size_t post = kNobody;  ///< of the peer, where that is known
};

/// One life of a queue pair.
struct SeenQp {
  std::size_t device = 0;
  std::uint32_t qpn = 0;
  std::uint32_t type = 0;  ///< ib_qp_type; 0: nothing in the file tells
  std::uint32_t size = 0;  ///< slots of the send queue; 0: not known
  bool all_signaled = false;
  std::uint32_t rnr_us = 0;  ///< what its peer made it wait last; 0: never
  std::vector<SeenPost> posts;
  std::vector<SeenReceive> receives;
  std::size_t peer = kNobody;
  bool uncertain = false;  ///< another queue pair would do for a peer as well

  // While reading.
  std::size_t open = 0;        ///< oldest post without completion
  std::size_t done = kNobody;  ///< post of the latest send completion
};

/// All that an import finds.
struct TracepointAnalysis {
  ftrace::Form form = ftrace::Form::kKernel;
  std::map<std::string, std::uint64_t> events;  ///< by name; known ones
  std::uint64_t unknown_events = 0;
  std::uint64_t lost = 0;         ///< events that the tracer lost, as far as it says
  std::uint64_t lost_places = 0;  ///< where it did
  std::uint64_t cut_lines = 0;    ///< the first or last line is not whole
  std::uint64_t steps_back = 0;   ///< times before that of the line above, taken for that
  bool ticks = false;             ///< the clock has no unit
  std::uint32_t longest_cq = 0;   ///< entries; 0: not known
  std::vector<std::string> devices;
  std::vector<SeenQp> qps;
  std::uint64_t orphans = 0;       ///< completions of sends that were posted before the file begins
  std::uint64_t not_modelled = 0;  ///< posts of other opcodes and services
  std::uint64_t acknowledge_timeouts = 0;
};

/// How to read.
struct TracepointOptions {
  std::uint64_t tick_ps = 1000;  ///< of a clock without unit
};

/// True when the file begins as one of the three forms does.
bool is_tracepoint_text(const std::filesystem::path& path);

/// Reads tracepoints and finds posts, completions and peers in them.
/// @param name stands for the file in errors
/// @throws InputError
TracepointAnalysis analyse_tracepoints(const std::filesystem::path& path, const std::string& name,
                                       const TracepointOptions& options);

/// Finds peers: whose sends match whose receives, in order, kind and length. For
/// analyse_tracepoints().
void pair_queue_pairs(TracepointAnalysis& analysis);

}  // namespace hcasim::sim
