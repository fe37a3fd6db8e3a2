// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Numbers of the verbs interface: the enumerations of the kernel's ib_verbs.h and of rdmavt under
/// their own names. Errors are returned as negative errno values throughout.
namespace hcasim::rvt {

/// State of a queue pair.
enum ib_qp_state : std::uint8_t {
  IB_QPS_RESET = 0,  ///< fresh or reset; not reachable by packets, nothing can be posted
  IB_QPS_INIT = 1,   ///< receives can be posted
  IB_QPS_RTR = 2,    ///< ready to receive
  IB_QPS_RTS = 3,    ///< ready to send
  IB_QPS_SQD = 4,    ///< send queue drained: what has begun is finished, nothing new starts
  IB_QPS_SQE = 5,    ///< send queue in error; receives go on (UC, UD)
  IB_QPS_ERR = 6,    ///< both queues flush
};

/// Type of a queue pair. Only SMI, GSI, RC, UC and UD can be created.
enum ib_qp_type : std::uint16_t {
  IB_QPT_SMI = 0,
  IB_QPT_GSI = 1,
  IB_QPT_RC = 2,
  IB_QPT_UC = 3,
  IB_QPT_UD = 4,
  IB_QPT_RAW_IPV6 = 5,
  IB_QPT_RAW_ETHERTYPE = 6,
  IB_QPT_RAW_PACKET = 8,
  IB_QPT_XRC_INI = 9,
  IB_QPT_XRC_TGT = 10,
  IB_QPT_MAX = 11,
  IB_QPT_DRIVER = 0xff,
};

/// Operation of a send work request.
enum ib_wr_opcode : std::uint8_t {
  IB_WR_RDMA_WRITE = 0,
  IB_WR_RDMA_WRITE_WITH_IMM = 1,
  IB_WR_SEND = 2,
  IB_WR_SEND_WITH_IMM = 3,
  IB_WR_RDMA_READ = 4,
  IB_WR_ATOMIC_CMP_AND_SWP = 5,
  IB_WR_ATOMIC_FETCH_AND_ADD = 6,
  IB_WR_LOCAL_INV = 7,
  IB_WR_BIND_MW = 8,
  IB_WR_SEND_WITH_INV = 9,
  IB_WR_LSO = 10,
  IB_WR_RDMA_READ_WITH_INV = 11,
  IB_WR_MASKED_ATOMIC_CMP_AND_SWP = 12,
  IB_WR_MASKED_ATOMIC_FETCH_AND_ADD = 13,
  IB_WR_REG_MR = 0x20,
  IB_WR_REG_MR_INTEGRITY = 0x21,
  IB_WR_RESERVED1 = 0xf0,   ///< first of ten opcodes that belong to the device
  IB_WR_RESERVED10 = 0xf9,  ///< last of them
};

/// Slots of an operation table: one more than the largest opcode.
inline constexpr unsigned RVT_OPERATION_MAX = IB_WR_RESERVED10 + 1;

/// Flags of a send work request.
enum ib_send_flags : std::uint32_t {
  IB_SEND_FENCE = 0x1,      ///< wait for earlier READs and atomics
  IB_SEND_SIGNALED = 0x2,   ///< completion also on success
  IB_SEND_SOLICITED = 0x4,  ///< the peer's completion is a solicited one
  IB_SEND_INLINE = 0x8,     ///< data is copied at the post, up to cap.max_inline_data bytes
  IB_SEND_IP_CSUM = 0x10,   ///< no effect
};

/// Set in the shadow of a work request that uses a reserved slot.
inline constexpr std::uint32_t RVT_SEND_RESERVE_USED = 1u << 26;
/// Set in the shadow of a local operation that is already done.
inline constexpr std::uint32_t RVT_SEND_COMPLETION_ONLY = 1u << 27;

/// Status of a work completion.
enum ib_wc_status : std::uint8_t {
  IB_WC_SUCCESS = 0,
  IB_WC_LOC_LEN_ERR = 1,
  IB_WC_LOC_QP_OP_ERR = 2,
  IB_WC_LOC_EEC_OP_ERR = 3,
  IB_WC_LOC_PROT_ERR = 4,
  IB_WC_WR_FLUSH_ERR = 5,
  IB_WC_MW_BIND_ERR = 6,
  IB_WC_BAD_RESP_ERR = 7,
  IB_WC_LOC_ACCESS_ERR = 8,
  IB_WC_REM_INV_REQ_ERR = 9,
  IB_WC_REM_ACCESS_ERR = 10,
  IB_WC_REM_OP_ERR = 11,
  IB_WC_RETRY_EXC_ERR = 12,
  IB_WC_RNR_RETRY_EXC_ERR = 13,
  IB_WC_LOC_RDD_VIOL_ERR = 14,
  IB_WC_REM_INV_RD_REQ_ERR = 15,
  IB_WC_REM_ABORT_ERR = 16,
  IB_WC_INV_EECN_ERR = 17,
  IB_WC_INV_EEC_STATE_ERR = 18,
  IB_WC_FATAL_ERR = 19,
  IB_WC_RESP_TIMEOUT_ERR = 20,
  IB_WC_GENERAL_ERR = 21,
};

/// Operation of a work completion; bit 7 marks receives.
enum ib_wc_opcode : std::uint8_t {
  IB_WC_SEND = 0,
  IB_WC_RDMA_WRITE = 1,
  IB_WC_RDMA_READ = 2,
  IB_WC_COMP_SWAP = 3,
  IB_WC_FETCH_ADD = 4,
  IB_WC_BIND_MW = 5,
  IB_WC_LOCAL_INV = 6,
  IB_WC_LSO = 7,
  IB_WC_REG_MR = 8,
  IB_WC_MASKED_COMP_SWAP = 9,
  IB_WC_MASKED_FETCH_ADD = 10,
  IB_WC_RECV = 128,
  IB_WC_RECV_RDMA_WITH_IMM = 129,
};

/// Flags of a work completion.
enum ib_wc_flags : std::uint8_t {
  IB_WC_GRH = 1,              ///< 40 bytes of GRH precede the data (UD)
  IB_WC_WITH_IMM = 2,         ///< ex.imm_data counts
  IB_WC_WITH_INVALIDATE = 4,  ///< ex.invalidate_rkey counts
};

/// Kind of a region made by ib_alloc_mr. Only MEM_REG is supported.
enum ib_mr_type : std::uint8_t {
  IB_MR_TYPE_MEM_REG = 0,
  IB_MR_TYPE_SG_GAPS = 1,
  IB_MR_TYPE_DM = 2,
  IB_MR_TYPE_USER = 3,
  IB_MR_TYPE_DMA = 4,
  IB_MR_TYPE_INTEGRITY = 5,
};

/// Access rights of memory regions and queue pairs.
enum ib_access_flags : std::uint32_t {
  IB_ACCESS_LOCAL_WRITE = 0x1,
  IB_ACCESS_REMOTE_WRITE = 0x2,
  IB_ACCESS_REMOTE_READ = 0x4,
  IB_ACCESS_REMOTE_ATOMIC = 0x8,
  IB_ACCESS_MW_BIND = 0x10,
  IB_ZERO_BASED = 0x20,
  IB_ACCESS_ON_DEMAND = 0x40,
  IB_ACCESS_HUGETLB = 0x80,
  IB_ACCESS_RELAXED_ORDERING = 1u << 20,
  IB_ACCESS_OPTIONAL = 0x3ff0'0000,  ///< bits that a device may ignore
};

/// Which members of ib_qp_attr a modify changes.
enum ib_qp_attr_mask : std::uint32_t {
  IB_QP_STATE = 0x1,
  IB_QP_CUR_STATE = 0x2,
  IB_QP_EN_SQD_ASYNC_NOTIFY = 0x4,
  IB_QP_ACCESS_FLAGS = 0x8,
  IB_QP_PKEY_INDEX = 0x10,
  IB_QP_PORT = 0x20,
  IB_QP_QKEY = 0x40,
  IB_QP_AV = 0x80,
  IB_QP_PATH_MTU = 0x100,
  IB_QP_TIMEOUT = 0x200,
  IB_QP_RETRY_CNT = 0x400,
  IB_QP_RNR_RETRY = 0x800,
  IB_QP_RQ_PSN = 0x1000,
  IB_QP_MAX_QP_RD_ATOMIC = 0x2000,
  IB_QP_ALT_PATH = 0x4000,
  IB_QP_MIN_RNR_TIMER = 0x8000,
  IB_QP_SQ_PSN = 0x1'0000,
  IB_QP_MAX_DEST_RD_ATOMIC = 0x2'0000,
  IB_QP_PATH_MIG_STATE = 0x4'0000,
  IB_QP_CAP = 0x8'0000,
  IB_QP_DEST_QPN = 0x10'0000,
  IB_QP_RATE_LIMIT = 0x200'0000,
  IB_QP_ATTR_STANDARD_BITS = 0x1f'ffff,  ///< all that rvt_modify_qp knows
};

/// State of path migration.
enum ib_mig_state : std::uint8_t { IB_MIG_MIGRATED = 0, IB_MIG_REARM = 1, IB_MIG_ARMED = 2 };

/// Path MTU: 128 << value bytes.
enum ib_mtu : std::uint8_t {
  IB_MTU_256 = 1,
  IB_MTU_512 = 2,
  IB_MTU_1024 = 3,
  IB_MTU_2048 = 4,
  IB_MTU_4096 = 5,
};

/// Bytes of a path MTU; -1 for an unknown code.
constexpr int ib_mtu_enum_to_int(ib_mtu mtu) {
  return mtu >= IB_MTU_256 && mtu <= IB_MTU_4096 ? 128 << mtu : -1;
}

/// Flags of ib_req_notify_cq.
enum ib_cq_notify_flags : std::uint8_t {
  IB_CQ_SOLICITED = 1,
  IB_CQ_NEXT_COMP = 2,
  IB_CQ_SOLICITED_MASK = 3,
  IB_CQ_REPORT_MISSED_EVENTS = 4,
};

/// Value of rvt_cq::notify while no notification is wanted.
inline constexpr std::uint8_t RVT_CQ_NONE = IB_CQ_SOLICITED_MASK;

/// Which sends complete with a completion.
enum ib_sig_type : std::uint8_t { IB_SIGNAL_ALL_WR = 0, IB_SIGNAL_REQ_WR = 1 };

/// Which members of ib_srq_attr ib_modify_srq changes.
enum ib_srq_attr_mask : std::uint32_t { IB_SRQ_MAX_WR = 1, IB_SRQ_LIMIT = 2 };

/// Types of shared receive queues; only the first is supported.
enum ib_srq_type : std::uint8_t { IB_SRQT_BASIC = 0, IB_SRQT_XRC = 1, IB_SRQT_TM = 2 };

/// Flags of ib_qp_init_attr.
enum ib_qp_create_flags : std::uint32_t { IB_QP_CREATE_NETDEV_USE = 1u << 7 };

/// Asynchronous events.
enum ib_event_type : std::uint8_t {
  IB_EVENT_CQ_ERR = 0,
  IB_EVENT_QP_FATAL = 1,
  IB_EVENT_QP_REQ_ERR = 2,
  IB_EVENT_QP_ACCESS_ERR = 3,
  IB_EVENT_COMM_EST = 4,
  IB_EVENT_SQ_DRAINED = 5,
  IB_EVENT_PATH_MIG = 6,
  IB_EVENT_PATH_MIG_ERR = 7,
  IB_EVENT_DEVICE_FATAL = 8,
  IB_EVENT_PORT_ACTIVE = 9,
  IB_EVENT_PORT_ERR = 10,
  IB_EVENT_LID_CHANGE = 11,
  IB_EVENT_PKEY_CHANGE = 12,
  IB_EVENT_SM_CHANGE = 13,
  IB_EVENT_SRQ_ERR = 14,
  IB_EVENT_SRQ_LIMIT_REACHED = 15,
  IB_EVENT_QP_LAST_WQE_REACHED = 16,
  IB_EVENT_CLIENT_REREGISTER = 17,
  IB_EVENT_GID_CHANGE = 18,
};

/// What a state permits: bits of ib_rvt_state_ops.
enum rvt_state_ops : std::uint8_t {
  RVT_POST_SEND_OK = 0x01,
  RVT_POST_RECV_OK = 0x02,
  RVT_PROCESS_RECV_OK = 0x04,
  RVT_PROCESS_SEND_OK = 0x08,
  RVT_PROCESS_NEXT_SEND_OK = 0x10,
  RVT_FLUSH_SEND = 0x20,
  RVT_FLUSH_RECV = 0x40,
  RVT_PROCESS_OR_FLUSH_SEND = RVT_PROCESS_SEND_OK | RVT_FLUSH_SEND,
};

/// rvt_state_ops of each ib_qp_state.
inline constexpr std::uint8_t ib_rvt_state_ops[IB_QPS_ERR + 1] = {0x00, 0x02, 0x06, 0x1f,
                                                                  0x0f, 0x27, 0x63};

/// Largest message, in bytes.
inline constexpr std::uint64_t RVT_MAX_MESSAGE = 1ull << 31;
/// QPNs are 24 bits.
inline constexpr std::uint32_t RVT_QPN_MAX = 1u << 24;
inline constexpr std::uint32_t RVT_QPN_MASK = RVT_QPN_MAX - 1;  ///< bits of a QPN
inline constexpr std::uint32_t RVT_PSN_MASK = 0x00ff'ffff;      ///< bits of a PSN on the wire

}  // namespace hcasim::rvt
