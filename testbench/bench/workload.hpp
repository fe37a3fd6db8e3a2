// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "hcasim/sim/trace_operation.hpp"

namespace hcasim::bench {

/// Traffic of one queue pair from node a to node b, as fast as depth and CPU allow.
struct Workload {
  std::string name;
  sim::SendOpcode opcode = sim::SendOpcode::kSend;
  std::uint32_t bytes = 64;
  bool inline_data = false;
  std::uint32_t depth = 128;
  std::uint32_t post_list = 1;      ///< work requests a call, both sides
  std::uint32_t cq_moderation = 1;  ///< every n-th send is signaled
  std::uint64_t messages = 0;
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

}  // namespace hcasim::bench
