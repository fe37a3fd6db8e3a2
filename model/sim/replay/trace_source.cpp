// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/trace_source.hpp"

namespace hcasim::sim {

TraceSource::TraceSource(const std::string& path, NameId node, std::uint64_t set_up)
    : reader_(std::filesystem::path(path)), node_(node) {
  for (std::uint64_t i = 0; i < set_up; ++i) reader_.next(operation_);
}

SourceItem TraceSource::next(WorkItem& work, const Operation*& operation) {
  while (reader_.next(operation_)) {
    if (operation_.node != node_ && operation_.verb != Verb::kConnect) continue;
    operation = &operation_;
    if (operation_.verb != Verb::kPostSend && operation_.verb != Verb::kPostRecv) {
      return SourceItem::kControl;
    }
    to_work_item(operation_, work);
    return SourceItem::kWork;
  }
  return SourceItem::kEnd;
}

}  // namespace hcasim::sim
