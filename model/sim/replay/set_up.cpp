// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/set_up.hpp"

#include <utility>

#include "hcasim/sim/input_error.hpp"
#include "hcasim/sim/run.hpp"

namespace hcasim::sim {

SetUp::SetUp(System& system, ObjectDirectory& directory, std::string file)
    : system_(system), directory_(directory), file_(std::move(file)) {}

std::uint64_t SetUp::run(TraceReader& reader) {
  std::uint64_t carried_out = 0;
  Operation operation;
  while (reader.next(operation)) {
    if (is_post(operation.verb)) break;
    if (operation.timing != Timing::kAsap || operation.label != kNoName) break;
    if (operation.verb == Verb::kConnect) {
      connect(operation);
    } else {
      control(operation);
    }
    ++carried_out;
  }
  return carried_out;
}

void SetUp::connect(const Operation& operation) {
  const std::uint32_t nodes[] = {directory_.index_of(operation.node),
                                 directory_.index_of(operation.peer_node)};
  const auto each = [&](auto&& part) {
    for (const bool second : {false, true}) {
      const std::uint32_t node = nodes[second ? 1 : 0];
      ControlResult result;
      system_.run_task(node, [&] { result = part(directory_.node(node), second); });
      check(result, operation, node);
    }
  };
  each([&](NodeObjects& it, bool second) {
    return it.connect_begin(operation, it.side_of(operation, second));
  });
  each([&](NodeObjects& it, bool second) {
    const ConnectSide side = it.side_of(operation, second);
    return it.connect_end(operation, side, directory_.node(side.peer_node).qp(side.peer_qp)->qpn);
  });
}

void SetUp::control(const Operation& operation) {
  ControlResult result;
  const std::uint32_t node = directory_.index_of(operation.node);
  system_.run_task(node, [&] { result = directory_.node(node).execute(operation); });
  check(result, operation, node);
}

void SetUp::check(const ControlResult& result, const Operation& operation, std::uint32_t node) {
  if (result.error == 0) return;
  throw RunError(file_ + ':' + std::to_string(operation.line) + ": before the first post, node " +
                 system_.node(node).node_name() + ": " + result.refusal());
}

}  // namespace hcasim::sim
