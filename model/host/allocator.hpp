// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace hcasim::host {

/// Hands out address ranges, best fit first and lowest address among equals. Sizes are rounded up
/// to cache lines, so that no line belongs to two allocations.
class Allocator {
 public:
  /// Ranges lie in [base, base + size).
  Allocator(std::uint64_t base, std::uint64_t size);

  /// `alignment` is a power of two. 0 when no free range is large enough.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);
  /// Bytes of the allocation at `address`, rounded as it was; 0 when there is none.
  std::uint64_t size_of(std::uint64_t address) const;
  /// Gives back an allocation, which must exist.
  void release(std::uint64_t address);

  std::uint64_t bytes_in_use() const { return in_use_; }
  std::size_t count() const { return taken_.size(); }

  static constexpr std::uint64_t kLine = 64;

 private:
  void add_free(std::uint64_t address, std::uint64_t bytes);
  void remove_free(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t take(std::uint64_t block, std::uint64_t block_bytes, std::uint64_t bytes,
                     std::uint64_t alignment);

  std::map<std::uint64_t, std::uint64_t> free_;                     // address to bytes
  std::set<std::pair<std::uint64_t, std::uint64_t>> free_by_size_;  // bytes, address
  std::map<std::uint64_t, std::uint64_t> taken_;
  std::uint64_t in_use_ = 0;
};

}  // namespace hcasim::host
