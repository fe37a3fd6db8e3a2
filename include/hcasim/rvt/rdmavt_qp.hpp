// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/wqe.hpp"
#include "hcasim/rvt/ib_objects.hpp"
#include "hcasim/rvt/rdmavt_mr.hpp"
#include "hcasim/rvt/sync.hpp"

/// Queue pairs of the driver: what the kernel has in rdmavt_qp.h and in rdmavt's qp.c.
namespace hcasim::rvt {

struct rvt_dev_info;

// --- Operation table ----------------------------------------------------------------------------

/// Flags of an operation.
enum rvt_operation_flags : std::uint32_t {
  RVT_OPERATION_PRIV = 0x1,          ///< not from user protection domains
  RVT_OPERATION_ATOMIC = 0x2,        ///< needs max_rd_atomic > 0
  RVT_OPERATION_ATOMIC_SGE = 0x4,    ///< first element: 8 bytes or more, aligned to 8
  RVT_OPERATION_LOCAL = 0x8,         ///< does not leave the device
  RVT_OPERATION_USE_RESERVE = 0x10,  ///< takes a reserved slot
  RVT_OPERATION_IGN_RNR_CNT = 0x20,  ///< never fails for want of a receive
};

/// What a device makes of an opcode.
struct rvt_operation_params {
  std::size_t length = 0;         ///< bytes of the work request to take; 0: not supported
  std::uint32_t qpt_support = 0;  ///< bit 1 << ib_qp_type for each type that has it
  std::uint32_t flags = 0;        ///< rvt_operation_flags
};

/// Operations by opcode.
using rvt_operation_table = std::array<rvt_operation_params, RVT_OPERATION_MAX>;
/// The operations of the adapter.
extern const rvt_operation_table rvt_hca_post_parms;

/// ib_wc_opcode of a send opcode; IB_WC_SEND for one that has none.
constexpr ib_wc_opcode rvt_wc_opcode(ib_wr_opcode opcode) {
  switch (opcode) {
    case IB_WR_RDMA_WRITE:
    case IB_WR_RDMA_WRITE_WITH_IMM:
      return IB_WC_RDMA_WRITE;
    case IB_WR_RDMA_READ:
      return IB_WC_RDMA_READ;
    case IB_WR_ATOMIC_CMP_AND_SWP:
      return IB_WC_COMP_SWAP;
    case IB_WR_ATOMIC_FETCH_AND_ADD:
      return IB_WC_FETCH_ADD;
    case IB_WR_LOCAL_INV:
      return IB_WC_LOCAL_INV;
    case IB_WR_REG_MR:
      return IB_WC_REG_MR;
    default:
      return IB_WC_SEND;
  }
}

// --- Queues -------------------------------------------------------------------------------------

/// A receive queue: a ring of hw::ReceiveWqe in host memory with one slot always empty.
struct rvt_rq {
  spinlock_t p_lock;
  std::uint64_t wq = 0;           ///< host address of the ring
  std::uint64_t tail_record = 0;  ///< host address of the adapter's hw::TailRecord
  std::uint32_t size = 0;         ///< slots: max_wr + 1
  std::uint32_t stride = 0;       ///< bytes of a slot
  std::uint32_t max_sge = 0;      ///< elements of a slot
  std::uint32_t head = 0;         ///< slot to be posted next
  std::uint32_t tail = 0;         ///< oldest slot in use as last read; never ahead of the truth
  bool on_adapter = false;        ///< the adapter owns it: from RTR until RESET
  bool flushed = false;           ///< flushed in ERR: later receives complete at the post
};

/// What the driver remembers of a posted send: its slot of the ring is the adapter's.
struct rvt_swqe {
  std::uint64_t wr_id = 0;
  std::uint32_t length = 0;      ///< bytes of the message
  std::uint32_t psn = 0;         ///< first PSN
  std::uint32_t lpsn = 0;        ///< last PSN
  std::uint32_t ssn = 0;         ///< send sequence number
  std::uint32_t send_flags = 0;  ///< ib_send_flags, RVT_SEND_*
  std::uint32_t key = 0;         ///< REG_MR: the new key
  ib_wr_opcode opcode = IB_WR_SEND;
  std::uint8_t num_sge = 0;  ///< elements after empty ones went and neighbours merged
};

/// A receive as it was posted.
struct rvt_rwqe {
  std::uint64_t wr_id = 0;
  std::uint8_t num_sge = 0;
  std::array<ib_sge, hw::kMaxReceiveSge> sg_list{};
};

/// What came of asking the adapter for a receive of the SRQ.
enum class rvt_take : std::uint8_t {
  kNone,     ///< nothing was asked for
  kWaiting,  ///< a receive is on its way, or the answer that there is none
  kGranted,  ///< it is there
  kEmpty,    ///< there is none
  kFailed,   ///< the queue has failed
};

/// Bits of rvt_qp::r_aflags.
inline constexpr std::uint8_t RVT_R_WRID_VALID = 0x1;  ///< a receive is in hand
inline constexpr std::uint8_t RVT_R_REWIND_SGE = 0x2;  ///< never set: loopback keeps none in hand
/// Bits of rvt_qp::r_flags.
inline constexpr std::uint8_t RVT_R_COMM_EST = 0x10;  ///< IB_EVENT_COMM_EST was raised
/// Bits of rvt_qp::s_flags.
inline constexpr std::uint32_t RVT_S_SIGNAL_REQ_WR = 0x1;  ///< completions only where asked for

inline constexpr std::uint32_t RVT_S_BUSY = 0x2;   ///< the send engine is at work
inline constexpr std::uint32_t RVT_S_TIMER = 0x4;  ///< ACK timer; loopback has none
inline constexpr std::uint32_t RVT_S_WAIT_RNR = 0x80;
/// The driver's own bit: waits for a receive that the adapter is asked for.
inline constexpr std::uint32_t RVT_S_WAIT_RWQE = 1u << 31;
/// Fence, READs, RNR, credit, DMA, PSN, ACK: no request may be sent.
inline constexpr std::uint32_t RVT_S_ANY_WAIT_SEND = 0xc3e0 | RVT_S_WAIT_RWQE;
/// PIO, TX, DMA descriptor, memory: nothing may be sent.
inline constexpr std::uint32_t RVT_S_ANY_WAIT_IO = 0x3c00;
inline constexpr std::uint32_t RVT_S_ANY_WAIT = RVT_S_ANY_WAIT_SEND | RVT_S_ANY_WAIT_IO;

/// A queue pair of the driver. Indices of what the adapter has sent or had acknowledged (s_tail,
/// s_cur, s_acked) are the adapter's and do not exist here.
struct rvt_qp {
  ib_qp ibqp;
  rvt_dev_info* rdi = nullptr;
  rvt_qp* next = nullptr;  ///< of its bucket
  bool in_table = false;   ///< can be found by packets
  Mutex mutex;             ///< serialises control verbs
  void* priv = nullptr;    ///< of rvt_driver_provided::qp_priv_alloc

