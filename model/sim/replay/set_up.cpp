// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/set_up.hpp"

#include <cstring>
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
    if (operation.verb == Verb::kPostSend || operation.verb == Verb::kPostRecv) break;
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
  if (operation.node == operation.peer_node) {
    throw InputError(file_, operation.line, 1, "queue pairs of two different nodes",
                     directory_.text(operation.node), "");
  }
  struct Side {
    std::uint32_t node;
    NameId name, qp, peer, peer_qp;
    std::uint32_t psn, peer_psn;
  };
  const auto psn = static_cast<std::uint32_t>(operation.value(Arg::kPsn));
  const auto peer_psn = static_cast<std::uint32_t>(operation.value(Arg::kPsnPeer));
  const Side sides[] = {
      {directory_.index_of(operation.node), operation.node, operation.object, operation.peer_node,
       operation.peer_object, psn, peer_psn},
      {directory_.index_of(operation.peer_node), operation.peer_node, operation.peer_object,
       operation.node, operation.object, peer_psn, psn},
  };
  for (const Side& side : sides) {
    ControlResult result;
    system_.run_task(side.node, [&] {
      result = directory_.node(side.node).connect_begin(operation, side.qp, side.peer);
    });
    check(result, operation);
  }
  for (const Side& side : sides) {
    ControlResult result;
    system_.run_task(side.node, [&] {
      result = directory_.node(side.node).connect_end(operation, side.qp, side.peer_qp, side.psn,
                                                      side.peer_psn);
    });
    check(result, operation);
  }
}

void SetUp::control(const Operation& operation) {
  ControlResult result;
  const std::uint32_t node = directory_.index_of(operation.node);
  system_.run_task(node, [&] { result = directory_.node(node).execute(operation); });
  check(result, operation);
}

void SetUp::check(const ControlResult& result, const Operation& operation) {
  if (result.error == 0) return;
  throw RunError(
      file_ + ':' + std::to_string(operation.line) + ": " + result.verb +
      " was refused: " + (result.reason.empty() ? std::strerror(-result.error) : result.reason));
}

}  // namespace hcasim::sim
