// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hcasim::host {

namespace {
constexpr std::size_t kFirstBytes = std::size_t{64} * 1024;
}

Memory::Memory(const sim::Engine& engine, std::uint64_t size)
    : engine_(engine),
      allocator_(kBase, size),
      pages_(kBase, size),
      watches_(pages_),
      bytes_(kFirstBytes) {}

std::uint64_t Memory::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t address = allocator_.allocate(bytes, alignment);
  if (address != 0) pages_.map(address, allocator_.size_of(address));
  return address;
}

void Memory::release(std::uint64_t address) {
  const std::uint64_t bytes = allocator_.size_of(address);
  if (bytes == 0) {
    throw sim::SimulationError(engine_.now(), engine_.name() + ".memory",
                               fmt::format("nothing is allocated at {:#x} to release", address));
  }
  apply_visible();
  pages_.unmap(address, bytes);
  allocator_.release(address);
}

void Memory::copy_in(std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes) {
  while (bytes != 0) {
    const std::uint64_t part = std::min(bytes, Pages::to_chunk_end(address));
    copy_bytes(pages_.at(address), from, part);
    address += part;
    from += part;
    bytes -= part;
  }
}

void Memory::copy_out(std::uint64_t address, void* to, std::uint64_t bytes) const {
  auto* out = static_cast<std::uint8_t*>(to);
  while (bytes != 0) {
    const std::uint64_t part = std::min(bytes, Pages::to_chunk_end(address));
    std::memcpy(out, pages_.at(address), part);
    address += part;
    out += part;
    bytes -= part;
  }
}

bool Memory::read_any(std::uint64_t address, void* to, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const std::uint8_t* at = pages_.in_page(address, bytes);
  if (at == nullptr && !mapped(address, bytes)) return false;
  apply_visible();
  if (at != nullptr) {
    copy_bytes(to, at, bytes);
  } else {
    copy_out(address, to, bytes);
  }
  return true;
}

bool Memory::write_any(std::uint64_t address, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return true;
  std::uint8_t* at = pages_.in_page(address, bytes);
  if (at == nullptr && !mapped(address, bytes)) return false;
  apply_visible();
  if (at != nullptr) {
    copy_bytes(at, from, bytes);
  } else {
    copy_in(address, static_cast<const std::uint8_t*>(from), bytes);
  }
  return true;
}

bool Memory::try_post(std::uint64_t address, const void* from, std::uint32_t bytes,
                      Time visible_at) {
  std::uint8_t* to = pages_.in_page(address, bytes);
  if (to == nullptr && !mapped(address, bytes)) return false;
  post_at(to, address, from, bytes, visible_at);
  return true;
}

// Applies first what it can, so that a memory that nobody looks at needs no more room.
void Memory::post_at(std::uint8_t* to, std::uint64_t address, const void* from, std::uint32_t bytes,
                     Time visible_at) {
  apply_visible();
  Posted& posted = posted_.emplace();
  describe(posted, address, to, bytes, visible_at);
  if (bytes <= kSmallBytes) {
    copy_bytes(posted.small, from, bytes);
  } else {
    push_bytes(static_cast<const std::uint8_t*>(from), bytes);
  }
  watches_.on_write(address, bytes, visible_at);
}

void Memory::push_bytes(const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes_tail_ - bytes_head_ + bytes > bytes_.size()) grow_bytes(bytes);
  const std::uint64_t at = bytes_tail_ & (bytes_.size() - 1);
  const std::uint64_t first = std::min(bytes, bytes_.size() - at);
  std::memcpy(&bytes_[at], from, first);
  if (first != bytes) std::memcpy(bytes_.data(), from + first, bytes - first);
  bytes_tail_ += bytes;
}

void Memory::grow_bytes(std::uint64_t needed) {
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

// What became visible since somebody looked last is often more than one write.
void Memory::apply(Time until) {
  do {
    const Posted& posted = posted_.front();
    if (posted.to != nullptr && posted.bytes <= kSmallBytes) {
      copy_bytes(posted.to, posted.small, posted.bytes);
    } else {
      apply_pages(posted);
    }
    posted_.drop();
    next_visible_ = posted_.empty() ? hw::kNever : posted_.front().visible_at;
  } while (next_visible_ <= until);
}

// A write that is large or touches several pages.
void Memory::apply_pages(const Posted& posted) {
  if (posted.bytes <= kSmallBytes) {
    copy_in(posted.address, posted.small, posted.bytes);
    return;
  }
  const std::uint64_t at = bytes_head_ & (bytes_.size() - 1);
  const std::uint64_t first = std::min<std::uint64_t>(posted.bytes, bytes_.size() - at);
  copy_in(posted.address, &bytes_[at], first);
  if (first != posted.bytes) {
    copy_in(posted.address + first, bytes_.data(), posted.bytes - first);
  }
  bytes_head_ += posted.bytes;
}

std::uint32_t Memory::watch(std::uint64_t address, std::uint64_t bytes,
                            const WatchCallback& callback) {
  apply_visible();
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    const Posted& posted = posted_[i];
    if (posted.address >= address + bytes || posted.address + posted.bytes <= address) continue;
    callback.function(callback.context, callback.argument, posted.visible_at);
    return 0;
  }
  return watches_.add(address, bytes, callback);
}

}  // namespace hcasim::host
