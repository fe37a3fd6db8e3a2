// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace hcasim::host {

/// What is known of a page of 4 KiB beside its bytes.
struct PageInfo {
  std::uint32_t allocations = 0;  ///< that touch it; 0: the page is not mapped
  std::uint32_t first_watch = 0;  ///< head of its list of watches, 0: none
};

/// Sparse storage: chunks of 2 MiB come into being, as zeros, when a page of them is mapped, and
/// the operating system backs them only where they are written.
class Pages {
 public:
  /// Addresses in [base, base + size), up to the end of the last page; base is a multiple of the
  /// chunk.
  Pages(std::uint64_t base, std::uint64_t size);

  /// Makes the pages of [address, address + bytes) accessible.
  void map(std::uint64_t address, std::uint64_t bytes);
  /// Undoes one map; the bytes become 0.
  void unmap(std::uint64_t address, std::uint64_t bytes);
  bool mapped(std::uint64_t address, std::uint64_t bytes) const {
    return bytes != 0 && (in_page(address, bytes) != nullptr || all_mapped(address, bytes));
  }
  /// Where [address, address + bytes) is, when it lies in one page and that is mapped; else null.
  /// Most accesses do, and need no other look at their page.
  std::uint8_t* in_page(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t offset = address - base_;
    if (offset >= size_ || bytes > kPageBytes - (offset & (kPageBytes - 1))) return nullptr;
    const Chunk* chunk = chunks_[offset >> kChunkShift].get();
    const std::uint64_t place = offset & (kChunkBytes - 1);
    if (chunk == nullptr || chunk->pages[place >> kPageShift].allocations == 0) return nullptr;
    return chunk->bytes + place;
  }

  /// Bytes at `address`, which must be mapped, contiguous up to the end of its chunk.
  std::uint8_t* at(std::uint64_t address) const {
    const std::uint64_t offset = address - base_;
    return chunks_[offset >> kChunkShift]->bytes + (offset & (kChunkBytes - 1));
  }
  static std::uint64_t to_chunk_end(std::uint64_t address) {
    return kChunkBytes - (address & (kChunkBytes - 1));
  }
  /// Information on the page of `address`, which must be mapped.
  PageInfo& info(std::uint64_t address) const {
    const std::uint64_t offset = address - base_;
    return chunks_[offset >> kChunkShift]->pages[(offset & (kChunkBytes - 1)) >> kPageShift];
  }

  std::uint64_t base() const { return base_; }
  static constexpr unsigned kPageShift = 12;
  static constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageShift;
  static constexpr unsigned kChunkShift = 21;
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << kChunkShift;

 private:
  struct Chunk {
    Chunk();
    ~Chunk();
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;

    std::uint8_t* bytes;
    std::array<PageInfo, kChunkBytes / kPageBytes> pages{};
  };

  bool all_mapped(std::uint64_t address, std::uint64_t bytes) const;
  static void clear(std::uint8_t* from, std::uint64_t bytes);

  std::uint64_t base_;
  std::uint64_t size_;  // whole pages
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace hcasim::host
