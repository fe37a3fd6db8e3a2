// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Regions of a slot: one that is registered as a whole, and its window, which work requests
// register.
#include <stdexcept>

#include "machine.hpp"

namespace hcasim::differential {

using namespace rvt;

void Machine::register_own(std::size_t slot) {
  const std::size_t node = node_of(slot);
  own_[slot] =
      ib_reg_user_mr(pds_[node], memory_[node], kMemoryBytes, memory_[node], IB_ACCESS_LOCAL_WRITE);
  if (IS_ERR(own_[slot])) throw std::runtime_error("a region cannot be made");
}

void Machine::make_regions(std::size_t slot) {
  const std::size_t node = node_of(slot);
  register_own(slot);
  fast_[slot] = ib_alloc_mr(pds_[node], IB_MR_TYPE_MEM_REG, 1);
  const scatterlist window{memory_[node] + window_of(slot), kWindowBytes};
  if (ib_map_mr_sg(fast_[slot], &window, 1, nullptr, kWindowBytes) != 1) {
    throw std::runtime_error("a window cannot be mapped");
  }
}

int Machine::reregister(std::size_t slot) {
  int result = 0;
  run(node_of(slot), [&] {
    result = ib_dereg_mr(own_[slot]);
    register_own(slot);
  });
  return result;
}

std::uint32_t Machine::window_key(const Operation& op) const {
  const std::uint32_t key = fast_[peer_of(op.slot)]->rkey;
  constexpr std::uint32_t kConsumersBits = 0xff;
  return op.key == Key::kStale ? (key & ~kConsumersBits) | ((key - 1) & kConsumersBits) : key;
}

// REG_MR, each time under the next key, or LOCAL_INV.
ib_send_wr& Machine::local_request(const Operation& op, std::uint32_t index) {
  constexpr std::uint32_t kOtherRegion = 0x100;
  ib_reg_wr& reg = reg_[index];
  reg = {};
  reg.wr.wr_id = wr_id_of(op.slot, op.id, index);
  reg.wr.opcode = op.opcode;
  reg.wr.send_flags = op.unsignaled ? 0u : std::uint32_t{IB_SEND_SIGNALED};
  const std::uint32_t wrong = op.flaw == Flaw::kBadRkey ? kOtherRegion : 0;
  if (op.opcode == IB_WR_LOCAL_INV) {
    reg.wr.ex.invalidate_rkey = fast_[op.slot]->rkey ^ wrong;
    return reg.wr;
  }
  reg.mr = fast_[op.slot];
  reg.key = ib_inc_rkey(reg.mr->rkey) ^ wrong;
  reg.access = IB_ACCESS_LOCAL_WRITE | kAllRights;
  return reg.wr;
}

}  // namespace hcasim::differential
