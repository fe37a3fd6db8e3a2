// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <hcasim/sim/name_table.hpp>

namespace hcasim::sim {
namespace {

constexpr std::size_t kFirstSlots = 256;

std::uint64_t hash(std::string_view text) {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0xff51afd7ed558ccdU;
  return state ^ (state >> 32);
}

}  // namespace

NameTable::NameTable() : slots_(kFirstSlots, kNoName) {}

// The slot that holds the name, or the free slot where it belongs.
std::size_t NameTable::slot_of(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(name) & mask;
  while (slots_[slot] != kNoName && texts_[slots_[slot] - 1] != name) slot = (slot + 1) & mask;
  return slot;
}

NameId NameTable::find(std::string_view name) const {
  return slots_[slot_of(name)];
}

NameId NameTable::intern(std::string_view name) {
  if (name.empty()) return kNoName;
  const std::size_t slot = slot_of(name);
  if (slots_[slot] != kNoName) return slots_[slot];
  texts_.emplace_back(name);
  const auto id = static_cast<NameId>(texts_.size());
  slots_[slot] = id;
  if (texts_.size() * 2 > slots_.size()) grow();
  return id;
}

void NameTable::grow() {
  slots_.assign(slots_.size() * 2, kNoName);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    slots_[slot_of(texts_[i])] = static_cast<NameId>(i + 1);
  }
}

}  // namespace hcasim::sim
