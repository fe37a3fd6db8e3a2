// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/layout.hpp"
#include "hcasim/hw/wire/infiniband.hpp"

/// Commands of the control verbs. The driver fills a Mailbox in host memory, writes its address to
/// bar::kCommand, and waits for the kCommandDone event with its token; the adapter has written
/// status and output back by then. One command at a time.
namespace hcasim::hw {

enum class CommandOpcode : std::uint16_t {
  kQueryDevice = 1,  ///< out: DeviceLimits
  kCreateEq = 2,     ///< in: EqContext
  kDestroyEq = 3,
  kCreateCq = 4,  ///< in: CqContext
  kDestroyCq = 5,
  kResizeCq = 6,    ///< in: CqContext, of which base and cqe count: the ring from now on
  kCreateMr = 7,    ///< in: MptEntry
  kDestroyMr = 8,   ///< object: key; answers after the last DMA that used it
  kCreateQp = 9,    ///< in: QpContext in RESET
  kModifyQp = 10,   ///< in: QpContext; mask: enum ib_qp_attr_mask bits that changed
  kQueryQp = 11,    ///< out: QpContext
  kDestroyQp = 12,  ///< quiesces first
  kCreateSrq = 13,  ///< in: SrqContext
  kModifySrq = 14,  ///< in and out: SrqContext; mask: SrqModify
  kQuerySrq = 15,   ///< out: SrqContext
  kDestroySrq = 16,
  kModifyCq = 17,     ///< in: CqContext; mask: CqModify
  kAttachMcast = 18,  ///< object: QPN; in: McastGroup
  kDetachMcast = 19,  ///< object: QPN; in: McastGroup
  kQueryPort = 20,    ///< object: port, 1-based; out: PortInfo
};

/// What kModifySrq does: a pause alone, or the other two together. Between a pause and the new ring
/// a queue pair of the SRQ cannot be stopped: no other command may come between.
enum SrqModify : std::uint32_t {
  kSrqRing = 1,   ///< go on after a pause with base, size, head and tail
  kSrqLimit = 2,  ///< arm the limit
  kSrqPause = 4,  ///< hand out nothing and take no doorbell
};

/// What kModifyCq changes.
enum CqModify : std::uint32_t {
  kCqModeration = 1,  ///< cq_count and cq_period
};

enum class CommandStatus : std::uint16_t {
  kOk = 0,
  kBadOpcode = 1,
  kBadObject = 2,  ///< no such object, or it exists already
  kBadState = 3,
  kBadParameter = 4,
  kNoResources = 5,
  kPending = 0xffff,  ///< written by the driver before it issues the command
};

/// Limits that kQueryDevice reports.
struct DeviceLimits {
  std::uint32_t max_qp;
  std::uint32_t max_qp_wr;
  std::uint32_t max_send_sge;
  std::uint32_t max_recv_sge;
  std::uint32_t max_inline_data;
  std::uint32_t max_cq;
  std::uint32_t max_cqe;
  std::uint32_t max_srq;
  std::uint32_t max_rd_atomic;
  std::uint32_t max_mr;
  std::uint32_t ports;
  std::uint32_t max_mtu;              ///< bytes
  std::uint64_t icm_bytes;            ///< host memory to be given by bar::kIcmBase, a power of two
  std::uint32_t max_mcast_grp;        ///< groups
  std::uint32_t max_mcast_qp_attach;  ///< queue pairs of a group
};
static_assert(sizeof(DeviceLimits) == 64);

/// Most ports that an adapter has.
inline constexpr std::uint32_t kMaxPorts = 4;

/// State of a port that kQueryPort reports.
struct PortInfo {
  std::uint32_t active;  ///< 1: its link is up; 0: it is down
  std::uint32_t reserved;
};
static_assert(sizeof(PortInfo) == 8);

/// A group that a queue pair is attached to, or detached from.
struct McastGroup {
  Gid gid;
};
static_assert(sizeof(McastGroup) == 16);

/// 64-byte aligned block of host memory that carries one command and its answer.
struct Mailbox {
  CommandOpcode opcode;
  std::uint16_t token;   ///< returned in the event
  std::uint32_t object;  ///< number or key of the object
  std::uint32_t mask;    ///< which parts of the input count
  CommandStatus status;  ///< written by the adapter
  std::uint16_t reserved0;
  std::uint64_t output;  ///< written by the adapter: kModifyQp and kDestroyQp: tail of the own RQ
  std::uint8_t reserved[40];
  std::uint8_t payload[256];  ///< input, then output: the context of the opcode
};
static_assert(sizeof(Mailbox) == 320);

}  // namespace hcasim::hw
