// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Multicast groups: the driver's own books, and the adapter's.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "driver/command.hpp"
#include "driver/no_memory.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

using Tree = std::vector<rvt_mcast>;

Tree& tree_of(const ib_qp* qp) {
  rvt_dev_info* rdi = ib_to_rvt(qp->device);
  return rdi->ports[qp->port == 0 ? 0 : qp->port - 1].mcast_tree;
}

Tree::iterator place_of(Tree& tree, const ib_gid& gid) {
  return std::ranges::lower_bound(
      tree, gid.raw, {}, [](const rvt_mcast& it) -> const auto& { return it.mgid.raw; });
}

// Null when there is no such group.
rvt_mcast* find(Tree& tree, const ib_gid& gid) {
  const auto found = place_of(tree, gid);
  return found != tree.end() && found->mgid.raw == gid.raw ? &*found : nullptr;
}

bool holds(const rvt_mcast& group, const rvt_qp* qp) {
  return std::ranges::count(group.qps, qp) != 0;
}

// 0 when it was entered.
int enter(const ib_device_attr& limits, Tree& tree, const ib_gid& gid, std::uint16_t lid,
          rvt_qp* qp) {
  rvt_mcast* group = find(tree, gid);
  if (group != nullptr) {
    if (group->qps.size() >= static_cast<std::size_t>(limits.max_mcast_qp_attach)) return -ENOMEM;
    return or_no_memory([&] { group->qps.push_back(qp); });
  }
  if (tree.size() >= static_cast<std::size_t>(limits.max_mcast_grp)) return -ENOMEM;
  return or_no_memory([&] {
    rvt_mcast made{gid, lid, {qp}};
    tree.reserve(tree.size() + 1);
    tree.insert(place_of(tree, gid), std::move(made));
  });
}

void leave(Tree& tree, const ib_gid& gid, rvt_qp* qp) {
  const auto found = place_of(tree, gid);
  if (found == tree.end() || found->mgid.raw != gid.raw) return;
  std::erase(found->qps, qp);
  if (found->qps.empty()) tree.erase(found);
}

int tell_adapter(rvt_dev_info* rdi, hw::CommandOpcode opcode, const ib_qp* qp, const ib_gid& gid) {
  return rdi->commands->send({.opcode = opcode, .object = qp->qp_num}, hw::McastGroup{gid.raw});
}

}  // namespace

// Entered first: who attaches meanwhile finds the place taken.
int rvt_attach_mcast(ib_qp* ibqp, const ib_gid* gid, std::uint16_t lid) {
  rvt_dev_info* rdi = ib_to_rvt(ibqp->device);
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  if (ibqp->qp_num <= 1 || qp->state == IB_QPS_RESET) return -EINVAL;
  Tree& tree = tree_of(ibqp);
  const rvt_mcast* group = find(tree, *gid);
  if (group != nullptr && group->lid != lid) return -EINVAL;
  if (group != nullptr && holds(*group, qp)) return 0;
  int error = enter(rdi->ibdev.attrs, tree, *gid, lid, qp);
  if (error != 0) return error;
  error = tell_adapter(rdi, hw::CommandOpcode::kAttachMcast, ibqp, *gid);
  if (error != 0) leave(tree, *gid, qp);
  return error;
}

// Whatever the adapter says: one that does not answer sends no copies any more.
int rvt_detach_mcast(ib_qp* ibqp, const ib_gid* gid, std::uint16_t lid) {
  rvt_qp* qp = ibqp_to_rvtqp(ibqp);
  if (ibqp->qp_num <= 1) return -EINVAL;
  const rvt_mcast* group = find(tree_of(ibqp), *gid);
  if (group == nullptr || group->lid != lid || !holds(*group, qp)) return -EINVAL;
  leave(tree_of(ibqp), *gid, qp);
  const int error =
      tell_adapter(ib_to_rvt(ibqp->device), hw::CommandOpcode::kDetachMcast, ibqp, *gid);
  ib_to_rvt(ibqp->device)->commands->check_destroyed(error);
  return 0;
}

bool rvt_is_attached(const ib_qp* ibqp, const ib_gid& gid) {
  const rvt_mcast* group = find(tree_of(ibqp), gid);
  if (group == nullptr) return false;
  return std::ranges::any_of(group->qps, [&](const rvt_qp* qp) { return &qp->ibqp == ibqp; });
}

}  // namespace hcasim::rvt
