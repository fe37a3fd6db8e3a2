// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "driver/send_wqe.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "driver/mr_internal.hpp"
#include "hcasim/rvt/rdma_vt.hpp"
#include "hcasim/rvt/rdmavt_ah.hpp"

namespace hcasim::rvt {
namespace {

bool atomic(ib_wr_opcode opcode) {
  return opcode == IB_WR_ATOMIC_CMP_AND_SWP || opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

bool writes_memory(const rvt_dev_info* rdi, ib_wr_opcode opcode) {
  // rdmavt takes every opcode from READ on for one that writes, SEND_WITH_INV among them.
  if (rdi->dparms.rdmavt_compat) return opcode >= IB_WR_RDMA_READ;
  return opcode == IB_WR_RDMA_READ || atomic(opcode);
}

std::uint32_t data_offset(ib_wr_opcode opcode) {
  return hw::send_wqe_data_offset(static_cast<hw::WrOpcode>(opcode));
}

}  // namespace

inline int SendWqe::collect(rvt_qp* qp, const ib_send_wr* wr, std::uint32_t offset) {
  used_ = offset;
  length_ = 0;
  num_sge_ = 0;
  return (wr->send_flags & IB_SEND_INLINE) != 0 ? copy_inline(qp, wr) : check_elements(qp, wr);
}

int SendWqe::gather(rvt_qp* qp, const ib_send_wr* wr) {
  const int error = collect(qp, wr, data_offset(wr->opcode));
  if (error != 0) return error;
  return length_ > RVT_MAX_MESSAGE ? -EINVAL : 0;
}

int SendWqe::gather_datagram(rvt_qp* qp, const ib_ud_wr* wr) {
  constexpr std::uint32_t kOffset = hw::send_wqe_data_offset(hw::WrOpcode::kSend, hw::QpType::kUd);
  const int error = collect(qp, &wr->wr, kOffset);
  if (error != 0) return error;
  fill_datagram(wr);
  return length_ > std::uint64_t{1} << ibah_to_rvtah(wr->ah)->log_pmtu ? -EINVAL : 0;
}

int SendWqe::leave_local() {
  used_ = data_offset(IB_WR_LOCAL_INV);
  length_ = 0;
  num_sge_ = 0;
  return 0;
}

int SendWqe::take_local(rvt_qp* qp, const ib_send_wr* wr) {
  leave_local();
  if (wr->opcode == IB_WR_REG_MR) return take_registration(qp, reg_wr(wr));
  if (wr->opcode != IB_WR_LOCAL_INV) return -EINVAL;
  return rvt_invalidate_rkey(qp, wr->ex.invalidate_rkey);
}

int SendWqe::take_registration(rvt_qp* qp, const ib_reg_wr* wr) {
  hw::SendWqeRegister table{};
  if (wr->mr != nullptr) {
    const rvt_mregion& mr = to_imr(wr->mr)->mr;
    table = {mr.reg_posts != 0 ? mr.lkey : mr.hw_key, mr.mapsz, rvt_mr_first_offset(mr), 0};
  }
  std::memcpy(bytes_ + hw::kSendWqeRegisterOffset, &table, sizeof table);
  used_ = hw::kSendWqeRegisterOffset + sizeof table;
  return rvt_fast_reg_mr(qp, wr->mr, wr->key, wr->access);
}

int SendWqe::copy_inline(rvt_qp* qp, const ib_send_wr* wr) {
  if (wr->opcode == IB_WR_RDMA_READ || atomic(wr->opcode)) return -EINVAL;
  for (int i = 0; i < wr->num_sge; ++i) length_ += wr->sg_list[i].length;
  if (length_ > qp->s_max_inline) return -EINVAL;
  for (int i = 0; i < wr->num_sge; ++i) {
    const ib_sge& sge = wr->sg_list[i];
    if (sge.length != 0) qp->rdi->port->read(sge.addr, bytes_ + used_, sge.length);
    used_ += sge.length;
  }
  return 0;
}

void SendWqe::append(const rvt_sge& sge) {
  const hw::Sge element{sge.addr, sge.length, sge.lkey};
  std::memcpy(bytes_ + used_, &element, sizeof element);
  used_ += sizeof element;
  ++num_sge_;
}

int SendWqe::check_elements(rvt_qp* qp, const ib_send_wr* wr) {
  const std::uint32_t acc =
      writes_memory(qp->rdi, wr->opcode) ? std::uint32_t{IB_ACCESS_LOCAL_WRITE} : 0;
  rvt_sge last;
  for (int i = 0; i < wr->num_sge; ++i) {
    const ib_sge& sge = wr->sg_list[i];
    if (sge.length == 0) continue;
    length_ += sge.length;
    rvt_sge next;
    rvt_sge* before = last.mr != nullptr ? &last : nullptr;
    const int taken =
        rvt_lkey_ok(&qp->rdi->lkey_table, ibpd_to_rvtpd(qp->ibqp.pd), &next, before, &sge, acc);
    if (taken < 0) return taken;
    if (taken == 0) continue;
    if (before != nullptr) append(last);
    last = next;
  }
  if (last.mr != nullptr) append(last);
  if (!atomic(wr->opcode)) return 0;
  // An atomic returns 8 bytes, however long its elements are.
  length_ = 8;
  num_sge_ = 1;
  used_ = data_offset(wr->opcode) + sizeof(hw::Sge);
  const auto bytes = static_cast<std::uint32_t>(length_);
  std::memcpy(bytes_ + data_offset(wr->opcode) + offsetof(hw::Sge, length), &bytes, sizeof bytes);
  return 0;
}

// The rest of the last block is cleared a whole block at a time: the buffer has room for it.
void SendWqe::pad() {
  std::memset(bytes_ + used_, 0, hw::kWqeBlockBytes);
  used_ = (used_ + hw::kWqeBlockBytes - 1) / hw::kWqeBlockBytes * hw::kWqeBlockBytes;
}

void SendWqe::fill_segments(const rvt_qp* qp, const ib_send_wr* wr, std::uint32_t slot) {
  hw::SendWqeControl control;
  control.opcode = static_cast<hw::WrOpcode>(wr->opcode);
  control.flags = static_cast<std::uint8_t>(wr->send_flags & 0xf);
  if ((qp->s_flags & RVT_S_SIGNAL_REQ_WR) == 0) control.flags |= hw::kWqeSignaled;
  control.num_sge = num_sge_;
  control.blocks = static_cast<std::uint8_t>(used_ / hw::kWqeBlockBytes);
  control.length = length();
  control.imm_or_key = be32_to_cpu(wr->ex.imm_data);
  control.index = slot;
  hw::SendWqeRemote peer{};
  switch (wr->opcode) {
    case IB_WR_RDMA_WRITE:
    case IB_WR_RDMA_WRITE_WITH_IMM:
    case IB_WR_RDMA_READ:
      peer.addr = rdma_wr(wr)->remote_addr;
      peer.rkey = rdma_wr(wr)->rkey;
      break;
    case IB_WR_ATOMIC_CMP_AND_SWP:
    case IB_WR_ATOMIC_FETCH_AND_ADD:
      peer.addr = atomic_wr(wr)->remote_addr;
      peer.rkey = atomic_wr(wr)->rkey;
      fill_operands(atomic_wr(wr));
      break;
    case IB_WR_SEND_WITH_INV:
      control.imm_or_key = wr->ex.invalidate_rkey;
      break;
    case IB_WR_LOCAL_INV:
      control.imm_or_key = wr->ex.invalidate_rkey;
      control.flags &= ~hw::kWqeInline;
      break;
    case IB_WR_REG_MR:
      control.imm_or_key = reg_wr(wr)->key;
      control.flags &= ~hw::kWqeInline;
      control.length = static_cast<std::uint32_t>(reg_wr(wr)->mr->length);
      peer.addr = reg_wr(wr)->mr->iova;
      peer.rkey = reg_wr(wr)->access & kAdapterAccess;
      break;
    default:
      break;
  }
  std::memcpy(bytes_, &control, sizeof control);
  if (rvt_is_datagram(qp)) return;  // its path is there already
  std::memcpy(bytes_ + hw::kSendWqeRemoteOffset, &peer, sizeof peer);
}

void SendWqe::fill_datagram(const ib_ud_wr* wr) {
  const hw::SendWqeDatagram to{ibah_to_rvtah(wr->ah)->av, wr->remote_qpn, wr->remote_qkey, 0};
  std::memcpy(bytes_ + hw::kSendWqeDatagramOffset, &to, sizeof to);
}

void SendWqe::fill_operands(const ib_atomic_wr* wr) {
  const hw::SendWqeAtomic operands{wr->compare_add, wr->swap};
  std::memcpy(bytes_ + hw::kSendWqeAtomicOffset, &operands, sizeof operands);
}

void SendWqe::store(const rvt_qp* qp, const ib_send_wr* wr, std::uint32_t slot) {
  pad();
  fill_segments(qp, wr, slot);
  qp->rdi->port->write(qp->s_ring + std::uint64_t{slot} * qp->s_stride, bytes_, used_);
}

}  // namespace hcasim::rvt
