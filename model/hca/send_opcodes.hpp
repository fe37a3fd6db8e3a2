// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "hca/memory_table.hpp"
#include "hca/queue_pair.hpp"
#include "hca/translation.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wr_opcode_kinds.hpp"

/// Packets and completions of send work requests by their opcodes, and where their data lies.
namespace hcasim::hca {

hw::WcOpcode completion_opcode(hw::WrOpcode opcode);

/// The BTH opcode of a packet of a SEND or WRITE on RC.
hw::BthOpcode data_opcode(hw::WrOpcode opcode, bool first, bool last);

/// PSNs that a work request takes: its packets, or those of its response.
inline std::int64_t packets_of(const hw::SendWqeControl& control, unsigned mtu_shift) {
  if (hw::is_atomic(control.opcode) || control.length == 0) return 1;
  return ((std::int64_t{control.length} - 1) >> mtu_shift) + 1;
}

/// True when the SGEs or the inline data that the WQE speaks of lie within its slot, and they make
/// up its length.
bool send_wqe_fits(const hw::SendWqeControl& control, const QueuePair& qp);

/// The pieces of host memory that make up one packet's payload.
struct GatherPlan {
  std::uint64_t address[kMaxPieces];
  std::uint32_t length[kMaxPieces];
  std::uint32_t count = 0;
  Missing missing;  ///< translations that are to be fetched first

  template <typename F>
  void for_each(F&& piece) const {
    for (std::uint32_t i = 0; i < count; ++i) piece(address[i], length[i]);
  }
};

/// Finds where bytes [offset, offset + bytes) of a list of SGEs lie. `access` is what the keys must
/// allow. False when a key does not, or when the list is too short. `translation` is null when what
/// is missing was fetched before.
bool plan_gather(MemoryTable& memory, Translation* translation, std::uint32_t pd,
                 const std::uint8_t* sges, std::uint32_t num_sge, std::uint64_t offset,
                 std::uint32_t bytes, GatherPlan& plan, std::uint32_t access = 0);

}  // namespace hcasim::hca
