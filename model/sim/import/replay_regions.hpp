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

  static constexpr std::size_t kNone = ~std::size_t{0};
  bool invalidated = false;        ///< by a peer, it or another region of this key
  std::size_t first_use = 0;       ///< place in the plan of the first message that names it
  std::size_t last_use = kNone;    ///< place of the SEND_WITH_INV that ends it
  std::size_t takes_over = kNone;  ///< index of the region whose memory it uses, after its end
};

/// Regions of all nodes, in the order of first use. A key that a peer has invalidated and that is
/// used again is another region. The first kAhead regions of such a key have memory of their own,
/// so that they can be registered before the peer needs them, however far it is ahead; later ones
/// take over that of the kAhead-th region before them.
class RegionMap {
 public:
  static constexpr std::size_t kAhead = 8;

  /// Finds the regions of all messages of a plan.
  explicit RegionMap(const ReplayPlan& plan);

  const std::vector<Region>& regions() const { return regions_; }
  /// Index of the region that the message at this place of the plan accesses or invalidates.
  /// @pre it has a remote key
  std::size_t region_of(std::size_t place) const { return of_message_[place]; }
  /// Where in its region the message's remote address lies.
  std::uint64_t offset_of(std::size_t place, const CapturedMessage& record) const;

 private:
  void take(std::size_t place, const CapturedMessage& record);
  void round(Region& region);
  void share(const std::vector<std::size_t>& of_key);

  using Key = std::tuple<hw::Gid, std::uint32_t>;
  std::vector<Region> regions_;
  std::vector<std::size_t> of_message_;
  std::map<Key, std::size_t> valid_;
  std::map<Key, std::vector<std::size_t>> of_key_;
  std::vector<std::uint64_t> longest_;  // bytes of an access, by region
};

}  // namespace hcasim::sim
