// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/context_cache.hpp"
#include "hca/memory_table.hpp"

namespace hcasim::hca {

/// Most pieces of host memory that make up one packet's payload.
inline constexpr std::uint32_t kMaxPieces = 96;

/// What an access to host memory needs of the protection and translation tables and has not on
/// chip.
class Missing {
 public:
  Missing() = default;
  Missing(const Missing& other) { *this = other; }
  Missing& operator=(const Missing& other);
  ~Missing() = default;

  bool empty() const { return (mpts_ | mtts_) == 0; }

 private:
  friend class Translation;
  // Of an access that is cut finer still, what is beyond does not delay it.
  using List = std::array<std::uint64_t, kMaxPieces>;
  static void add(List& list, std::uint32_t& count, std::uint64_t key) {
    if (count != kMaxPieces) list[count++] = key;
  }

  std::uint32_t mpts_ = 0;
  std::uint32_t mtts_ = 0;
  List mpt_;
  List mtt_;
};

/// The caches in front of the memory protection and translation tables. An entry of the latter
/// says where the former has its list, so a miss of both is two reads, one after the other.
class Translation final : public ContextUser {
 public:
  Translation(pcie::DmaPort& dma, const Parameters& parameters)
      : mpt_(dma, parameters.mpt_cache, false), mtt_(dma, parameters.mtt_cache, false) {}

  /// Looks up what [address, address + length) of a region needs; adds what is not there.
  void look_up(const MemoryRegion& region, std::uint64_t address, std::uint32_t length,
               Missing& missing) {
    look_up_region(region, missing);
    const std::uint64_t last = line_of(region, address + length - 1);
    for (std::uint64_t line = line_of(region, address); line <= last; ++line) {
      if (!mtt_.look_up(line)) Missing::add(missing.mtt_, missing.mtts_, line);
    }
  }
  /// The same for the protection of a region alone.
  void look_up_region(const MemoryRegion& region, Missing& missing) {
    if (!mpt_.look_up(region.place)) Missing::add(missing.mpt_, missing.mpts_, region.place);
  }
  /// Brings what is missing, which is something.
  void fetch(const Missing& missing, ContextUser& user, std::uint64_t token);

  /// Both came into being on the adapter, or were changed there.
  void install(const MemoryRegion& region);
  void drop(const MemoryRegion& region) { mpt_.drop(region.place); }

  ContextCache& mpt() { return mpt_; }
  ContextCache& mtt() { return mtt_; }
  void on_context(std::uint64_t token) override;

 private:
  struct Wait {
    Wait* next = nullptr;
    ContextUser* user = nullptr;
    std::uint64_t token = 0;
    std::uint32_t open = 0;   // fetches under way
    bool protection = false;  // these are of the protection table
    Missing missing;
  };

  // Lines go by their address.
  std::uint64_t line_of(const MemoryRegion& region, std::uint64_t address) const {
    const std::uint64_t offset = address - region.mpt.iova + region.mpt.first_offset;
    return line_of_entry(region, offset >> region.mpt.page_shift);
  }
  std::uint64_t line_of_entry(const MemoryRegion& region, std::uint64_t entry) const {
    return (region.mpt.mtt + entry * sizeof(hw::MttEntry)) >> mtt_line_shift_;
  }
  void fetch_protection(Wait& wait);
  void fetch_pages(Wait& wait);

  ContextCache mpt_;
  ContextCache mtt_;
  unsigned mtt_line_shift_ = mtt_.entry_shift();
  Pool<Wait, 16> waits_;
};

}  // namespace hcasim::hca
