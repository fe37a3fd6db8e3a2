// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hcasim/hw/contexts.hpp"

namespace hcasim::hca {

/// A memory region with its translation.
struct MemoryRegion {
  hw::MptEntry mpt{};
  std::vector<std::uint64_t> pages;
  std::uint32_t place = 0;  ///< in the protection table
};

/// The memory protection and translation tables: keys, rights, bounds, host addresses.
class MemoryTable {
 public:
  /// False when the key exists or the translation does not cover the region.
  bool create(const hw::MptEntry& mpt, std::vector<std::uint64_t> pages);
  bool destroy(std::uint32_t key);
  /// Gives a region another key; null when there is no such region or the new key is taken.
  MemoryRegion* rename(std::uint32_t key, std::uint32_t new_key);
  MemoryRegion* find(std::uint32_t key) {
    MemoryRegion* const recent = recent_[place_of(key)];
    return recent != nullptr && recent->mpt.key == key ? recent : look_up(key);
  }
  std::size_t size() const { return regions_.size(); }

  /// The region behind `key` if `pd` may access [address, address + length) with all rights in
  /// `access`; else null. Bounds are computed without overflow.
  const MemoryRegion* check(std::uint32_t key, std::uint32_t pd, std::uint64_t address,
                            std::uint64_t length, std::uint32_t access);

  /// Calls segment(host address, bytes) for the pages that [address, address + length) touches.
  template <typename F>
  static void for_each_segment(const MemoryRegion& region, std::uint64_t address,
                               std::uint32_t length, F&& segment) {
    const std::uint64_t page_bytes = std::uint64_t{1} << region.mpt.page_shift;
    std::uint64_t offset = address - region.mpt.iova + region.mpt.first_offset;
    while (length != 0) {
      const std::uint64_t in_page = offset & (page_bytes - 1);
      const auto bytes =
          static_cast<std::uint32_t>(length < page_bytes - in_page ? length : page_bytes - in_page);
      segment(region.pages[offset >> region.mpt.page_shift] + in_page, bytes);
      offset += bytes;
      length -= bytes;
    }
  }

 private:
  static constexpr std::uint32_t kRecent = 256;
  /// Mixes all bits of a key, for its index and its generation lie apart.
  static std::uint32_t place_of(std::uint32_t key) { return key * 0x9e37'79b1u >> 24; }

  MemoryRegion* look_up(std::uint32_t key);

  std::uint32_t next_place_ = 0;
  std::unordered_map<std::uint32_t, MemoryRegion> regions_;  // looked up only, never walked
  std::array<MemoryRegion*, kRecent> recent_{};              // found last, by place_of their keys
};

}  // namespace hcasim::hca
