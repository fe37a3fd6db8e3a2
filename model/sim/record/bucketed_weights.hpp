// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hcasim::sim {

/// 128-bit sums: picoseconds times entries outgrow 64 bits.
__extension__ using Wide = unsigned __int128;

/// A distribution of 64-bit values with weights. Values below 2048 are kept exactly, larger ones to
/// one part in 2048. Takes memory only for the powers of two that occur.
class BucketedWeights {
 public:
  void add(std::uint64_t value, std::uint64_t weight) {
    const unsigned block = block_of(value);
    if (blocks_[block] == nullptr) allocate(block);
    (*blocks_[block])[slot_of(value, block)] += weight;
    total_ += weight;
  }

  std::uint64_t total() const { return total_; }

  /// The least value that values of a share of `thousandths` of the weight do not exceed: the
  /// middle of its bucket. 0 when empty. @param thousandths 0..1000
  std::uint64_t quantile(std::uint64_t thousandths) const;

  /// Weight of one value below 2048.
  std::uint64_t weight_of(std::uint64_t small_value) const;

  void merge(const BucketedWeights& other);
  void clear();

 private:
  static constexpr unsigned kBits = 10;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  static constexpr unsigned kBlocks = 64 - kBits + 1;
  using Block = std::array<std::uint64_t, kSlots>;

  static unsigned block_of(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    return width <= kBits ? 0 : width - kBits;
  }
  static std::size_t slot_of(std::uint64_t value, unsigned block) {
    return block == 0 ? value : (value >> (block - 1)) - kSlots;
  }
  static std::uint64_t middle_of(unsigned block, std::size_t slot) {
    if (block == 0) return slot;
    const std::uint64_t width = std::uint64_t{1} << (block - 1);
    return ((kSlots + slot) << (block - 1)) + (width - 1) / 2;
  }
  void allocate(unsigned block);

  std::array<std::unique_ptr<Block>, kBlocks> blocks_;
  std::uint64_t total_ = 0;
};

}  // namespace hcasim::sim