  // Configuration.
  rdma_ah_attr remote_ah_attr;
  rdma_ah_attr alt_ah_attr;
  std::uint32_t remote_qpn = 0;
  std::uint32_t qkey = 0;
  std::uint32_t qp_access_flags = 0;
  std::uint32_t pmtu = 0;  ///< bytes
  std::uint8_t log_pmtu = 0;
  ib_qp_state state = IB_QPS_RESET;
  std::uint8_t allowed_ops = 0;  ///< base of the transport's opcodes on the wire
  std::uint8_t timeout = 0;
  std::uint8_t alt_timeout = 0;
  ib_mig_state s_mig_state = IB_MIG_MIGRATED;
  std::uint16_t s_pkey_index = 0;
  std::uint16_t s_alt_pkey_index = 0;
  std::uint8_t r_max_rd_atomic = 0;
  std::uint8_t s_max_rd_atomic = 0;
  std::uint8_t s_retry_cnt = 0;
  std::uint8_t s_rnr_retry_cnt = 0;
  std::uint8_t r_min_rnr_timer = 0;
  std::uint32_t port_num = 0;
  /// Its path leads to its own port: its sends and receives are the driver's, and the adapter knows
  /// it in INIT. From RTR until RESET.
  bool looped = false;

  // Receive side.
  spinlock_t r_lock{LockRank::kReceive};
  rvt_rq r_rq;
  std::uint32_t r_psn = 0;  ///< as last set or queried
  std::uint8_t r_flags = 0;
  // Of a queue pair that is looped back:
  std::uint8_t r_aflags = 0;
  rvt_take r_take = rvt_take::kNone;
  std::uint64_t r_wr_id = 0;  ///< of the receive in hand
  std::uint64_t r_len = 0;    ///< bytes that it holds
  rvt_sge_state r_sge;
  std::vector<rvt_sge> r_sg_list;  ///< elements of r_sge after the first
  bool last_wqe_raised = false;    ///< IB_EVENT_QP_LAST_WQE_REACHED was raised in this life

