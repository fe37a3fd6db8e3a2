// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Multicast groups of a trace.
#include <algorithm>
#include <cerrno>

#include "hcasim/hw/wire/multicast.hpp"
#include "sim/replay/node_objects.hpp"

namespace hcasim::sim {

namespace {

rvt::ib_gid group_of(const Operation& operation) {
  rvt::ib_gid gid;
  for (std::size_t i = 0; i < gid.raw.size(); ++i) {
    const std::uint64_t half = operation.value(i < 8 ? Arg::kGid : Arg::kGidLow);
    gid.raw[i] = static_cast<std::uint8_t>(half >> (56 - 8 * (i % 8)));
  }
  return gid;
}

}  // namespace

int NodeObjects::send_to_group(TraceQp& qp, const Operation& operation) {
  if (qp.qp->qp_type != rvt::IB_QPT_UD) return -EINVAL;
  rvt::ib_qp_attr attr;
  const auto given = static_cast<std::uint32_t>(operation.value(Arg::kPort));
  const std::uint32_t port = operation.has(Arg::kPort) ? given : std::max(qp.port, 1u);
  set_path(attr, port, index(), port);
  attr.ah_attr.grh.dgid = group_of(operation);
  return send_by(qp, attr.ah_attr, hw::kMulticastQpn);
}

int NodeObjects::attach_mcast(const Operation& operation) {
  const Membership made{qp(operation.object)->qp, group_of(operation)};
  const int error = rvt::ib_attach_mcast(made.qp, &made.gid, 0);
  if (error == 0) memberships_.push_back(made);
  return error;
}

int NodeObjects::detach_mcast(const Operation& operation) {
  const Membership gone{qp(operation.object)->qp, group_of(operation)};
  const int error = rvt::ib_detach_mcast(gone.qp, &gone.gid, 0);
  if (error != 0) return error;
  std::erase_if(memberships_, [&](const Membership& it) {
    return it.qp == gone.qp && it.gid.raw == gone.gid.raw;
  });
  return 0;
}

// One that was attached twice is detached once.
void NodeObjects::detach_all() {
  for (const Membership& it : memberships_) rvt::ib_detach_mcast(it.qp, &it.gid, 0);
  memberships_.clear();
}

}  // namespace hcasim::sim
