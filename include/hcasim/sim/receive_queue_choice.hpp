// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hcasim::sim {

/// What stands for the receive-queue unit in each adapter. The results are the same with each.
enum class ReceiveQueueKind : std::uint8_t {
  kModel,
  kRtl,      ///< the RTL of a plug-in, alone
  kLockstep  ///< the model, and plug-ins that are compared with it in every cycle
};

/// What is wanted of a run's receive-queue units.
struct ReceiveQueueChoice {
  ReceiveQueueKind kind = ReceiveQueueKind::kModel;
  /// Plug-ins (hw/receive_queue_plugin.hpp): none for the model, one for RTL, one or more for
  /// lockstep.
  std::vector<std::string> libraries;
  bool coverage = false;  ///< count the cover points of testbench/cosim/test_plan.txt
  /// Where the traffic of each adapter's unit is recorded, as stimulus of `hcasim cosim`: the
  /// node's name comes before the extension. Empty: nowhere.
  std::string record;
};

/// How much of the receive-queue units' work was compared; all 0 without lockstep.
struct ReceiveQueueComparison {
  std::uint64_t cycles_compared = 0;
  std::uint64_t cycles_not_compared = 0;  ///< run all the same
  std::uint64_t cycles_skipped = 0;       ///< not run, since nothing could change in them
  std::uint64_t takes = 0;                ///< takes that were accepted in compared cycles
};

}  // namespace hcasim::sim
