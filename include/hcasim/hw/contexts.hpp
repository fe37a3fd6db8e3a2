// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "hcasim/hw/layout.hpp"

/// Contexts of the adapter's objects, as mailboxes and host memory hold them.
namespace hcasim::hw {

/// QP types and states: the values of enum ib_qp_type and enum ib_qp_state.
enum class QpType : std::uint8_t { kSmi = 0, kGsi = 1, kRc = 2, kUc = 3, kUd = 4 };
enum class QpState : std::uint8_t {
  kReset = 0,
  kInit = 1,
  kRtr = 2,
  kRts = 3,
  kSqd = 4,
  kSqe = 5,
  kErr = 6,
};

/// Access rights of a QP or an MR: the values of enum ib_access_flags.
enum AccessFlags : std::uint32_t {
  kLocalWrite = 0x1,
  kRemoteWrite = 0x2,
  kRemoteRead = 0x4,
  kRemoteAtomic = 0x8,
};

/// Path to the peer (struct rdma_ah_attr, RoCEv2). IPv4 addresses are IPv4-mapped GIDs.
struct AddressVector {
  std::array<std::uint8_t, 16> sgid;
  std::array<std::uint8_t, 16> dgid;
  std::array<std::uint8_t, 6> smac;
  std::array<std::uint8_t, 6> dmac;
  std::uint16_t udp_sport;  ///< 0xC000..0xFFFF
  std::uint8_t traffic_class;
  std::uint8_t hop_limit;
  std::uint8_t port;  ///< 1-based
  std::uint8_t reserved[15];
};
static_assert(sizeof(AddressVector) == 64);

/// Queue pair.
struct QpContext {
  std::uint32_t qpn;
  std::uint32_t pd;
  QpType type;
  QpState state;
  std::uint8_t path_mtu;       ///< enum ib_mtu: 1 = 256 .. 5 = 4096 bytes
  std::uint8_t timeout;        ///< local ACK timeout: 4.096 us * 2^timeout, 0 = none
  std::uint8_t retry_cnt;      ///< 0..7
  std::uint8_t rnr_retry;      ///< 0..7, 7 = for ever
  std::uint8_t min_rnr_timer;  ///< 0..31
  std::uint8_t uses_srq;
  std::uint32_t send_cqn;
  std::uint32_t recv_cqn;
  std::uint32_t srqn;
  std::uint32_t remote_qpn;
  std::uint32_t sq_psn;             ///< first PSN to send
  std::uint32_t rq_psn;             ///< first PSN expected
  std::uint32_t access_flags;       ///< remote rights of AccessFlags
  std::uint8_t max_rd_atomic;       ///< outstanding READs and atomics as requester
  std::uint8_t max_dest_rd_atomic;  ///< the same as responder
  std::uint16_t pkey_index;
  std::uint32_t qkey;
  std::uint32_t sq_size;      ///< slots of the send ring
  std::uint64_t sq_base;      ///< host address, aligned to 64
  std::uint32_t sq_stride;    ///< bytes of a slot, whole blocks
  std::uint32_t rq_size;      ///< slots of the own receive ring, 0 with an SRQ
  std::uint64_t rq_base;      ///< host address, aligned to max(64, stride)
  std::uint32_t rq_stride;    ///< 32, 64, 128, 256 or 512
  std::uint32_t rq_head;      ///< producer index at the transition to RTR
  std::uint64_t tail_record;  ///< host address of the own receive queue's TailRecord
  AddressVector av;
  std::uint8_t port;  ///< that the queue pair is bound to, 1-based; 0, before INIT: the first
  std::uint8_t reserved[95];
};
static_assert(sizeof(QpContext) == 256);

/// Longest CqContext::cq_period, of 12 bits as mlx5 has it.
inline constexpr std::uint16_t kMaxCqPeriod = 4095;

/// Completion queue.
struct CqContext {
  std::uint32_t cqn;
  std::uint32_t cqe;              ///< entries that fit; the ring has exactly as many slots
  std::uint64_t base;             ///< host address, aligned to 64
  std::uint64_t consumer_record;  ///< host address of its ConsumerRecord
  std::uint32_t eqn;              ///< event queue of its completion events
  std::uint16_t cq_count;         ///< an armed queue's event waits for as many completions ...
  std::uint16_t cq_period;  ///< ... or so many us, up to kMaxCqPeriod; either 0: for the first one
  std::uint32_t reserved[8];
};
static_assert(sizeof(CqContext) == 64);

/// Event queue n raises MSI-X vector n.
struct EqContext {
  std::uint32_t eqn;
  std::uint32_t entries;
  std::uint64_t base;
  std::uint32_t reserved[12];
};
static_assert(sizeof(EqContext) == 64);

/// Shared receive queue. Of a pause and a query it is the answer too: head, tail and limit as they
/// are.
struct SrqContext {
  std::uint32_t srqn;  ///< with bar::kSrqBit
  std::uint32_t pd;
  std::uint32_t size;
  std::uint32_t stride;
  std::uint64_t base;
  std::uint32_t head;
  std::uint32_t limit;       ///< event when fewer remain after a take; 0: none, or it has fired
  std::uint32_t arm_number;  ///< comes back in the event of this limit
  std::uint32_t tail;        ///< consumer index, of a new ring; creation begins at 0
  std::uint64_t tail_record;
  std::uint64_t take_record;  ///< where the WQE of a take doorbell goes, `stride` bytes
  std::uint32_t reserved[2];
};
static_assert(sizeof(SrqContext) == 64);

/// Memory protection table entry: one memory region.
struct MptEntry {
  std::uint32_t key;  ///< lkey and rkey
  std::uint32_t pd;
  std::uint32_t access;        ///< AccessFlags
  std::uint8_t page_shift;     ///< log2 of the bytes an MTT entry maps
  std::uint8_t valid;          ///< 0: a fast-register region before its REG_MR, or invalidated
  std::uint8_t invalidatable;  ///< 1: fast-register region, may be invalidated by work requests
  std::uint8_t reserved0;
  std::uint64_t iova;    ///< first virtual address
  std::uint64_t length;  ///< bytes
  std::uint64_t mtt;     ///< host address of its list of MttEntry
  std::uint32_t mtt_entries;
  std::uint32_t first_offset;  ///< bytes into the first page at which iova lies
  std::uint64_t reserved[2];
};
static_assert(sizeof(MptEntry) == 64);

/// Memory translation table entry: host address of one page, aligned to its size.
struct MttEntry {
  std::uint64_t address;
};
static_assert(sizeof(MttEntry) == 8);

}  // namespace hcasim::hw
