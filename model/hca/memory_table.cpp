// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/memory_table.hpp"

#include <utility>

namespace hcasim::hca {

bool MemoryTable::create(const hw::MptEntry& mpt, std::vector<std::uint64_t> pages) {
  const std::uint64_t covered = static_cast<std::uint64_t>(pages.size()) << mpt.page_shift;
  if (mpt.page_shift > 63 || mpt.first_offset > covered ||
      mpt.length > covered - mpt.first_offset) {
    return false;
  }
  return regions_.try_emplace(mpt.key, MemoryRegion{mpt, std::move(pages), next_place_++}).second;
}

bool MemoryTable::destroy(std::uint32_t key) {
  recent_[place_of(key)] = nullptr;
  return regions_.erase(key) != 0;
}

MemoryRegion* MemoryTable::rename(std::uint32_t key, std::uint32_t new_key) {
  if (key == new_key) return find(key);
  if (find(new_key) != nullptr) return nullptr;
  auto region = regions_.extract(key);
  if (region.empty()) return nullptr;
  recent_[place_of(key)] = nullptr;
  region.key() = new_key;
  region.mapped().mpt.key = new_key;
  return &regions_.insert(std::move(region)).position->second;
}

MemoryRegion* MemoryTable::look_up(std::uint32_t key) {
  const auto found = regions_.find(key);
  if (found == regions_.end()) return nullptr;
  return recent_[place_of(key)] = &found->second;
}

const MemoryRegion* MemoryTable::check(std::uint32_t key, std::uint32_t pd, std::uint64_t address,
                                       std::uint64_t length, std::uint32_t access) {
  const MemoryRegion* region = find(key);
  if (region == nullptr) return nullptr;
  const hw::MptEntry& mpt = region->mpt;
  if (mpt.valid == 0 || mpt.pd != pd || (mpt.access & access) != access) return nullptr;
  if (address < mpt.iova) return nullptr;
  const std::uint64_t offset = address - mpt.iova;
  if (offset > mpt.length || length > mpt.length - offset) return nullptr;
  return region;
}

}  // namespace hcasim::hca
