// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The memory regions of a replay, made so that captured remote addresses keep their distances.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/import/replay_plan.hpp"

namespace hcasim::sim {

/// The memory that peers reach by one remote key of one node.
struct Region {
  hw::Gid node{};
  std::uint32_t rkey = 0;
  std::uint64_t base = 0;    ///< captured address of the first byte
  std::uint64_t length = 0;  ///< bytes
  bool folded = false;       ///< addresses too far apart for one region: only their low bits count
};

/// Regions of all nodes, in the order of first use. A key that a peer has invalidated and that is
/// used again is another region.
class RegionMap {
 public:
  /// Finds the regions of all messages of a plan.
  explicit RegionMap(const ReplayPlan& plan);

  const std::vector<Region>& regions() const { return regions_; }
  /// Index of the region that the message at this place of the plan accesses or invalidates.
  /// @pre it has a remote key
  std::size_t region_of(std::size_t place) const { return of_message_[place]; }
  /// Where in its region the message's remote address lies.
  std::uint64_t offset_of(std::size_t place, const MessageRecord& record) const;

 private:
  void take(std::size_t place, const MessageRecord& record);
  void round(Region& region);

  using Key = std::tuple<hw::Gid, std::uint32_t>;
  std::vector<Region> regions_;
  std::vector<std::size_t> of_message_;
  std::map<Key, std::size_t> valid_;
  std::vector<std::uint64_t> longest_;  // bytes of an access, by region
};

/// True for RDMA and atomics.
bool has_remote_address(hw::WrOpcode opcode);

}  // namespace hcasim::sim
