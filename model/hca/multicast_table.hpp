// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hcasim/hw/commands.hpp"

namespace hcasim::hca {

/// Which queue pairs get a copy of what is sent to a group.
class MulticastTable {
 public:
  MulticastTable(std::uint32_t max_groups, std::uint32_t max_members)
      : max_groups_(max_groups), max_members_(max_members) {}

  /// kBadObject when it is attached already; kNoResources when the group or the table is full.
  hw::CommandStatus attach(const hw::Gid& group, std::uint32_t qpn);
  /// kBadObject when it is not attached.
  hw::CommandStatus detach(const hw::Gid& group, std::uint32_t qpn);
  /// The queue pair is gone.
  void remove(std::uint32_t qpn);
  /// In the order in which they were attached; none where nobody knows the group.
  std::span<const std::uint32_t> members(const hw::Gid& group) const;

 private:
  struct Group {
    hw::Gid gid;
    std::vector<std::uint32_t> qpns;
  };

  std::uint32_t max_groups_;
  std::uint32_t max_members_;
  std::vector<Group> groups_;  // sorted by GID, none empty
};

}  // namespace hcasim::hca
