// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue/line_store.hpp"

namespace hcasim::hca {

LineStore::LineStore(std::uint32_t lines)
    : data_(lines), meta_(lines), free_((lines + 63) / 64, ~std::uint64_t{0}), free_count_(lines) {
  if (lines % 64 != 0) free_.back() = (std::uint64_t{1} << (lines % 64)) - 1;
}

std::uint16_t LineStore::allocate(RqQueue& owner, unsigned slots, unsigned per_slot) {
  std::uint16_t* const first =
      owner.last_line == kNoLine ? &owner.first_line : &meta_[owner.last_line].next;
  std::uint16_t* link = first;
  std::uint16_t line = kNoLine;
  for (unsigned slot = 0; slot < slots; ++slot) {
    for (unsigned part = 0; part < per_slot; ++part) {
      *link = line = take_lowest();
      link = &meta_[line].next;
      if (part == 0) remember(line, owner, per_slot);
    }
  }
  owner.last_line = line;
  free_count_ -= slots * per_slot;
  return *first;
}

}  // namespace hcasim::hca
