// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/work_item.hpp"

#include <algorithm>

namespace hcasim::sim {

void to_work_item(const Operation& operation, WorkItem& work) {
  static_cast<WorkFields&>(work) = WorkFields{};
  work.is_send = operation.verb == Verb::kPostSend;
  work.timing = operation.timing;
  work.time = operation.time;
  work.opcode = operation.opcode;
  work.flags = operation.flags;
  work.queue = operation.object;
  work.line = operation.line;
  work.wr_id_given = operation.has(Arg::kWrId);
  work.wr_id = operation.value(Arg::kWrId);
  work.remote_named = operation.has(Arg::kRemoteMr);
  work.remote_mr = static_cast<NameId>(operation.value(Arg::kRemoteMr));
  work.remote_offset = operation.value(Arg::kRemoteOffset);
  work.addr_given = operation.has(Arg::kRemoteAddr);
  work.remote_addr = operation.value(Arg::kRemoteAddr);
  work.rkey_given = operation.has(Arg::kRkey);
  work.rkey = static_cast<std::uint32_t>(operation.value(Arg::kRkey));
  work.imm = static_cast<std::uint32_t>(operation.value(Arg::kImm));
  work.invalidate_named = operation.has(Arg::kInvalidate);
  work.invalidate = static_cast<NameId>(operation.value(Arg::kInvalidate));
  work.mr = static_cast<NameId>(operation.value(Arg::kMr));
  work.length = operation.has(Arg::kLength) ? operation.value(Arg::kLength) : 0;
  work.iova_given = operation.has(Arg::kIova);
  work.iova = operation.value(Arg::kIova);
  work.access = static_cast<std::uint32_t>(operation.value(Arg::kAccess));
  work.compare_add = operation.opcode == SendOpcode::kAtomicCmpAndSwp
                         ? operation.value(Arg::kCompare)
                         : operation.value(Arg::kAdd);
  work.swap = operation.value(Arg::kSwap);
  work.num_sge = static_cast<std::uint32_t>(operation.sges().size());
  std::ranges::copy(operation.sges(), work.sges.begin());
}

}  // namespace hcasim::sim
