// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "driver/send_wqe.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

/// What became of a send, by the names that rdmavt's code jumps to.
enum class LoopVerdict : std::uint8_t {
  kComplete,      ///< send_comp
  kInvalid,       ///< inv_err: the responder refuses the request
  kTooLong,       ///< inv_err of a SEND that the receive cannot hold
  kAccess,        ///< acc_err: the responder's region refuses it
  kRemoteFault,   ///< op_err: the responder's receive is faulty
  kNotReady,      ///< rnr_nak
  kAwaitReceive,  ///< the adapter has been asked for a receive of the SRQ
  kLocalFault,    ///< an own region refuses it
  kUnknown,       ///< no such operation
};

/// A send that is being looped back.
struct LoopedSend {
  rvt_qp* sqp;
  rvt_qp* qp;  ///< responder
  rvt_swqe* swqe;
  hw::SendWqeControl control{};
  hw::SendWqeRemote remote{};
  hw::SendWqeAtomic operands{};
  rvt_sge_state s_sge;
  std::array<rvt_sge, SendWqe::kMaxSge> s_sg_list;
  ib_wc wc;  ///< of the receive, as far as the operation fills it
};

/// Carries out a send up to, not including, the completions.
LoopVerdict rvt_loop_operation(LoopedSend& send);

/// Host address of where an element stands.
std::uint64_t rvt_sge_address(const rvt_sge& sge);
/// CPU time of a copy.
hw::Time rvt_copy_time(const rvt_dev_info* rdi, std::uint64_t bytes);
/// The send engine runs at `when`, or earlier if it was to.
void rvt_run_send_engine_at(rvt_qp* qp, hw::Time when);
/// Cancels a run of the send engine that was arranged.
void rvt_cancel_send_engine(rvt_qp* qp);
/// Raises IB_EVENT_QP_LAST_WQE_REACHED if `wanted`, the answer of rvt_error_qp.
void rvt_raise_last_wqe(rvt_qp* qp, int wanted);

/// A looped-back queue pair does not want a receive of its SRQ any more; who sends to it goes on.
void rvt_leave_takes(rvt_qp* qp);
/// The sender of a looped-back queue pair does not wait for a receive of the peer's SRQ any more.
void rvt_stop_waiting_for_receive(rvt_qp* sqp);
/// The adapter has answered a take. @return false when it was not asked
bool rvt_take_answered(rvt_srq* srq, const hw::Eqe& eqe);

}  // namespace hcasim::rvt
