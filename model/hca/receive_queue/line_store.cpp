// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/line_store.hpp"

#include <algorithm>
#include <bit>

namespace hcasim::hca {

LineStore::LineStore(std::uint32_t lines)
    : data_(lines), meta_(lines), free_((lines + 63) / 64, ~std::uint64_t{0}), free_count_(lines) {
  if (lines % 64 != 0) free_.back() = (std::uint64_t{1} << (lines % 64)) - 1;
}

std::uint16_t LineStore::take_lowest() {
  while (free_[first_word_] == 0) ++first_word_;
  std::uint64_t& word = free_[first_word_];
  const auto bit = static_cast<unsigned>(std::countr_zero(word));
  word &= word - 1;
  return static_cast<std::uint16_t>(first_word_ * 64 + bit);
}

void LineStore::remember(std::uint16_t slot, RqQueue& owner, unsigned per_slot) {
  Meta& meta = meta_[slot];
  meta.owner = &owner;
  meta.missing = static_cast<std::uint8_t>(per_slot);
  meta.older = newest_;
  meta.newer = kNoLine;
  (newest_ == kNoLine ? oldest_ : meta_[newest_].newer) = slot;
  newest_ = slot;
}

std::uint16_t LineStore::allocate(RqQueue& owner, unsigned slots, unsigned per_slot) {
  std::uint16_t first = kNoLine;
  for (unsigned slot = 0; slot < slots; ++slot) {
    for (unsigned part = 0; part < per_slot; ++part) {
      const std::uint16_t line = take_lowest();
      (owner.last_line == kNoLine ? owner.first_line : meta_[owner.last_line].next) = line;
      owner.last_line = line;
      if (part == 0) remember(line, owner, per_slot);
      if (first == kNoLine) first = line;
    }
  }
  free_count_ -= slots * per_slot;
  return first;
}

void LineStore::release(std::uint16_t first, unsigned count) {
  free_count_ += count;
  for (; count != 0; --count) {
    const std::size_t word = first / 64;
    free_[word] |= std::uint64_t{1} << (first % 64);
    first_word_ = std::min(first_word_, word);
    first = meta_[first].next;
  }
}

void LineStore::forget(std::uint16_t slot) {
  const Meta& meta = meta_[slot];
  (meta.older == kNoLine ? oldest_ : meta_[meta.older].newer) = meta.newer;
  (meta.newer == kNoLine ? newest_ : meta_[meta.newer].older) = meta.older;
}

}  // namespace hcasim::hca