  // Send side.
  spinlock_t s_hlock{LockRank::kSendHead};
  spinlock_t s_lock{LockRank::kSend};
  std::vector<rvt_swqe> s_wq;  ///< one for each slot of the ring; empty before the first post
  std::uint64_t s_ring = 0;    ///< host address of the ring
  std::uint32_t s_stride = 0;  ///< bytes of a slot
  std::uint32_t s_size = 0;    ///< slots: max_send_wr + 1 + reserved
  std::uint32_t s_max_sge = 0;
  std::uint32_t s_max_inline = 0;     ///< bytes
  std::uint32_t s_head = 0;           ///< slot to be posted next
  std::uint32_t s_last = 0;           ///< oldest slot not known to be complete
  std::uint32_t s_avail = 0;          ///< free slots, at least
  std::uint32_t s_reserved_used = 0;  ///< slots of reserved operations in use
  std::uint32_t s_reg_used = 0;       ///< slots of REG_MR in use
  std::uint32_t s_next_psn = 0;       ///< PSN of the next send
  std::uint32_t s_ssn = 1;            ///< send sequence number of the next send
  std::uint32_t s_flags = 0;
  std::uint32_t local_ops_pending = 0;  ///< LOCAL_INVs that the send engine has to carry out
  std::uint8_t s_rnr_retry = 0;         ///< RNR NAKs that the present send may still get
  bool s_copy_paid = false;             ///< the time to copy the oldest send has passed
  std::uint64_t s_rnr_timer = 0;        ///< pending RNR timer, 0: none
  std::uint64_t s_send_timer = 0;       ///< pending run of the send engine, 0: none
  bool s_draining = false;
};

/// The driver's object behind a verbs object.
inline rvt_qp* ibqp_to_rvtqp(ib_qp* qp) {
  return reinterpret_cast<rvt_qp*>(qp);
}

/// Value of allowed_ops of UD, SMI and GSI.
inline constexpr std::uint8_t RVT_UD_OPS = 0x60;
/// Sends of the queue pair go where their address handle says: UD, SMI and GSI.
inline bool rvt_is_datagram(const rvt_qp* qp) {
  return qp->allowed_ops == RVT_UD_OPS;
}
/// Layout of its send WQEs.
inline hw::QpType rvt_wqe_type(const rvt_qp* qp) {
  return rvt_is_datagram(qp) ? hw::QpType::kUd : hw::QpType::kRc;
}

// --- Life cycle (tasks only, except where said)
// ---------------------------------------------------

/// Base of a transport's wire opcodes: RC 0x00, UC 0x20, all others 0x60.
std::uint8_t get_allowed_ops(ib_qp_type type);
/// Allocates a receive ring of size_bytes = slots * stride; `size`, `stride` and `max_sge` are the
/// caller's. Any context.
/// @return 0; -ENOMEM with nothing allocated
int rvt_alloc_rq(rvt_dev_info* rdi, rvt_rq* rq, std::uint64_t size_bytes);
/// Gives a receive ring back. Any context.
void rvt_free_rq(rvt_dev_info* rdi, rvt_rq* rq);
/// Checks that each slot of a UD queue's send ring has room for the path that it carries: nothing
/// else is to be allocated. Any context.
/// @param node NUMA node, not looked at
/// @return 0; -ENOMEM no room
int alloc_ud_wq_attr(rvt_qp* qp, int node);
/// Takes alloc_ud_wq_attr back, which is nothing: the paths go with the ring. Any context.
void free_ud_wq_attr(rvt_qp* qp);
/// Puts the fields of a queue pair to what they are in RESET. Any context.
void rvt_init_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_type type);
/// Makes a queue pair in the caller's object, whose device, pd, type, CQs, SRQ and handlers are
/// set.
/// @return 0 or, checked in this order: -EOPNOTSUPP create_flags; -EINVAL send sizes; -EINVAL
///   receive sizes (without SRQ); -EINVAL all sizes 0; -EINVAL port or -EOPNOTSUPP type; -ENOMEM
///   send ring; errors of qp_priv_alloc; -ENOMEM receive ring; -EINVAL QP0 or QP1 exists; -ENOMEM
///   no QPN; errors of qp_priv_init; -ENOMEM max_qp exist; -ENOMEM table; errors of the adapter.
///   Nothing is left of it then.
int rvt_create_qp(ib_qp* ibqp, ib_qp_init_attr* init_attr, ib_udata* udata);
/// Checks everything, then changes state and attributes.
/// @return 0; -EOPNOTSUPP unknown mask bits; -EINVAL transition, mask, veto of check_modify_qp or a
///   value out of range; -EIO the adapter did not answer
int rvt_modify_qp(ib_qp* ibqp, ib_qp_attr* attr, int attr_mask, ib_udata* udata);
/// @return 0
int rvt_query_qp(ib_qp* ibqp, ib_qp_attr* attr, int attr_mask, ib_qp_init_attr* init_attr);
/// Frees what the queue pair has, not the object itself.
/// @return 0
int rvt_destroy_qp(ib_qp* ibqp, ib_udata* udata);
/// Brings a queue pair to RESET and empties both queues without completions.
/// @return 0; -EIO the adapter did not answer
int rvt_reset_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_type type);
/// The same with the mutex held.
int _rvt_reset_qp(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_type type);
/// Moves a queue pair to ERR without waiting. On the wire receives are flushed when the adapter has
/// stopped; looped back, before this returns, and the send engine flushes the sends later. Any
/// context. No effect in ERR and RESET.
/// @param err status of a receive in hand; on the wire the adapter completes it
/// @return 1: the caller has to raise IB_EVENT_QP_LAST_WQE_REACHED, once it has dropped its locks;
///   0: there is none, or the adapter raises it
int rvt_error_qp(rvt_qp* qp, ib_wc_status err);
/// rvt_error_qp with its locks taken (none where it flushes at once), and its event.
void rvt_rc_error(rvt_qp* qp, ib_wc_status err);
/// Completes every posted receive of a queue pair in ERR, from `tail` on, as flushed; once. Any
/// context.
void rvt_flush_rq(rvt_qp* qp, std::uint32_t tail);
/// Raises IB_EVENT_COMM_EST and remembers it. Any context.
void rvt_comm_est(rvt_qp* qp);
/// True when the modify table allows the move with this mask (core function of the same name).
bool ib_modify_qp_is_ok(ib_qp_state cur_state, ib_qp_state next_state, ib_qp_type type,
                        std::uint32_t mask);

