// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What each operation does in loopback, and what it checks, in this order.
#include <algorithm>
#include <cstring>

#include "driver/loopback_internal.hpp"
#include "driver/mr_internal.hpp"

namespace hcasim::rvt {
namespace {

constexpr std::uint32_t kAtomicBytes = 8;

// What is posted was checked then; a region may have been registered anew since.
bool still_inside(const rvt_sge& sge) {
  const rvt_mregion* mr = sge.mr;
  return mr != nullptr && sge.addr >= mr->iova && sge.addr - mr->iova <= mr->length &&
         sge.length <= mr->length - (sge.addr - mr->iova);
}

void append(LoopedSend& send, const rvt_sge& sge) {
  rvt_sge_state& ss = send.s_sge;
  (ss.num_sge == 0 ? ss.sge : send.s_sg_list[ss.num_sge - 1u]) = sge;
  ++ss.num_sge;
  ss.total_len += sge.length;
}

bool read_elements(LoopedSend& send, std::uint64_t slot) {
  const rvt_dev_info* rdi = send.sqp->rdi;
  send.s_sge.sg_list = send.s_sg_list.data();
  std::uint64_t data = slot + hw::send_wqe_data_offset(send.control.opcode);
  if ((send.control.flags & hw::kWqeInline) != 0) {
    if (send.control.length != 0) append(send, {nullptr, data, send.control.length, 0});
    return true;
  }
  for (unsigned i = 0; i < send.control.num_sge; ++i, data += sizeof(hw::Sge)) {
    hw::Sge element;
    rdi->port->read(data, &element, sizeof element);
    const rvt_sge sge{rvt_find_slot(&rdi->lkey_table, element.lkey), element.addr, element.length,
                      element.lkey};
    if (!still_inside(sge)) return false;
    append(send, sge);
  }
  return true;
}

// False when an element's region does not hold it any more.
bool read_wqe(LoopedSend& send) {
  const rvt_qp* sqp = send.sqp;
  hw::HostPort& port = *sqp->rdi->port;
  const std::uint64_t slot = sqp->s_ring + std::uint64_t{sqp->s_last} * sqp->s_stride;
  port.read(slot, &send.control, sizeof send.control);
  port.read(slot + hw::kSendWqeRemoteOffset, &send.remote, sizeof send.remote);
  port.read(slot + hw::kSendWqeAtomicOffset, &send.operands, sizeof send.operands);
  const auto opcode = send.swqe->opcode;
  return opcode == IB_WR_REG_MR || opcode == IB_WR_LOCAL_INV || read_elements(send, slot);
}

// Through a buffer, as host memory is reached by copies only.
void copy(rvt_qp* to_qp, rvt_sge_state* to, rvt_sge_state* from, std::uint64_t length,
          bool copy_last) {
  constexpr std::uint32_t kChunk = 4096;
  std::uint8_t chunk[kChunk];
  while (length != 0) {
    const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kChunk));
    const std::uint32_t some = rvt_get_sge_length(&from->sge, wanted);
    to_qp->rdi->port->read(rvt_sge_address(from->sge), chunk, some);
    length -= some;
    rvt_copy_sge(to_qp, to, chunk, some, true, copy_last && length == 0);
    rvt_update_sge(from, some, false);
  }
}

LoopVerdict no_receive(const rvt_qp* qp, int taken) {
  if (taken < 0) return LoopVerdict::kRemoteFault;
  return qp->r_take == rvt_take::kWaiting ? LoopVerdict::kAwaitReceive : LoopVerdict::kNotReady;
}

void carry_immediate(LoopedSend& send) {
  send.wc.wc_flags = IB_WC_WITH_IMM;
  send.wc.ex.imm_data = cpu_to_be32(send.control.imm_or_key);
}

// The key goes once nothing can refuse the message any more.
void carry_key(LoopedSend& send) {
  if (rvt_invalidate_rkey(send.qp, send.control.imm_or_key) != 0) return;
  send.wc.wc_flags = IB_WC_WITH_INVALIDATE;
  send.wc.ex.invalidate_rkey = send.control.imm_or_key;
}

LoopVerdict send_message(LoopedSend& send) {
  rvt_qp* qp = send.qp;
  const int taken = rvt_get_rwqe(qp, false);
  if (taken != 1) return no_receive(qp, taken);
  if (send.s_sge.total_len > qp->r_len) return LoopVerdict::kTooLong;
  if (send.swqe->opcode == IB_WR_SEND_WITH_INV) carry_key(send);
  if (send.swqe->opcode == IB_WR_SEND_WITH_IMM) carry_immediate(send);
  copy(qp, &qp->r_sge, &send.s_sge, send.s_sge.total_len, false);
  return LoopVerdict::kComplete;
}

