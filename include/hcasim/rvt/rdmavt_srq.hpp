// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/rvt/ib_objects.hpp"
#include "hcasim/rvt/rdmavt_qp.hpp"
#include "hcasim/rvt/sync.hpp"

/// Shared receive queues: what rdmavt has in srq.c.
namespace hcasim::rvt {

struct rvt_dev_info;

/// Receives that the driver takes from the adapter for loopback, one at a time.
struct rvt_srq_takes {
  std::uint64_t record = 0;            ///< host address at which the adapter leaves the WQE
  std::vector<std::uint32_t> waiting;  ///< QPNs that want one, oldest first
  std::uint32_t tag = 0;               ///< of the latest take
  std::uint32_t asked_for = 0;         ///< QPN that it was made for
  bool under_way = false;              ///< it has not been answered
  bool granted = false;                ///< a WQE lies in the record and nobody has used it yet
  std::uint32_t owner = 0;             ///< QPN that it is for; 0: whoever comes first
};

/// A shared receive queue of the driver. Its ring is the adapter's from creation on.
struct rvt_srq {
  ib_srq ibsrq;
  rvt_dev_info* rdi = nullptr;
  Mutex mutex;  ///< serialises control verbs
  rvt_rq rq;
  std::uint32_t srqn = 0;   ///< with hw::bar::kSrqBit
  std::uint32_t limit = 0;  ///< as last set; 0 once its event came
  std::uint32_t arm = 0;    ///< number of the last setting of the limit
  rvt_srq_takes takes;
  bool paused = false;  ///< being resized: posts are stored, the doorbell comes at the end
};

/// The driver's object behind a verbs object.
inline rvt_srq* ibsrq_to_rvtsrq(ib_srq* srq) {
  return reinterpret_cast<rvt_srq*>(srq);
}

/// Makes a shared receive queue in the caller's object, whose device, pd and handler are set. Tasks
/// only. Checks in this order. The limit is 0, with rdmavt_compat the one asked for.
/// @return 0; -EOPNOTSUPP type; -EINVAL max_sge or max_wr 0 or too large; -ENOMEM ring; -ENOMEM
///   max_srq exist; errors of the adapter
int rvt_create_srq(ib_srq* ibsrq, const ib_srq_init_attr* srq_init_attr, ib_udata* udata);
/// Changes what `attr_mask` (ib_srq_attr_mask) names; without a bit, nothing. Receives that are
/// posted stay so, in order, and others may be posted meanwhile. On an error all is as it was.
/// Tasks only.
/// @return 0; -EINVAL max_wr too large, below the limit or below what is posted; -EINVAL limit
/// above
///   max_wr; -ENOMEM; -EINVAL the queue has failed; -EIO
int rvt_modify_srq(ib_srq* ibsrq, const ib_srq_attr* attr, std::uint32_t attr_mask,
                   ib_udata* udata);
/// See ib_query_srq. @return 0
int rvt_query_srq(ib_srq* ibsrq, ib_srq_attr* attr);
/// Frees what the queue has, not the object itself. Tasks only. @return 0
int rvt_destroy_srq(ib_srq* ibsrq, ib_udata* udata);
/// See ib_post_srq_recv.
int rvt_post_srq_recv(ib_srq* ibsrq, const ib_recv_wr* wr, const ib_recv_wr** bad_wr);

}  // namespace hcasim::rvt
