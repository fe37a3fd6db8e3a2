// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/node_totals.hpp"

#include <numeric>

namespace hcasim::sim {

namespace {

OpcodeStatistics statistics_of(hw::WrOpcode opcode, const OpcodeTotals& totals) {
  OpcodeStatistics result;
  result.opcode = opcode;
  result.completed = totals.completed;
  result.failed = totals.failed();
  result.flushed = totals.flushed;
  result.unfinished = totals.unfinished;
  result.bytes = totals.bytes;
  for (std::size_t status = 0; status < totals.errors.size(); ++status) {
    if (totals.errors[status] == 0) continue;
    result.errors.push_back({static_cast<hw::WcStatus>(status), totals.errors[status]});
  }
  result.latency = totals.latency.summary();
  return result;
}

}  // namespace

std::uint64_t OpcodeTotals::failed() const {
  return std::accumulate(errors.begin(), errors.end(), std::uint64_t{0});
}

NodeStatistics NodeTotals::statistics() const {
  NodeStatistics result;
  for (std::size_t i = 0; i < kOpcodes; ++i) {
    if (!opcodes[i].any()) continue;
    result.opcodes.push_back(statistics_of(static_cast<hw::WrOpcode>(i), opcodes[i]));
  }
  result.local_operations = local_operations;
  result.local_operations_ended = local_operations_ended;
  result.receives_completed = receives_completed;
  result.receives_failed = receives_failed;
  result.receives_flushed = receives_flushed;
  result.received_bytes = received_bytes;
  return result;
}

}  // namespace hcasim::sim
