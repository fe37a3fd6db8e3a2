// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "hcasim/rvt/ib_enums.hpp"
#include "hcasim/rvt/ib_work.hpp"

/// Objects of the verbs interface and what they are made from.
namespace hcasim::rvt {

struct ib_cq;
struct ib_device;
struct ib_pd;
struct ib_srq;

/// Marks an object that belongs to a user process. Rings are never mapped: user objects have the
/// semantics of kernel ones, but their protection domain may not use privileged operations.
struct ib_udata {};

/// 128-bit address; IPv4 addresses are mapped (::ffff:a.b.c.d).
struct ib_gid {
  std::array<std::uint8_t, 16> raw{};
};

/// Ethernet address.
using mac_address = std::array<std::uint8_t, 6>;

/// Network-layer part of a path.
struct ib_global_route {
  ib_gid dgid;                     ///< address of the peer
  ib_gid sgid;                     ///< own address (the kernel: sgid_attr->gid)
  std::uint32_t flow_label = 0;    ///< 20 bits
  std::uint8_t sgid_index = 0;     ///< entry of the port's GID table, only checked for range
  std::uint8_t hop_limit = 64;     ///< hop limit or time to live
  std::uint8_t traffic_class = 0;  ///< DSCP and ECN
};

/// Link-layer part of a path on a RoCE port.
struct roce_ah_attr {
  mac_address dmac{};           ///< Ethernet address of the next hop
  mac_address smac{};           ///< own Ethernet address (the kernel: that of sgid_attr's netdev)
  std::uint16_t udp_sport = 0;  ///< 0xC000..0xFFFF; 0: from the flow label, as the kernel has it
};

/// Bit of rdma_ah_attr::ah_flags: grh counts. Always set on a RoCE port.
inline constexpr std::uint8_t IB_AH_GRH = 1;

/// A path to a peer.
struct rdma_ah_attr {
  ib_global_route grh;
  roce_ah_attr roce;
  std::uint16_t dlid = 0;        ///< InfiniBand only
  std::uint8_t sl = 0;           ///< service level
  std::uint8_t static_rate = 0;  ///< enum ib_rate; 0: the port's
  std::uint8_t port_num = 1;     ///< 1-based
  std::uint8_t ah_flags = IB_AH_GRH;
};

/// Sizes of a queue pair.
struct ib_qp_cap {
  std::uint32_t max_send_wr = 0;
  std::uint32_t max_recv_wr = 0;
  std::uint32_t max_send_sge = 0;
  std::uint32_t max_recv_sge = 0;
  std::uint32_t max_inline_data = 0;  ///< bytes; kept exactly as asked
};

/// An asynchronous event.
struct ib_event {
  ib_device* device = nullptr;
  ib_event_type event = IB_EVENT_CQ_ERR;
  /// What it is about.
  union {
    ib_cq* cq;
    ib_qp* qp;
    ib_srq* srq;
    std::uint32_t port_num;
  } element = {};
};

/// Takes asynchronous events, in interrupt context: it must not wait.
using ib_event_handler_t = void (*)(ib_event* event, void* context);
/// Called once for each armed notification, in interrupt context: it must not wait.
using ib_comp_handler = void (*)(ib_cq* cq, void* context);

/// Limits of rdma_set_cq_moderation.
struct rdma_cq_caps {
  std::uint16_t max_cq_moderation_count = 0;
  std::uint16_t max_cq_moderation_period = 0;  ///< us
};

/// Limits of a device.
struct ib_device_attr {
  int max_qp = 0;
  int max_qp_wr = 0;
  int max_send_sge = 0;
  int max_recv_sge = 0;
  int max_cq = 0;
  int max_cqe = 0;
  int max_mr = 0;
  int max_pd = 0;
  int max_ah = 0;
  int max_mcast_grp = 0;              ///< multicast groups
  int max_mcast_qp_attach = 0;        ///< queue pairs of a group
  int max_total_mcast_qp_attach = 0;  ///< the product of both
  int max_srq = 0;
  int max_srq_wr = 0;
  int max_srq_sge = 0;
  int max_qp_rd_atom = 0;              ///< READs and atomics a QP answers at a time
  int max_qp_init_rd_atom = 0;         ///< the same as requester
  int max_inline_data = 0;             ///< bytes (the kernel has no such limit)
  std::uint64_t page_size_cap = 0;     ///< bytes of a page of a region, for ib_map_mr_sg
  int max_fast_reg_page_list_len = 0;  ///< pages of a region made by ib_alloc_mr
  rdma_cq_caps cq_caps;
};

/// A device.
struct ib_device {
  const char* name = "";
  ib_device_attr attrs;
  int num_comp_vectors = 0;
  std::uint32_t phys_port_cnt = 0;
};

/// A protection domain.
struct ib_pd {
  ib_device* device = nullptr;
  int usecnt = 0;  ///< objects that use it
};

/// How a completion queue is made.
struct ib_cq_init_attr {
  unsigned cqe = 0;         ///< completions it holds, 1..max_cqe
  int comp_vector = 0;      ///< taken modulo num_comp_vectors; negative: 0
  std::uint32_t flags = 0;  ///< must be 0
};

/// A completion queue.
struct ib_cq {
  ib_device* device = nullptr;
  ib_comp_handler comp_handler = nullptr;
  ib_event_handler_t event_handler = nullptr;
  void* cq_context = nullptr;
  int cqe = 0;     ///< completions it holds, exactly as asked
  int usecnt = 0;  ///< queue pairs that use it, once for each role
};

/// A memory region.
struct ib_mr {
  ib_device* device = nullptr;
  ib_pd* pd = nullptr;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;  ///< equal to lkey
  std::uint64_t iova = 0;
  std::uint64_t length = 0;  ///< bytes
};

/// A piece of host memory that ib_map_mr_sg maps.
struct scatterlist {
  std::uint64_t dma_address = 0;
  std::uint32_t length = 0;  ///< bytes
};

/// An address handle.
struct ib_ah {
  ib_device* device = nullptr;
  ib_pd* pd = nullptr;
};

/// What can be modified and queried of a shared receive queue.
struct ib_srq_attr {
  std::uint32_t max_wr = 0;     ///< receives it holds, 1..max_srq_wr
  std::uint32_t max_sge = 0;    ///< elements of a receive, 1..max_srq_sge; fixed at creation
  std::uint32_t srq_limit = 0;  ///< event when fewer remain after one was taken; 0: none
};

/// How a shared receive queue is made.
struct ib_srq_init_attr {
  ib_event_handler_t event_handler = nullptr;
  void* srq_context = nullptr;
  ib_srq_attr attr;  ///< srq_limit is not looked at: it is 0 until ib_modify_srq sets it
  ib_srq_type srq_type = IB_SRQT_BASIC;
};

/// A shared receive queue.
struct ib_srq {
  ib_device* device = nullptr;
  ib_pd* pd = nullptr;  ///< domain of the regions that its receives name
  ib_event_handler_t event_handler = nullptr;
  void* srq_context = nullptr;
  ib_srq_type srq_type = IB_SRQT_BASIC;
  int usecnt = 0;  ///< queue pairs that use it
};

/// How a queue pair is made.
struct ib_qp_init_attr {
  ib_event_handler_t event_handler = nullptr;
  void* qp_context = nullptr;
  ib_cq* send_cq = nullptr;
  ib_cq* recv_cq = nullptr;
  ib_srq* srq = nullptr;  ///< receives come from here; the receive sizes of cap are then ignored
  ib_qp_cap cap;
  ib_sig_type sq_sig_type = IB_SIGNAL_REQ_WR;
  ib_qp_type qp_type = IB_QPT_RC;
  std::uint32_t create_flags = 0;  ///< ib_qp_create_flags
  std::uint32_t port_num = 0;      ///< SMI and GSI only, 1-based
};

/// What can be modified and queried of a queue pair.
struct ib_qp_attr {
  ib_qp_state qp_state = IB_QPS_RESET;
  ib_qp_state cur_qp_state = IB_QPS_RESET;
  ib_mtu path_mtu = IB_MTU_1024;
  ib_mig_state path_mig_state = IB_MIG_MIGRATED;
  std::uint32_t qkey = 0;
  std::uint32_t rq_psn = 0;  ///< next PSN expected
  std::uint32_t sq_psn = 0;  ///< next PSN to be sent
  std::uint32_t dest_qp_num = 0;
  std::uint32_t qp_access_flags = 0;  ///< ib_access_flags
  ib_qp_cap cap;
  rdma_ah_attr ah_attr;
  rdma_ah_attr alt_ah_attr;
  std::uint16_t pkey_index = 0;
  std::uint16_t alt_pkey_index = 0;
  std::uint8_t en_sqd_async_notify = 0;
  std::uint8_t sq_draining = 0;
  std::uint8_t max_rd_atomic = 0;       ///< READs and atomics outstanding as requester
  std::uint8_t max_dest_rd_atomic = 0;  ///< the same as responder
  std::uint8_t min_rnr_timer = 0;       ///< 5-bit code; 0 is the longest, 655.36 ms
  std::uint32_t port_num = 0;           ///< 1-based
  std::uint8_t timeout = 0;             ///< local ACK timeout: 4.096 us * 2^timeout, 0: none
  std::uint8_t retry_cnt = 0;           ///< 0..7
  std::uint8_t rnr_retry = 0;           ///< 0..7, 7: for ever
  std::uint32_t alt_port_num = 0;
  std::uint8_t alt_timeout = 0;
};

/// A queue pair.
struct ib_qp {
  ib_device* device = nullptr;
  ib_pd* pd = nullptr;
  ib_cq* send_cq = nullptr;
  ib_cq* recv_cq = nullptr;
  ib_srq* srq = nullptr;
  ib_event_handler_t event_handler = nullptr;
  void* qp_context = nullptr;
  std::uint32_t qp_num = 0;
  ib_qp_type qp_type = IB_QPT_RC;
  std::uint32_t port = 0;  ///< 1-based
  int usecnt = 0;          ///< what keeps it from being destroyed
};

}  // namespace hcasim::rvt