// --- Posting (any context)
// ------------------------------------------------------------------------

/// See ib_post_send.
/// @return 0; -EINVAL state or request; -ENOMEM queue full; -EACCES region of REG_MR
int rvt_post_send(ib_qp* ibqp, const ib_send_wr* wr, const ib_send_wr** bad_wr);
/// See ib_post_recv. @return 0; -EINVAL state, SRQ or too many elements; -ENOMEM queue full
int rvt_post_recv(ib_qp* ibqp, const ib_recv_wr* wr, const ib_recv_wr** bad_wr);
/// Posts one send without doorbell; s_hlock held.
/// @param call_send set to false when the message needs more than one packet
/// @return 0; -EINVAL; -ENOMEM; -EACCES region of REG_MR; errors of setup_wqe
int rvt_post_one_wr(rvt_qp* qp, const ib_send_wr* wr, bool* call_send);
/// Checks a send against a table of operations.
/// @return bytes of the work request to take, not of the message; -EINVAL
int rvt_qp_valid_operation(rvt_qp* qp, const rvt_operation_params* post_parms,
                           const ib_send_wr* wr);
/// True room for a send?
/// @return 0; -ENOMEM
int rvt_qp_is_avail(rvt_qp* qp, rvt_dev_info* rdi, bool reserved_op);

// --- Keys in use
// ----------------------------------------------------------------------------------

/// True when the send in this slot of the ring uses the region of `lkey`, under any of its keys.
bool rvt_swqe_has_lkey(rvt_qp* qp, std::uint32_t slot, std::uint32_t lkey);
/// True when a send that is not complete uses the region of `lkey`.
bool rvt_qp_sends_has_lkey(rvt_qp* qp, std::uint32_t lkey);
/// True when an answer that is being given uses the region of `lkey`: never, as loopback answers
/// READs and atomics at once and those of the wire are the adapter's.
bool rvt_qp_acks_has_lkey(rvt_qp* qp, std::uint32_t lkey);
/// Moves a queue pair whose sends, or receive in hand, use the region of `lkey` to ERR; not SMI and
/// GSI.
void rvt_qp_mr_clean(rvt_qp* qp, std::uint32_t lkey);

}  // namespace hcasim::rvt
