// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/checked_trace.hpp"

#include <algorithm>
#include <filesystem>

#include "hcasim/hw/wire/syndrome.hpp"
#include "sim/system/system.hpp"

namespace hcasim::sim {

CheckedTrace::CheckedTrace(const std::string& path, const std::string& name, bool (*interrupted)())
    : reader_(std::filesystem::path(path), name), posts_(reader_.nodes().size()) {
  if (nodes().empty() || nodes().size() > kMaxNodes) {
    throw InputError(name, 0, 0, "one node to " + std::to_string(kMaxNodes),
                     std::to_string(nodes().size()) + " nodes", "");
  }
  Operation operation;
  while (reader_.next(operation) && (interrupted == nullptr || !interrupted())) {
    look_at(operation);
  }
}

void CheckedTrace::look_at(const Operation& operation) {
  if (is_post(operation.verb)) {
    const auto node = std::ranges::find(nodes(), operation.node) - nodes().begin();
    posts_[static_cast<std::size_t>(node)].add(operation.object, operation.verb == Verb::kPostSend);
    return;
  }
  if (operation.verb == Verb::kConnect || operation.has(Arg::kTimeout)) {
    const auto timeout = static_cast<std::uint32_t>(operation.value(Arg::kTimeout));
    longest_timeout_ = std::max(longest_timeout_, timeout);
  }
  if (operation.verb == Verb::kConnect || operation.has(Arg::kMinRnrTimer)) {
    const auto code = static_cast<std::uint8_t>(operation.value(Arg::kMinRnrTimer));
    longest_rnr_pause_ = std::max(longest_rnr_pause_, hw::rnr_timer(code));
  }
}

}  // namespace hcasim::sim