bool reach(LoopedSend& send, std::uint32_t bytes, std::uint32_t right) {
  rvt_sge_state& ss = send.qp->r_sge;
  ss = {};
  ss.num_sge = 1;
  ss.total_len = bytes;
  return rvt_rkey_ok(send.qp, &ss.sge, bytes, send.remote.addr, send.remote.rkey, right) == 1;
}

LoopVerdict write_memory(LoopedSend& send, bool copy_last) {
  const std::uint32_t length = send.swqe->length;
  if (length == 0) return LoopVerdict::kComplete;
  if (!reach(send, length, IB_ACCESS_REMOTE_WRITE)) return LoopVerdict::kAccess;
  copy(send.qp, &send.qp->r_sge, &send.s_sge, length, copy_last);
  return LoopVerdict::kComplete;
}

LoopVerdict rdma_write(LoopedSend& send) {
  rvt_qp* qp = send.qp;
  if ((qp->qp_access_flags & IB_ACCESS_REMOTE_WRITE) == 0) return LoopVerdict::kInvalid;
  // A process may poll on the last bytes of what is written to it.
  if (send.swqe->opcode == IB_WR_RDMA_WRITE)
    return write_memory(send, ibpd_to_rvtpd(qp->ibqp.pd)->user);
  const int taken = rvt_get_rwqe(qp, true);
  if (taken != 1) return no_receive(qp, taken);
  carry_immediate(send);
  send.wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
  return write_memory(send, false);
}

LoopVerdict rdma_read(LoopedSend& send) {
  if ((send.qp->qp_access_flags & IB_ACCESS_REMOTE_READ) == 0) return LoopVerdict::kInvalid;
  const std::uint32_t length = send.swqe->length;
  // The specification does not look at the key of nothing; rdmavt does in loopback, and only there.
  if (length == 0 && !send.sqp->rdi->dparms.rdmavt_compat) return LoopVerdict::kComplete;
  if (!reach(send, length, IB_ACCESS_REMOTE_READ)) return LoopVerdict::kAccess;
  copy(send.sqp, &send.s_sge, &send.qp->r_sge, length, false);
  return LoopVerdict::kComplete;
}

LoopVerdict atomic(LoopedSend& send) {
  if ((send.qp->qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) == 0) return LoopVerdict::kInvalid;
  if (send.remote.addr % kAtomicBytes != 0) return LoopVerdict::kInvalid;
  if (!reach(send, kAtomicBytes, IB_ACCESS_REMOTE_ATOMIC)) return LoopVerdict::kAccess;
  hw::HostPort& port = *send.sqp->rdi->port;
  const std::uint64_t address = rvt_sge_address(send.qp->r_sge.sge);
  std::uint64_t before = 0;
  port.read(address, &before, sizeof before);
  std::uint64_t after = before + send.operands.compare_add;
  if (send.swqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
    after = before == send.operands.compare_add ? send.operands.swap : before;
  }
  port.write(address, &after, sizeof after);
  rvt_copy_sge(send.sqp, &send.s_sge, &before, kAtomicBytes, true, false);
  return LoopVerdict::kComplete;
}

// Most are carried out at the post.
LoopVerdict invalidate(LoopedSend& send) {
  if ((send.swqe->send_flags & RVT_SEND_COMPLETION_ONLY) != 0) return LoopVerdict::kComplete;
  --send.sqp->local_ops_pending;
  const int error = rvt_invalidate_rkey(send.sqp, send.control.imm_or_key);
  return error == 0 ? LoopVerdict::kComplete : LoopVerdict::kLocalFault;
}

}  // namespace

LoopVerdict rvt_loop_operation(LoopedSend& send) {
  if (!read_wqe(send)) return LoopVerdict::kLocalFault;
  send.wc.opcode = IB_WC_RECV;
  switch (send.swqe->opcode) {
    case IB_WR_REG_MR:
      return LoopVerdict::kComplete;
    case IB_WR_LOCAL_INV:
      return invalidate(send);
    case IB_WR_SEND:
    case IB_WR_SEND_WITH_IMM:
    case IB_WR_SEND_WITH_INV:
      return send_message(send);
    case IB_WR_RDMA_WRITE:
    case IB_WR_RDMA_WRITE_WITH_IMM:
      return rdma_write(send);
    case IB_WR_RDMA_READ:
      return rdma_read(send);
    case IB_WR_ATOMIC_CMP_AND_SWP:
    case IB_WR_ATOMIC_FETCH_AND_ADD:
      return atomic(send);
    default:
      return LoopVerdict::kUnknown;
  }
}

}  // namespace hcasim::rvt
