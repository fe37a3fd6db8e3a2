// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/hw/host_port.hpp"
#include "hcasim/rvt/ib_objects.hpp"
#include "hcasim/rvt/sync.hpp"

/// Completion queues: the adapter's ring, and above it the driver's for what the driver completes.
namespace hcasim::rvt {

struct rvt_dev_info;

/// A completion that waits in the driver's ring.
struct rvt_cq_entry {
  ib_wc wc;
  bool from_adapter = false;  ///< still holds its slot of the adapter's ring
};

/// A completion queue of the driver.
struct rvt_cq {
  ib_cq ibcq;
  rvt_dev_info* rdi = nullptr;
  spinlock_t lock;
  Mutex mutex;  ///< serialises resizes
  std::uint32_t cqn = 0;
  std::uint32_t comp_vector = 0;
  int comp_vector_cpu = 0;  ///< as rvt_driver_provided::comp_vect_cpu_lookup has it, else 0

  // The adapter's ring: cqe slots.
  std::uint64_t ring = 0;      ///< host address
  std::uint64_t record = 0;    ///< host address of its hw::ConsumerRecord
  std::uint32_t index = 0;     ///< slot to be read next
  std::uint8_t owner = 1;      ///< owner bit of a new completion in this lap
  std::uint32_t seen = 0;      ///< completions read from the ring, modulo 2^32
  std::uint32_t consumed = 0;  ///< completions of the ring that the consumer took, modulo 2^32

  // The driver's ring, oldest at `first`; grows up to `cqe` entries.
  std::vector<rvt_cq_entry> queue;
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  std::uint8_t notify = RVT_CQ_NONE;  ///< notification wanted: ib_cq_notify_flags
  std::uint32_t armed_at = 0;         ///< `seen` at the latest arming of the adapter
  bool event_due = false;             ///< of an arming that was answered before the present one
  bool cq_full = false;               ///< has overflowed; never cleared
  std::uint32_t triggered = 0;        ///< notifications so far
  std::uint64_t timer = 0;            ///< pending call of comp_handler, 0: none

  bool resizing = false;                  ///< the adapter may write to a ring not read yet
  bool notified_in_resize = false;        ///< by the adapter, perhaps for such a completion
  std::uint32_t solicited_in_resize = 0;  ///< value of that event

  /// Called when the driver has entered a completion of its own, armed or not, and when the
  /// adapter's ring is another one; may be empty. Who polls in simulated time watches that ring,
  /// which such completions do not pass. Must not wait.
  hw::Callback entered;
};

/// The driver's object behind a verbs object.
inline rvt_cq* ibcq_to_rvtcq(ib_cq* cq) {
  return reinterpret_cast<rvt_cq*>(cq);
}

/// Makes a completion queue in the caller's object. Tasks only. Checks in this order.
/// @return 0; -EOPNOTSUPP flags; -EINVAL cqe < 1 or > max_cqe; -ENOMEM memory; -ENOMEM max_cq
///   exist; -EIO
int rvt_create_cq(ib_cq* ibcq, const ib_cq_init_attr* attr, ib_udata* udata);
/// Tasks only.
/// @return 0
int rvt_destroy_cq(ib_cq* ibcq, ib_udata* udata);
/// See ib_resize_cq. Checks in this order.
/// @return 0; -EINVAL cqe < 1 or > max_cqe; -EDEADLK outside a task; -ENOMEM; -EINVAL more than cqe
///   completions wait; -EIO
int rvt_resize_cq(ib_cq* ibcq, int cqe, ib_udata* udata);
/// See rdma_set_cq_moderation.
int rvt_modify_cq(ib_cq* ibcq, std::uint16_t cq_count, std::uint16_t cq_period);
/// See ib_poll_cq.
int rvt_poll_cq(ib_cq* ibcq, int num_entries, ib_wc* entry);
/// See ib_req_notify_cq. A wanted IB_CQ_NEXT_COMP is never weakened to IB_CQ_SOLICITED; both bits
/// mean IB_CQ_NEXT_COMP.
int rvt_req_notify_cq(ib_cq* ibcq, std::uint32_t notify_flags);

/// Enters a completion of the driver behind everything the adapter completed so far. Any context.
/// @return false when the queue is full or has been: the completion is lost and IB_EVENT_CQ_ERR
///   raised
bool rvt_cq_enter(rvt_cq* cq, const ib_wc& wc, bool solicited);
/// Moves what the adapter completed into the driver's ring. Any context.
void rvt_cq_collect(rvt_cq* cq);

}  // namespace hcasim::rvt
