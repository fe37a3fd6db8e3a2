// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "hcasim/hw/wqe.hpp"

namespace hcasim::hw {

/// The name of a work request's opcode: the kernel's, without IB_WR_.
constexpr std::string_view name_of(WrOpcode opcode) {
  switch (opcode) {
    case WrOpcode::kRdmaWrite:
      return "RDMA_WRITE";
    case WrOpcode::kRdmaWriteWithImm:
      return "RDMA_WRITE_WITH_IMM";
    case WrOpcode::kSend:
      return "SEND";
    case WrOpcode::kSendWithImm:
      return "SEND_WITH_IMM";
    case WrOpcode::kRdmaRead:
      return "RDMA_READ";
    case WrOpcode::kAtomicCmpAndSwp:
      return "ATOMIC_CMP_AND_SWP";
    case WrOpcode::kAtomicFetchAndAdd:
      return "ATOMIC_FETCH_AND_ADD";
    case WrOpcode::kLocalInv:
      return "LOCAL_INV";
    case WrOpcode::kSendWithInv:
      return "SEND_WITH_INV";
    case WrOpcode::kRegMr:
      return "REG_MR";
  }
  return "UNKNOWN";
}

}  // namespace hcasim::hw
