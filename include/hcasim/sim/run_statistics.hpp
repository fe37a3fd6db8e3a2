// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wqe.hpp"

/// What a run leaves behind as numbers. All of it follows from the trace, the configuration and the
/// seed alone: nothing here depends on the machine or on how the run was carried out.
namespace hcasim::sim {

/// Time from posting a send work request to polling its completion, over those messages that
/// succeeded and had a completion of their own. Unsignaled messages are left out: nobody learns
/// when they end.
struct LatencySummary {
  std::uint64_t count = 0;  ///< messages measured; the times mean nothing when it is 0
  hw::Time min = 0;         ///< exact
  hw::Time mean = 0;        ///< exact, rounded to a picosecond
  hw::Time p50 = 0;         ///< nearest rank, within 0.1 %
  hw::Time p99 = 0;         ///< nearest rank, within 0.1 %
  hw::Time p999 = 0;        ///< nearest rank, within 0.1 %
  hw::Time max = 0;         ///< exact
};

/// How many messages ended with one error status.
struct StatusCount {
  hw::WcStatus status = hw::WcStatus::kSuccess;  ///< never success and never a flush
  std::uint64_t messages = 0;                    ///< at least 1
};

/// The messages of one node with one opcode, by their ends.
struct OpcodeStatistics {
  hw::WrOpcode opcode = hw::WrOpcode::kSend;
  std::uint64_t completed = 0;      ///< succeeded, signaled or not
  std::uint64_t failed = 0;         ///< ended with an error other than a flush
  std::uint64_t flushed = 0;        ///< ended with IB_WC_WR_FLUSH_ERR
  std::uint64_t unfinished = 0;     ///< still under way when the run or the QP ended
  std::uint64_t bytes = 0;          ///< payload of the completed ones; 8 for each atomic
  std::vector<StatusCount> errors;  ///< the failed ones, in order of status
  LatencySummary latency;
};

/// One node's part.
struct NodeStatistics {
  std::string name;
  std::string host;                          ///< the node whose host it shares; empty: its own
  std::vector<OpcodeStatistics> opcodes;     ///< that were posted, in order of their value
  std::uint64_t local_operations = 0;        ///< LOCAL_INV and REG_MR that succeeded
  std::uint64_t local_operations_ended = 0;  ///< those that failed, were flushed or never ended
  std::uint64_t receives_completed = 0;      ///< receive completions polled with success
  std::uint64_t receives_failed = 0;         ///< with an error other than a flush
  std::uint64_t receives_flushed = 0;        ///< with IB_WC_WR_FLUSH_ERR
  std::uint64_t received_bytes = 0;          ///< by successful receive completions
};

/// The kinds of queue whose filling is watched; each is the sum over all such queues of a node.
enum class QueueKind : std::uint8_t {
  kReceive,        ///< receive work requests from posting to the poll of their completion
  kSend,           ///< send work requests from posting to the poll that retires them
  kCompletion,     ///< completions from being visible in host memory to being polled
  kSharedReceive,  ///< as kReceive, of SRQs; only where receives were posted to one
};

/// How full queues were over the time of the run.
struct OccupancyStatistics {
  std::string node;
  QueueKind queue = QueueKind::kReceive;
  std::uint64_t mean_thousandths = 0;  ///< time-weighted mean in 1/1000 entries, rounded
  std::uint64_t p99 = 0;               ///< entries, not exceeded in 99 % of the time
  std::uint64_t max = 0;               ///< entries, over levels that lasted at least 1 ps
  std::uint64_t empty_millionths = 0;  ///< share of the time with no entry at all, in 1/1000000
};

/// How busy a part of a node was.
struct Utilisation {
  std::string node;
  std::string resource;  ///< such as `wire`, `pcie_up`, `pcie_down`, or the name of a unit
  double share = 0;      ///< of the time of the run, 0..1
};

/// One event counter of one unit.
struct Counter {
  std::string node;
  std::string unit;
  std::string name;  ///< as mlx5, rdmavt or the specification call it
  std::uint64_t value = 0;
};

/// All that can be counted of a run.
struct RunStatistics {
  std::uint64_t messages_completed = 0;
  std::uint64_t messages_failed = 0;      ///< without flushes
  std::uint64_t messages_flushed = 0;     ///< ended with IB_WC_WR_FLUSH_ERR
  std::uint64_t messages_unfinished = 0;  ///< still under way when the run or the QP ended
  std::uint64_t bytes_delivered = 0;      ///< payload of completed messages
  hw::Time sim_time = 0;                  ///< from the epoch to the end of the run
  hw::Time first_post = 0;                ///< since the epoch; 0 without messages
  hw::Time last_completion = 0;           ///< since the epoch; 0 when none completed
  LatencySummary latency;
  std::vector<NodeStatistics> nodes;  ///< in the order in which they were added
  std::vector<OccupancyStatistics> occupancy;
  std::vector<Utilisation> utilisation;  ///< filled in by who assembled the system
  std::vector<Counter> counters;         ///< filled in by who assembled the system
  hw::Time measured_from = 0;            ///< since the epoch: what was before is in no number here
  std::uint64_t seed = 0;                ///< filled in by who started the run
  bool partial = false;                  ///< the run was cut short; filled in by who cut it

  /// Time over which throughput is taken: from the first post to the last completion.
  hw::Time active_time() const {
    return last_completion > first_post ? last_completion - first_post : 0;
  }
};

}  // namespace hcasim::sim
