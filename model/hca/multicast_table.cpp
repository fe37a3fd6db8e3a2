// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/multicast_table.hpp"

#include <algorithm>

namespace hcasim::hca {

hw::CommandStatus MulticastTable::attach(const hw::Gid& group, std::uint32_t qpn) {
  const auto found = std::ranges::lower_bound(groups_, group, {}, &Group::gid);
  if (found == groups_.end() || found->gid != group) {
    if (groups_.size() >= max_groups_ || max_members_ == 0) return hw::CommandStatus::kNoResources;
    groups_.insert(found, {group, {qpn}});
    return hw::CommandStatus::kOk;
  }
  if (std::ranges::count(found->qpns, qpn) != 0) return hw::CommandStatus::kBadObject;
  if (found->qpns.size() >= max_members_) return hw::CommandStatus::kNoResources;
  found->qpns.push_back(qpn);
  return hw::CommandStatus::kOk;
}

hw::CommandStatus MulticastTable::detach(const hw::Gid& group, std::uint32_t qpn) {
  const auto found = std::ranges::lower_bound(groups_, group, {}, &Group::gid);
  if (found == groups_.end() || found->gid != group || std::erase(found->qpns, qpn) == 0) {
    return hw::CommandStatus::kBadObject;
  }
  if (found->qpns.empty()) groups_.erase(found);
  return hw::CommandStatus::kOk;
}

void MulticastTable::remove(std::uint32_t qpn) {
  for (Group& group : groups_) std::erase(group.qpns, qpn);
  std::erase_if(groups_, [](const Group& group) { return group.qpns.empty(); });
}

std::span<const std::uint32_t> MulticastTable::members(const hw::Gid& group) const {
  const auto found = std::ranges::lower_bound(groups_, group, {}, &Group::gid);
  if (found == groups_.end() || found->gid != group) return {};
  return found->qpns;
}

}  // namespace hcasim::hca
