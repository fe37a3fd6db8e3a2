// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/allocator.hpp"

#include <algorithm>

namespace hcasim::host {

namespace {
std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
}  // namespace

Allocator::Allocator(std::uint64_t base, std::uint64_t size) {
  if (size >= kLine) add_free(base, size / kLine * kLine);
}

void Allocator::add_free(std::uint64_t address, std::uint64_t bytes) {
  free_.emplace(address, bytes);
  free_by_size_.emplace(bytes, address);
}

void Allocator::remove_free(std::uint64_t address, std::uint64_t bytes) {
  free_.erase(address);
  free_by_size_.erase({bytes, address});
}

std::uint64_t Allocator::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes > ~std::uint64_t{0} - kLine) return 0;
  bytes = align_up(std::max<std::uint64_t>(bytes, 1), kLine);
  alignment = std::max(alignment, kLine);
  // A block of the right size may be aligned by luck; one with room for the worst case always is.
  for (const std::uint64_t least : {bytes, bytes + alignment - kLine}) {
    const auto found = free_by_size_.lower_bound({least, 0});
    if (found == free_by_size_.end()) continue;
    const auto [block_bytes, block] = *found;
    if (const std::uint64_t address = take(block, block_bytes, bytes, alignment)) return address;
  }
  return 0;
}

std::uint64_t Allocator::take(std::uint64_t block, std::uint64_t block_bytes, std::uint64_t bytes,
                              std::uint64_t alignment) {
  const std::uint64_t address = align_up(block, alignment);
  const std::uint64_t before = address - block;
  if (before > block_bytes || block_bytes - before < bytes) return 0;
  remove_free(block, block_bytes);
  if (before != 0) add_free(block, before);
  const std::uint64_t after = block_bytes - before - bytes;
  if (after != 0) add_free(address + bytes, after);
  taken_.emplace(address, bytes);
  in_use_ += bytes;
  return address;
}

std::uint64_t Allocator::size_of(std::uint64_t address) const {
  const auto found = taken_.find(address);
  return found == taken_.end() ? 0 : found->second;
}

void Allocator::release(std::uint64_t address) {
  const auto found = taken_.find(address);
  std::uint64_t start = address;
  std::uint64_t bytes = found->second;
  in_use_ -= bytes;
  taken_.erase(found);
  const auto next = free_.lower_bound(address);
  const auto previous = next == free_.begin() ? free_.end() : std::prev(next);
  if (next != free_.end() && next->first == address + bytes) {
    const std::uint64_t next_bytes = next->second;
    remove_free(address + bytes, next_bytes);
    bytes += next_bytes;
  }
  if (previous != free_.end() && previous->first + previous->second == address) {
    start = previous->first;
    const std::uint64_t previous_bytes = previous->second;
    remove_free(start, previous_bytes);
    bytes += previous_bytes;
  }
  add_free(start, bytes);
}

}  // namespace hcasim::host
