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
    operation = &operation_;
    const bool own = operation_.node == node_;
    if (!is_post(operation_.verb)) {
      const bool other = operation_.verb == Verb::kConnect && operation_.peer_node == node_;
      return own || other ? SourceItem::kControl : SourceItem::kPeerControl;
    }
    if (!own) continue;
    to_work_item(operation_, work);
    return SourceItem::kWork;
  }
  return SourceItem::kEnd;
}

}  // namespace hcasim::sim
