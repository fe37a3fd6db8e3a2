// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace hcasim::host {

Pages::Chunk::Chunk() {
  void* memory = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  bytes = static_cast<std::uint8_t*>(memory);
}

Pages::Chunk::~Chunk() {
  munmap(bytes, kChunkBytes);
}

Pages::Pages(std::uint64_t base, std::uint64_t size)
    : base_(base),
      size_((size + kPageBytes - 1) & ~(kPageBytes - 1)),
      chunks_((size + kChunkBytes - 1) >> kChunkShift) {}

void Pages::map(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t last = address + bytes - 1;
  for (std::uint64_t page = address & ~(kPageBytes - 1); page <= last; page += kPageBytes) {
    auto& chunk = chunks_[(page - base_) >> kChunkShift];
    if (!chunk) chunk = std::make_unique<Chunk>();
    ++info(page).allocations;
  }
}

// Whole pages go back to the operating system, which makes them zero.
void Pages::clear(std::uint8_t* from, std::uint64_t bytes) {
  void* whole = from;
  std::uint64_t rest = bytes;
  if (std::align(kPageBytes, kPageBytes, whole, rest) == nullptr) {
    std::memset(from, 0, bytes);
    return;
  }
  const std::uint64_t before = bytes - rest;
  const std::uint64_t after = rest % kPageBytes;
  std::memset(from, 0, before);
  std::memset(from + bytes - after, 0, after);
  madvise(whole, rest - after, MADV_DONTNEED);
}

void Pages::unmap(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t page = address & ~(kPageBytes - 1); page < end; page += kPageBytes) {
    --info(page).allocations;
  }
  while (address < end) {
    const std::uint64_t part = std::min(end - address, to_chunk_end(address));
    clear(at(address), part);
    address += part;
  }
}

bool Pages::all_mapped(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t offset = address - base_;
  if (address < base_ || offset >= size_ || bytes > size_ - offset) return false;
  const std::uint64_t last = address + bytes - 1;
  for (std::uint64_t page = address & ~(kPageBytes - 1); page <= last; page += kPageBytes) {
    if (!chunks_[(page - base_) >> kChunkShift] || info(page).allocations == 0) return false;
  }
  return true;
}

}  // namespace hcasim::host
