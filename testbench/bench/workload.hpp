// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/trace_operation.hpp"

namespace hcasim::bench {

/// What one node does: it posts receives, then sends and receives in turn, as fast as depth and CPU
/// allow. Each goes through its queues round robin, a post list at a time.
struct NodeTraffic {
  std::string name;
  std::vector<std::string> send_queues;
  std::vector<std::string> receive_queues;
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t receives_ahead = 0;  ///< posted before the first send
  hw::Time start_after = 0;          ///< for receivers to be ready
};

/// Traffic between nodes, all messages alike.
struct Workload {
  std::string name;
  std::uint64_t messages = 0;       ///< of all nodes
  std::vector<std::string> set_up;  ///< lines of a trace that make the nodes and queues
  std::vector<NodeTraffic> nodes;
  sim::SendOpcode opcode = sim::SendOpcode::kSend;
  std::uint32_t bytes = 64;
  std::uint32_t receive_bytes = 64;
  bool inline_data = false;
  std::uint32_t post_list = 1;      ///< work requests a call, both sides
  std::uint32_t cq_moderation = 1;  ///< every n-th send is signaled
  std::uint32_t read_ahead = 256;   ///< operations that a node looks at
};

/// What one run of a workload showed.
struct Outcome {
  double seconds = 0;
  double kernel_events_per_message = 0;
  double engine_events_per_message = 0;
  double allocations_per_message = 0;  ///< after the first 10 thousand
  double simulated_messages_per_second = 0;
  double peak_memory_mib = 0;
};

Outcome run_workload(const Workload& workload);

/// Resident memory of the process in bytes once the workload is set up and nothing is posted.
double resident_bytes_when_idle(const Workload& workload);

}  // namespace hcasim::bench
