// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "hcasim/rvt/ib_enums.hpp"

/// Work requests and work completions.
namespace hcasim::rvt {

struct ib_ah;
struct ib_cqe;
struct ib_mr;
struct ib_qp;

/// A 32-bit number in network byte order.
using be32 = std::uint32_t;

/// Number to network byte order and back.
constexpr be32 cpu_to_be32(std::uint32_t value) {
  return (value >> 24) | (value >> 8 & 0xff00) | (value << 8 & 0xff'0000) | (value << 24);
}
constexpr std::uint32_t be32_to_cpu(be32 value) {
  return cpu_to_be32(value);
}

/// A piece of a registered region.
struct ib_sge {
  std::uint64_t addr;    ///< address as the region was registered under (virt_addr)
  std::uint32_t length;  ///< bytes; an empty element is skipped
  std::uint32_t lkey;    ///< key of the region
};

/// Part of a work request or completion that depends on the operation.
union ib_ex {
  be32 imm_data;                  ///< immediate data
  std::uint32_t invalidate_rkey;  ///< key to invalidate, or that was invalidated
};

/// A send work request; the first member of those of other operations.
struct ib_send_wr {
  const ib_send_wr* next = nullptr;  ///< next of the list
  std::uint64_t wr_id = 0;           ///< returned in the completion, otherwise opaque
  const ib_sge* sg_list = nullptr;   ///< num_sge elements
  int num_sge = 0;                   ///< 0..cap.max_send_sge
  ib_wr_opcode opcode = IB_WR_SEND;  ///< what to do
  std::uint32_t send_flags = 0;      ///< ib_send_flags
  ib_ex ex = {};                     ///< immediate data or key
};

/// RDMA WRITE and READ.
struct ib_rdma_wr {
  ib_send_wr wr;
  std::uint64_t remote_addr = 0;  ///< address in the peer's region
  std::uint32_t rkey = 0;         ///< key of the peer's region
};

/// Atomics.
struct ib_atomic_wr {
  ib_send_wr wr;
  std::uint64_t remote_addr = 0;  ///< multiple of 8
  std::uint64_t compare_add = 0;  ///< value to compare with, or to add
  std::uint64_t swap = 0;         ///< value to store when equal
  std::uint32_t rkey = 0;         ///< key of the peer's region
};

/// Datagrams.
struct ib_ud_wr {
  ib_send_wr wr;
  ib_ah* ah = nullptr;            ///< path to the peer, of the QP's protection domain
  std::uint32_t remote_qpn = 0;   ///< QP of the peer
  std::uint32_t remote_qkey = 0;  ///< its Q_Key; bit 31 set: the sender's own
  std::uint16_t pkey_index = 0;   ///< GSI only
  std::uint8_t port_num = 0;      ///< SMI only
};

/// REG_MR: gives a fast-register region what ib_map_mr_sg has mapped last.
struct ib_reg_wr {
  ib_send_wr wr;
  ib_mr* mr = nullptr;       ///< made by ib_alloc_mr; its iova may be changed after the mapping
  std::uint32_t key = 0;     ///< key from now on: differs from the present one in bits 7..0 at most
  std::uint32_t access = 0;  ///< ib_access_flags
};

/// The request of which `wr` is the first member; the opcode says which it is.
inline const ib_rdma_wr* rdma_wr(const ib_send_wr* wr) {
  return reinterpret_cast<const ib_rdma_wr*>(wr);
}
inline const ib_atomic_wr* atomic_wr(const ib_send_wr* wr) {
  return reinterpret_cast<const ib_atomic_wr*>(wr);
}
inline const ib_reg_wr* reg_wr(const ib_send_wr* wr) {
  return reinterpret_cast<const ib_reg_wr*>(wr);
}
inline const ib_ud_wr* ud_wr(const ib_send_wr* wr) {
  return reinterpret_cast<const ib_ud_wr*>(wr);
}

/// A receive work request.
struct ib_recv_wr {
  const ib_recv_wr* next = nullptr;  ///< next of the list
  std::uint64_t wr_id = 0;           ///< returned in the completion, otherwise opaque
  const ib_sge* sg_list = nullptr;   ///< num_sge elements; keys are checked when data arrives
  int num_sge = 0;                   ///< 0..cap.max_recv_sge
};

/// A work completion. After an error only wr_id, status, qp and vendor_err are meaningful on every
/// device; this one fills opcode too.
struct ib_wc {
  std::uint64_t wr_id = 0;
  ib_wc_status status = IB_WC_SUCCESS;
  ib_wc_opcode opcode = IB_WC_SEND;
  std::uint8_t wc_flags = 0;     ///< ib_wc_flags
  std::uint8_t port_num = 0;     ///< 0 by the wire, 1 by loopback, as rdmavt has it
  std::uint32_t vendor_err = 0;  ///< AETH syndrome of the NAK behind a remote error
  std::uint32_t byte_len = 0;    ///< bytes of the message; of a datagram with the GRH's 40
  std::uint32_t src_qp = 0;      ///< QPN of the sender
  ib_qp* qp = nullptr;           ///< dangling once the QP is destroyed
  ib_ex ex = {};
  std::uint16_t pkey_index = 0;  ///< datagrams: entry of the P_Key table
  std::uint16_t slid = 0;        ///< always 0: an Ethernet has no LIDs
};

}  // namespace hcasim::rvt
