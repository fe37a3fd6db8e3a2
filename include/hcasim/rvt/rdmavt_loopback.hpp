// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/rvt/rdmavt_qp.hpp"

/// Loopback in the driver: RC and UC queue pairs whose path leads to their own port. What the
/// kernel has in rdmavt's qp.c and rc.c, and in rdmavt_qp.h. Nothing here waits.
namespace hcasim::rvt {

// --- The send engine ----------------------------------------------------------------------------

/// True when the driver loops back what goes along this path: it leads to the address it comes from
/// (of the queue pair's own port), and is not left to the adapter (loopback_on_wire).
bool rvt_leads_home(const rvt_qp* qp, const rdma_ah_attr& path);
/// Ends what a queue pair that is looped back has under way, timers included; its sends and
/// receives stay. RESET and destroy. Any context.
void rvt_stop_loopback(rvt_qp* qp);

/// Carries out the sends of a looped-back RC or UC queue pair, in order, until there is none, one
/// has to wait (RNR, a receive of an SRQ, time to copy) or one has failed. No effect while the
/// engine runs or waits. Any context, no lock held.
void rvt_ruc_loopback(rvt_qp* sqp);
/// Completes the oldest send, `wqe`; no effect in RESET, INIT and RTR. Any context, no lock held.
void rvt_send_complete(rvt_qp* qp, rvt_swqe* wqe, ib_wc_status status);
/// Retires the oldest send, `wqe`, and enters its completion unless it is an unsignaled success or
/// a reserved operation.
/// @return the new s_last
std::uint32_t rvt_qp_complete_swqe(rvt_qp* qp, rvt_swqe* wqe, ib_wc_opcode opcode,
                                   ib_wc_status status);
/// Enters a completion of a send. When the queue refuses it, the queue pair goes to ERR and the
/// last-WQE event is raised (rdmavt forgets to). Any context, no lock held.
void rvt_send_cq(rvt_qp* qp, const ib_wc* wc, bool solicited);
/// The same for a receive.
void rvt_recv_cq(rvt_qp* qp, const ib_wc* wc, bool solicited);
/// Forgets the elements in hand and, with `clr_sends`, all posted sends, without completions. Any
/// context.
void rvt_clear_mr_refs(rvt_qp* qp, int clr_sends);

// --- RNR
// ------------------------------------------------------------------------------------------

/// What a timer's callback answers.
enum hrtimer_restart : std::uint8_t { HRTIMER_NORESTART = 0, HRTIMER_RESTART = 1 };

inline constexpr unsigned RVT_AETH_CREDIT_SHIFT = 24;  ///< of an AETH's timer code
/// Microseconds of a timer code: 5 bits, the rest is not looked at. Code 0 is the longest.
std::uint32_t rvt_rnr_tbl_to_usec(std::uint32_t index);
/// Makes a queue pair wait for as long as the AETH of an RNR NAK says (InfiniBand specification
/// 9.7.5.2.8), from now. A wait that runs starts anew. Any context.
void rvt_add_rnr_timer(rvt_qp* qp, std::uint32_t aeth);
/// Ends the wait, but leaves the timer: it lets the send engine run.
void rvt_stop_rnr_timer(rvt_qp* qp);
/// What the RNR timer does. @return HRTIMER_NORESTART
hrtimer_restart rvt_rc_rnr_retry(rvt_qp* qp);
/// Ends waits for an ACK or after an RNR NAK, with their timers; no effect without such a wait. Any
/// context.
void rvt_stop_rc_timers(rvt_qp* qp);
/// Cancels the timers of a queue pair, whatever its flags say. Any context: timers here never run
/// beside who calls this.
void rvt_del_timers_sync(rvt_qp* qp);

// --- Receives
// -------------------------------------------------------------------------------------

/// The producer's index of a receive ring.
/// @param ip a user's ring, of which there are none: not looked at
std::uint32_t get_rvt_head(rvt_rq* rq, void* ip);
/// Makes the receive `wqe` the queue pair's present one: r_sge and r_len.
/// @return 1; 0 an element's key: the receive has been completed with IB_WC_LOC_PROT_ERR
int init_sge(rvt_qp* qp, const rvt_rwqe* wqe);
/// Takes the next receive of a looped-back queue pair, own or shared. Any context; the queue pair
/// has one receive in hand, so whoever takes it keeps interrupts off until it is completed.
/// @param wr_id_only its elements are not looked at (RDMA WRITE with immediate)
/// @return 1: it is in hand (RVT_R_WRID_VALID); 0: there is none or the state permits none, or,
/// when
///   r_take is kWaiting, the adapter has been asked and whoever sends will be woken; -1: it was
///   completed with an error, or the shared queue has failed
int rvt_get_rwqe(rvt_qp* qp, bool wr_id_only);

// --- Copying
// --------------------------------------------------------------------------------------

/// Bytes, of `length` at most, that follow each other in host memory from where the element stands.
std::uint32_t rvt_get_sge_length(const rvt_sge* sge, std::uint32_t length);
/// Moves on by `length` bytes, which end in the present element.
/// @param release forget an element that is done
void rvt_update_sge(rvt_sge_state* ss, std::uint32_t length, bool release);
/// Moves on without copying.
void rvt_skip_sge(rvt_sge_state* ss, std::uint32_t length, bool release);
/// Copies to where a list of elements stands, which has to hold `length` bytes, and charges the CPU
/// time unless it was paid for. Any context.
/// @param release forget elements that are done
/// @param copy_last write the last 8 bytes one by one after all others, for who polls on them
void rvt_copy_sge(rvt_qp* qp, rvt_sge_state* ss, const void* data, std::uint32_t length,
                  bool release, bool copy_last);

}  // namespace hcasim::rvt
