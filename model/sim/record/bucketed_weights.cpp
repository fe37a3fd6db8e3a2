// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/bucketed_weights.hpp"

namespace hcasim::sim {

void BucketedWeights::allocate(unsigned block) {
  blocks_[block] = std::make_unique<Block>();
}

std::uint64_t BucketedWeights::quantile(std::uint64_t thousandths) const {
  const Wide wanted = static_cast<Wide>(total_) * thousandths;
  Wide seen = 0;
  std::uint64_t last = 0;
  for (unsigned block = 0; block < kBlocks; ++block) {
    if (blocks_[block] == nullptr) continue;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const std::uint64_t weight = (*blocks_[block])[slot];
      if (weight == 0) continue;
      seen += weight;
      last = middle_of(block, slot);
      if (seen * 1000 >= wanted) return last;
    }
  }
  return last;
}

std::uint64_t BucketedWeights::weight_of(std::uint64_t small_value) const {
  const unsigned block = block_of(small_value);
  return blocks_[block] == nullptr ? 0 : (*blocks_[block])[slot_of(small_value, block)];
}

void BucketedWeights::merge(const BucketedWeights& other) {
  for (unsigned block = 0; block < kBlocks; ++block) {
    if (other.blocks_[block] == nullptr) continue;
    if (blocks_[block] == nullptr) allocate(block);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      (*blocks_[block])[slot] += (*other.blocks_[block])[slot];
    }
  }
  total_ += other.total_;
}

void BucketedWeights::clear() {
  for (auto& block : blocks_) {
    if (block != nullptr) block->fill(0);
  }
  total_ = 0;
}

}  // namespace hcasim::sim
