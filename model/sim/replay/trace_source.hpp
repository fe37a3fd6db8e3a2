// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "hcasim/sim/trace.hpp"
#include "sim/replay/work_item.hpp"

namespace hcasim::sim {

/// The operations of one node, and the control lines of the others, from a trace's file. Each node
/// reads the file for itself, so that what it reads, and when, depends on its own progress alone.
class TraceSource : public OperationSource {
 public:
  /// Passes over the first `set_up` operations, which were carried out before the epoch.
  TraceSource(const std::string& path, NameId node, std::uint64_t set_up);

  SourceItem next(WorkItem& work, const Operation*& operation) override;

 private:
  TraceReader reader_;
  Operation operation_;
  NameId node_;
};

}  // namespace hcasim::sim
