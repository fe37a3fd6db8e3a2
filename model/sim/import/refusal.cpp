// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/refusal.hpp"

#include "hcasim/hw/wr_opcode_kinds.hpp"

namespace hcasim::sim {
namespace {

hw::NakCode code_of(const PlannedMessage& message) {
  return message.record->refused_with.value_or(hw::NakCode::kRemoteAccess);
}

hw::NakCode result_of(Failure failure) {
  switch (failure) {
    case Failure::kMisaligned:
    case Failure::kShortReceive:
      return hw::NakCode::kInvalidRequest;
    case Failure::kBadReceive:
      return hw::NakCode::kRemoteOperational;
    default:
      return hw::NakCode::kRemoteAccess;
  }
}

std::string name_of(hw::NakCode code) {
  switch (code) {
    case hw::NakCode::kInvalidRequest:
      return "invalid_request";
    case hw::NakCode::kRemoteOperational:
      return "remote_operational";
    case hw::NakCode::kRemoteAccess:
      return "remote_access";
    default:
      return "a NAK of another kind";
  }
}

}  // namespace

Failure failure_of(const PlannedMessage& message) {
  if (!message.refused()) return Failure::kNone;
  const hw::WrOpcode opcode = message.record->opcode;
  const bool invalid = code_of(message) == hw::NakCode::kInvalidRequest;
  if (hw::is_atomic(opcode) && invalid) return Failure::kMisaligned;
  if (hw::has_remote_address(opcode)) return Failure::kNoRights;
  return invalid && message.record->bytes > 0 ? Failure::kShortReceive : Failure::kBadReceive;
}

std::string describe_refusal(const PlannedMessage& message) {
  return "refused in the capture with " + name_of(code_of(message)) + ", here with " +
         name_of(result_of(failure_of(message)));
}

}  // namespace hcasim::sim
