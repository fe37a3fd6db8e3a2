// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "hcasim/hw/commands.hpp"
#include "hcasim/rvt/device.hpp"
#include "hcasim/rvt/driver_provided.hpp"
#include "hcasim/rvt/rdmavt_ah.hpp"
#include "hcasim/rvt/rdmavt_cq.hpp"
#include "hcasim/rvt/rdmavt_loopback.hpp"
#include "hcasim/rvt/rdmavt_mcast.hpp"
#include "hcasim/rvt/rdmavt_mr.hpp"
#include "hcasim/rvt/rdmavt_qp.hpp"
#include "hcasim/rvt/rdmavt_srq.hpp"
#include "hcasim/rvt/trace_sink.hpp"

/// The device of the driver: what the kernel has in rdma_vt.h.
namespace hcasim::rvt {

class CommandChannel;
class EventQueue;

// --- Queue pair numbers
// ---------------------------------------------------------------------------

inline constexpr std::uint32_t RVT_BITS_PER_PAGE = 32768;  ///< QPNs of one page of the bitmap
inline constexpr std::uint32_t RVT_QPNMAP_ENTRIES = RVT_QPN_MAX / RVT_BITS_PER_PAGE;  ///< pages
inline constexpr std::uint8_t RVT_AIP_QP_PREFIX = 0x81;     ///< top byte of accelerated IPoIB QPNs
inline constexpr std::uint32_t RVT_AIP_QPN_MAX = 1u << 16;  ///< their bits in the bitmap

/// One page of the bitmap.
using rvt_qpn_map = std::array<std::uint64_t, RVT_BITS_PER_PAGE / 64>;

/// Which QPNs are in use.
struct rvt_qpn_table {
  spinlock_t lock;
  std::uint32_t nmaps = 0;    ///< pages in use
  std::uint64_t special = 0;  ///< bit kind + 2 * (port - 1): QP0 or QP1 of the port exists
  std::uint32_t last = 0;     ///< latest QPN
  std::uint8_t incr = 0;      ///< step
  std::array<std::unique_ptr<rvt_qpn_map>, RVT_QPNMAP_ENTRIES> map;
};

/// Prepares the bitmap and marks the reserved QPNs.
/// @return 0; -EINVAL reserved range ends before it begins, or beyond 24 bits; -ENOMEM
int init_qpn_table(rvt_dev_info* rdi, rvt_qpn_table* qpt);
/// Frees the bitmap, pages that were never made included.
void free_qpn_table(rvt_qpn_table* qpt);
/// Picks the next free QPN after the latest; 0 and 1 for SMI and GSI. Where there is
/// rvt_driver_provided::alloc_qpn, its answer goes for all types.
/// @param port_num 1-based, SMI and GSI only
/// @param exclude_prefix RVT_AIP_QP_PREFIX limits the QPN to 16 bits
/// @return the QPN; -EINVAL the port has this special QP; -ENOMEM no QPN or no memory
///   left
int alloc_qpn(rvt_dev_info* rdi, rvt_qpn_table* qpt, ib_qp_type type, std::uint8_t port_num,
              std::uint8_t exclude_prefix);
/// Gives a QPN back; one that was never given out is ignored. QP0 and QP1: rvt_free_special_qpn.
void rvt_free_qpn(rvt_qpn_table* qpt, std::uint32_t qpn);
/// Gives QP0 or QP1 of a port back (rdmavt forgets to).
void rvt_free_special_qpn(rvt_qpn_table* qpt, std::uint32_t qpn, std::uint32_t port_num);

// --- Queue pairs by number
// ------------------------------------------------------------------------

/// A walk over queue pairs that goes on whatever leaves the table meanwhile.
struct rvt_qp_walk {
  rvt_qp* next = nullptr;        ///< to be visited next, in the present bucket
  rvt_qp_walk* older = nullptr;  ///< begun before it
};

/// Queue pairs of a device.
struct rvt_qp_ibdev {
  std::uint32_t qp_table_size = 0;
  std::uint32_t qp_table_bits = 0;
  std::unique_ptr<rvt_qp*[]> qp_table;  ///< those past RESET, by hash of the QPN, newest first
  spinlock_t qpt_lock;
  rvt_qp_walk* walks = nullptr;  ///< walks under way, newest first
  rvt_qpn_table qpn_table;
  /// Every QP past creation, by QPN: pages of RVT_BITS_PER_PAGE.
  std::array<std::unique_ptr<std::array<rvt_qp*, RVT_BITS_PER_PAGE>>, RVT_QPNMAP_ENTRIES> by_number;
};

/// State of a port. Its counters are those of loopback; the wire's are the adapter's.
struct rvt_ibport : rvt_loop_counters {
  std::vector<rvt_mcast> mcast_tree;  ///< multicast groups, by MGID
  std::array<rvt_qp*, 2> qp{};        ///< QP0 and QP1, past RESET
};

/// Walks the queue pairs past RESET: QP0 and QP1 of each port, then bucket by bucket.
struct rvt_qp_iter_t {
  rvt_qp* qp = nullptr;  ///< where the walk stands
  rvt_dev_info* rdi = nullptr;
  void (*cb)(rvt_qp* qp, std::uint64_t v) = nullptr;
  std::uint64_t v = 0;
  std::uint32_t specials = 0;
  std::uint32_t n = 0;
};

/// Begins a walk. @return the walk, which the caller owns; null: no memory
std::unique_ptr<rvt_qp_iter_t> rvt_qp_iter_init(rvt_dev_info* rdi, std::uint64_t v,
                                                void (*cb)(rvt_qp* qp, std::uint64_t v));
/// Goes to the next queue pair, without keeping it alive. @return 0: iter->qp is it; 1: there is
/// none
int rvt_qp_iter_next(rvt_qp_iter_t* iter);
/// Calls cb(qp, v) for each. The callback may wait, reset the queue pair and destroy any other; one
/// that has left the table when its turn comes is left out.
void rvt_qp_iter(rvt_dev_info* rdi, std::uint64_t v, void (*cb)(rvt_qp* qp, std::uint64_t v));

/// Prepares the tables. Checks in this order.
/// @return 0; -EINVAL qp_table_size 0; -EINVAL only one of qp_priv_alloc and qp_priv_free given;
///   -ENOMEM hash table; -ENOMEM bitmap (for any reason)
int rvt_driver_qp_init(rvt_dev_info* rdi);
/// Resets what is left and frees the tables. @return as rvt_free_all_qps, which rdmavt logs
unsigned rvt_qp_exit(rvt_dev_info* rdi);
/// Resets every queue pair, without freeing it. Tasks only.
/// @return how many there were past RESET, and ports with multicast groups
unsigned rvt_free_all_qps(rvt_dev_info* rdi);
/// Resets `qp` and counts it in the unsigned that `v` is the address of. Tasks only.
void rvt_free_qp_cb(rvt_qp* qp, std::uint64_t v);
/// Lets packets find `qp`.
void rvt_insert_qp(rvt_dev_info* rdi, rvt_qp* qp);
/// Undoes it; no effect when it cannot be found.
void rvt_remove_qp(rvt_dev_info* rdi, rvt_qp* qp);
/// The queue pair past RESET that packets of `port_num` for `qpn` find, or null.
rvt_qp* rvt_lookup_qpn(rvt_dev_info* rdi, std::uint32_t port_num, std::uint32_t qpn);
/// Bucket of a QPN.
std::uint32_t rvt_qp_bucket(const rvt_dev_info* rdi, std::uint32_t qpn);

// --- Device
// ---------------------------------------------------------------------------------------

/// Counts of what should not happen.
struct rvt_stats {
  std::uint64_t stray_completions = 0;  ///< completions of unknown queue pairs or slots
  std::uint64_t stray_events = 0;       ///< events of unknown objects or types
};

/// A device of the driver.
struct rvt_dev_info {
  ib_device ibdev;
  hw::HostPort* port = nullptr;
  rvt_driver_params dparms;
  hw::DeviceLimits limits{};
  bool registered = false;
  rvt_stats stats;
  TraceSink* trace = nullptr;  ///< takes the tracepoints; null: nobody does

