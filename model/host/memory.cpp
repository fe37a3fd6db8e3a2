// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/posted_writes.hpp"

namespace hcasim::host {

Memory::Memory(const sim::Engine& engine, std::uint64_t size)
    : engine_(engine), allocator_(kBase, size), pages_(kBase, size), watches_(pages_) {}

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

// What became visible since somebody looked last is often more than one write.
void Memory::apply(Time until) {
  do {
    next_poster_->apply_first();
    find_next();
  } while (next_visible_ <= until);
}

// Of writes that are visible at one time, that of the slot made first comes first.
void Memory::find_next() {
  next_visible_ = hw::kNever;
  for (PostedWrites* poster : posters_) {
    const Time visible = poster->next_visible();
    if (visible < next_visible_) next_is(*poster, visible);
  }
}

std::uint32_t Memory::watch(std::uint64_t address, std::uint64_t bytes,
                            const WatchCallback& callback) {
  apply_visible();
  Time visible = hw::kNever;
  for (const PostedWrites* poster : posters_) {
    visible = std::min(visible, poster->next_visible_in(address, bytes));
  }
  if (visible != hw::kNever) {
    callback.function(callback.context, callback.argument, visible);
    return 0;
  }
  return watches_.add(address, bytes, callback);
}

}  // namespace hcasim::host
