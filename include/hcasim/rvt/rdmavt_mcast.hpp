// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/rvt/ib_objects.hpp"

/// Multicast groups of the driver: what rdmavt has in mcast.c.
namespace hcasim::rvt {

struct rvt_qp;

/// A group of a port.
struct rvt_mcast {
  ib_gid mgid;
  std::uint16_t lid = 0;
  std::vector<rvt_qp*> qps;  ///< in the order of their attachment
};

/// Attaches a queue pair past RESET to a group of its port. Tasks only.
/// @return 0, also when it is attached; -EINVAL QP0 or QP1, RESET, or the group has another LID;
///   -ENOMEM max_mcast_grp groups exist, or the group has max_mcast_qp_attach members; errors of
///   the adapter
int rvt_attach_mcast(ib_qp* ibqp, const ib_gid* gid, std::uint16_t lid);
/// Undoes it. Tasks only.
/// @return 0; -EINVAL QP0 or QP1, unknown group, another LID, or it is not attached
int rvt_detach_mcast(ib_qp* ibqp, const ib_gid* gid, std::uint16_t lid);
/// True when the queue pair is attached to the group.
bool rvt_is_attached(const ib_qp* ibqp, const ib_gid& gid);

}  // namespace hcasim::rvt