  rvt_driver_provided driver_f;
  bool copy_paid = false;  ///< the copy under way charges no time
  const rvt_operation_params* post_parms = rvt_hca_post_parms.data();
  rvt_qp_ibdev qp_dev;
  rvt_lkey_table lkey_table;
  std::vector<rvt_ibport> ports;
  std::vector<rvt_cq*> cqs;    ///< by number
  std::vector<rvt_srq*> srqs;  ///< by number, without kSrqBit
  std::vector<bool> pds;       ///< numbers in use
  std::uint64_t uar = 0;       ///< offset of the doorbell page in the BAR
  std::uint64_t icm = 0;       ///< host memory lent to the adapter for contexts, 0: none

  int n_pds_allocated = 0;
  int n_ahs_allocated = 0;
  int n_cqs_allocated = 0;
  int n_srqs_allocated = 0;
  int n_qps_allocated = 0;
  int n_rc_qps = 0;
  int n_mrs_allocated = 0;

  ib_event_handler_t event_handler = nullptr;
  void* event_context = nullptr;

  std::unique_ptr<CommandChannel> commands;
  std::vector<std::unique_ptr<EventQueue>> event_queues;

  rvt_dev_info();
  ~rvt_dev_info();
};

/// The driver's device behind a verbs device.
inline rvt_dev_info* ib_to_rvt(ib_device* ibdev) {
  return reinterpret_cast<rvt_dev_info*>(ibdev);
}

/// The queue pair of a completion or event, past creation; null when there is none. QP0 and QP1: of
/// the port on which they were created last.
inline rvt_qp* rvt_find_qp(const rvt_dev_info* rdi, std::uint32_t qpn) {
  const auto& page = rdi->qp_dev.by_number[(qpn & RVT_QPN_MASK) / RVT_BITS_PER_PAGE];
  return page ? (*page)[qpn % RVT_BITS_PER_PAGE] : nullptr;
}

}  // namespace hcasim::rvt
