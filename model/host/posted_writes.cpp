// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/posted_writes.hpp"

#include <algorithm>
#include <cstring>

namespace hcasim::host {

namespace {
constexpr std::size_t kFirstBytes = std::size_t{64} * 1024;
}

PostedWrites::PostedWrites(Memory& memory) : memory_(memory), bytes_(kFirstBytes) {
  memory_.posters_.push_back(this);
}

PostedWrites::~PostedWrites() {
  std::erase(memory_.posters_, this);
  memory_.find_next();
}

bool PostedWrites::try_post(std::uint64_t address, const void* from, std::uint32_t bytes,
                            Time visible_at) {
  std::uint8_t* to = memory_.pages_.in_page(address, bytes);
  if (to == nullptr && !memory_.mapped(address, bytes)) return false;
  post_at(to, address, from, bytes, visible_at);
  return true;
}

// Applies first what it can, so that a memory that nobody looks at needs no more room.
void PostedWrites::post_at(std::uint8_t* to, std::uint64_t address, const void* from,
                           std::uint32_t bytes, Time visible_at) {
  memory_.apply_visible();
  Posted& posted = posted_.emplace();
  describe(posted, address, to, bytes, visible_at);
  if (bytes <= kSmallBytes) {
    Memory::copy_bytes(posted.small, from, bytes);
  } else {
    push_bytes(static_cast<const std::uint8_t*>(from), bytes);
  }
  memory_.watches_.on_write(address, bytes, visible_at);
}

Time PostedWrites::next_visible_in(std::uint64_t address, std::uint64_t bytes) const {
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    const Posted& posted = posted_[i];
    if (posted.address >= address + bytes || posted.address + posted.bytes <= address) continue;
    return posted.visible_at;
  }
  return hw::kNever;
}

void PostedWrites::apply_first() {
  const Posted& posted = posted_.front();
  if (posted.to != nullptr && posted.bytes <= kSmallBytes) {
    Memory::copy_bytes(posted.to, posted.small, posted.bytes);
  } else {
    apply_pages(posted);
  }
  posted_.drop();
}

// A write that is large or touches several pages.
void PostedWrites::apply_pages(const Posted& posted) {
  if (posted.bytes <= kSmallBytes) {
    memory_.copy_in(posted.address, posted.small, posted.bytes);
    return;
  }
  const std::uint64_t at = bytes_head_ & (bytes_.size() - 1);
  const std::uint64_t first = std::min<std::uint64_t>(posted.bytes, bytes_.size() - at);
  memory_.copy_in(posted.address, &bytes_[at], first);
  if (first != posted.bytes) {
    memory_.copy_in(posted.address + first, bytes_.data(), posted.bytes - first);
  }
  bytes_head_ += posted.bytes;
}

void PostedWrites::push_bytes(const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes_tail_ - bytes_head_ + bytes > bytes_.size()) grow_bytes(bytes);
  const std::uint64_t at = bytes_tail_ & (bytes_.size() - 1);
  const std::uint64_t first = std::min(bytes, bytes_.size() - at);
  std::memcpy(&bytes_[at], from, first);
  if (first != bytes) std::memcpy(bytes_.data(), from + first, bytes - first);
  bytes_tail_ += bytes;
}

void PostedWrites::grow_bytes(std::uint64_t needed) {
  const std::uint64_t used = bytes_tail_ - bytes_head_;
  std::uint64_t size = bytes_.size();
  while (size < used + needed) size *= 2;
  std::vector<std::uint8_t> larger(size);
  for (std::uint64_t i = 0; i < used; ++i) {
    larger[i] = bytes_[(bytes_head_ + i) & (bytes_.size() - 1)];
  }
  bytes_ = std::move(larger);
  bytes_head_ = 0;
  bytes_tail_ = used;
}

}  // namespace hcasim::host
