// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hcasim/hw/wqe.hpp"

/// What follows from the opcode of a send work request (InfiniBand specification, volume 1, 9.4).
namespace hcasim::hw {

constexpr bool is_send(WrOpcode opcode) {
  return opcode == WrOpcode::kSend || opcode == WrOpcode::kSendWithImm ||
         opcode == WrOpcode::kSendWithInv;
}
constexpr bool is_atomic(WrOpcode opcode) {
  return opcode == WrOpcode::kAtomicCmpAndSwp || opcode == WrOpcode::kAtomicFetchAndAdd;
}
/// READs and atomics: the responder answers with data.
constexpr bool needs_response(WrOpcode opcode) {
  return opcode == WrOpcode::kRdmaRead || is_atomic(opcode);
}
/// The peer needs a receive work request for it.
constexpr bool takes_receive(WrOpcode opcode) {
  return is_send(opcode) || opcode == WrOpcode::kRdmaWriteWithImm;
}
/// It names a place in the peer's memory: RDMA and atomics.
constexpr bool has_remote_address(WrOpcode opcode) {
  return opcode == WrOpcode::kRdmaWrite || opcode == WrOpcode::kRdmaWriteWithImm ||
         needs_response(opcode);
}
/// It moves no data and no packet leaves for it.
constexpr bool is_local(WrOpcode opcode) {
  return opcode == WrOpcode::kLocalInv || opcode == WrOpcode::kRegMr;
}

}  // namespace hcasim::hw
