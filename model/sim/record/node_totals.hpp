// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wqe.hpp"
#include "hcasim/sim/run_statistics.hpp"
#include "sim/record/latency_histogram.hpp"

namespace hcasim::sim {

/// Sums over the messages of one node with one opcode.
struct OpcodeTotals {
  std::uint64_t completed = 0;
  std::uint64_t flushed = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 32> errors{};  ///< by hw::WcStatus
  LatencyHistogram latency;

  bool any() const { return completed + flushed + unfinished + failed() != 0; }
  std::uint64_t failed() const;
};

/// Sums over one node.
struct NodeTotals {
  static constexpr std::size_t kOpcodes = 10;  // all that are messages

  std::array<OpcodeTotals, kOpcodes> opcodes;
  std::uint64_t local_operations = 0;
  std::uint64_t local_operations_ended = 0;
  std::uint64_t receives_completed = 0;
  std::uint64_t receives_failed = 0;
  std::uint64_t receives_flushed = 0;
  std::uint64_t received_bytes = 0;
  hw::Time first_post = hw::kNever;
  hw::Time last_completion = 0;

  OpcodeTotals& of(hw::WrOpcode opcode) { return opcodes[static_cast<std::size_t>(opcode)]; }
  NodeStatistics statistics() const;
};

/// LOCAL_INV and REG_MR move no data to a peer.
constexpr bool is_message(hw::WrOpcode opcode) {
  return opcode != hw::WrOpcode::kLocalInv &&
         static_cast<std::size_t>(opcode) < NodeTotals::kOpcodes;
}

}  // namespace hcasim::sim
