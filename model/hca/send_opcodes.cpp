// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/send_opcodes.hpp"

#include <algorithm>

namespace hcasim::hca {

hw::WcOpcode completion_opcode(hw::WrOpcode opcode) {
  switch (opcode) {
    case hw::WrOpcode::kRdmaWrite:
    case hw::WrOpcode::kRdmaWriteWithImm:
      return hw::WcOpcode::kRdmaWrite;
    case hw::WrOpcode::kRdmaRead:
      return hw::WcOpcode::kRdmaRead;
    case hw::WrOpcode::kAtomicCmpAndSwp:
      return hw::WcOpcode::kCompSwap;
    case hw::WrOpcode::kAtomicFetchAndAdd:
      return hw::WcOpcode::kFetchAdd;
    case hw::WrOpcode::kLocalInv:
      return hw::WcOpcode::kLocalInv;
    case hw::WrOpcode::kRegMr:
      return hw::WcOpcode::kRegMr;
    default:
      return hw::WcOpcode::kSend;
  }
}

hw::BthOpcode data_opcode(hw::WrOpcode opcode, bool first, bool last) {
  using Op = hw::BthOpcode;
  if (hw::is_send(opcode)) {
    if (!last) return first ? Op::kRcSendFirst : Op::kRcSendMiddle;
    if (opcode == hw::WrOpcode::kSendWithImm)
      return first ? Op::kRcSendOnlyImm : Op::kRcSendLastImm;
    if (opcode == hw::WrOpcode::kSendWithInv) {
      return first ? Op::kRcSendOnlyInvalidate : Op::kRcSendLastInvalidate;
    }
    return first ? Op::kRcSendOnly : Op::kRcSendLast;
  }
  if (!last) return first ? Op::kRcWriteFirst : Op::kRcWriteMiddle;
  if (opcode == hw::WrOpcode::kRdmaWriteWithImm) {
    return first ? Op::kRcWriteOnlyImm : Op::kRcWriteLastImm;
  }
  return first ? Op::kRcWriteOnly : Op::kRcWriteLast;
}

bool send_wqe_fits(const hw::SendWqeControl& control, const QueuePair& qp) {
  const std::uint32_t offset = hw::is_atomic(control.opcode)
                                   ? hw::send_wqe_data_offset(control.opcode)
                                   : qp.service.data_offset;
  const std::uint32_t room = qp.context.sq_stride - offset;
  if ((control.flags & hw::kWqeInline) != 0) {
    return !hw::needs_response(control.opcode) && control.length <= room;
  }
  return control.num_sge * sizeof(hw::Sge) <= room && control.length <= 0x8000'0000u;
}

bool plan_gather(MemoryTable& memory, Translation* translation, std::uint32_t pd,
                 const std::uint8_t* sges, std::uint32_t num_sge, std::uint64_t offset,
                 std::uint32_t bytes, GatherPlan& plan, std::uint32_t access) {
  for (std::uint32_t i = 0; i < num_sge && bytes != 0; ++i) {
    const auto sge = hw::load<hw::Sge>(sges + std::size_t{i} * sizeof(hw::Sge));
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const auto part =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(sge.length - offset, bytes));
    const MemoryRegion* region = memory.check(sge.lkey, pd, sge.addr, sge.length, access);
    if (region == nullptr) return false;
    if (translation != nullptr) {
      translation->look_up(*region, sge.addr + offset, part, plan.missing);
    }
    bool fits = true;
    MemoryTable::for_each_segment(*region, sge.addr + offset, part,
                                  [&](std::uint64_t address, std::uint32_t length) {
                                    if (plan.count == kMaxPieces) {
                                      fits = false;
                                      return;
                                    }
                                    plan.address[plan.count] = address;
                                    plan.length[plan.count++] = length;
                                  });
    if (!fits) return false;
    bytes -= part;
    offset = 0;
  }
  return bytes == 0;
}

}  // namespace hcasim::hca
