// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/replay_regions.hpp"

#include <algorithm>

#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "sim/import/replay_lengths.hpp"

namespace hcasim::sim {

RegionMap::RegionMap(const ReplayPlan& plan) : of_message_(plan.messages.size()) {
  for (std::size_t i = 0; i < plan.messages.size(); ++i) take(i, *plan.messages[i].record);
  for (std::size_t i = 0; i < regions_.size(); ++i) round(regions_[i]);
  for (const auto& [key, regions] : of_key_) share(regions);
}

// Regions of one key, in order.
void RegionMap::share(const std::vector<std::size_t>& of_key) {
  if (regions_[of_key.front()].last_use == Region::kNone) return;
  for (std::size_t i = 0; i < of_key.size(); ++i) {
    Region& region = regions_[of_key[i]];
    region.invalidated = true;
    if (i < kAhead) continue;
    region.takes_over = of_key[i - kAhead];
    Region& owner = regions_[of_key[i % kAhead]];
    owner.length = std::max(owner.length, region.length);
  }
}

// While regions are found, `length` is the address behind the last byte.
void RegionMap::take(std::size_t place, const CapturedMessage& record) {
  const bool access = hw::has_remote_address(record.opcode);
  if (!access && !record.invalidate_rkey) return;
  const std::uint32_t rkey = access ? record.rkey : *record.invalidate_rkey;
  const Key key{record.responder.address, rkey};
  const auto [found, fresh] = valid_.try_emplace(key, regions_.size());
  if (fresh) {
    Region& made = regions_.emplace_back();
    made.node = record.responder.address;
    made.rkey = rkey;
    made.base = record.remote_addr;
    made.first_use = place;
    of_key_[key].push_back(regions_.size() - 1);
    longest_.push_back(0);
  }
  of_message_[place] = found->second;
  Region& region = regions_[found->second];
  if (!access) {
    region.last_use = place;
    valid_.erase(found);
    return;
  }
  const std::uint64_t bytes = length_of(record);
  const std::uint64_t end = record.remote_addr + bytes;
  region.folded = region.folded || end < record.remote_addr;
  region.base = std::min(region.base, record.remote_addr);
  region.length = std::max(region.length, end);
  longest_[found->second] = std::max(longest_[found->second], bytes);
}

void RegionMap::round(Region& region) {
  const auto index = static_cast<std::size_t>(&region - regions_.data());
  region.base = region.base / kPage * kPage;
  const std::uint64_t bytes = region.length > region.base ? region.length - region.base : 0;
  region.folded = region.folded || bytes > kMaxLength - kPage;
  const std::uint64_t folded_bytes = std::min(longest_[index] + kPage, kMaxLength - kPage);
  region.length = std::max(kPage, round_up(region.folded ? folded_bytes : bytes));
}

std::uint64_t RegionMap::offset_of(std::size_t place, const CapturedMessage& record) const {
  const Region& region = regions_[of_message_[place]];
  return region.folded ? record.remote_addr % kPage : record.remote_addr - region.base;
}

}  // namespace hcasim::sim
