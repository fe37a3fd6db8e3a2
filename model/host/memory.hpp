// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "host/allocator.hpp"
#include "host/pages.hpp"
#include "host/watches.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::host {

class PostedWrites;

/// Memory of a host: real bytes at 64-bit addresses, sparse. What devices write comes through
/// PostedWrites, one for each of them.
class Memory {
 public:
  /// `size` bytes can be allocated; the first address is kBase.
  Memory(const sim::Engine& engine, std::uint64_t size);

  /// Zeroed, contiguous; `alignment` a power of two. 0 when there is no such range.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);
  /// Gives back what allocate returned; anything else is a SimulationError.
  void release(std::uint64_t address);
  /// True when all of [address, address + bytes) lies on pages with allocations.
  bool mapped(std::uint64_t address, std::uint64_t bytes) const {
    return pages_.mapped(address, bytes);
  }

  /// Copies bytes as they are at the engine's present time. The range must be mapped.
  void read(std::uint64_t address, void* to, std::uint64_t bytes) {
    apply_visible();
    copy_out(address, to, bytes);
  }
  void write(std::uint64_t address, const void* from, std::uint64_t bytes) {
    apply_visible();
    copy_in(address, static_cast<const std::uint8_t*>(from), bytes);
  }
  /// The same where the range may be unmapped or empty: false if unmapped, and nothing is done.
  bool try_read(std::uint64_t address, void* to, std::uint64_t bytes) {
    return read_if_simple(address, to, bytes) || read_any(address, to, bytes);
  }
  bool try_write(std::uint64_t address, const void* from, std::uint64_t bytes) {
    return write_if_simple(address, from, bytes) || write_any(address, from, bytes);
  }
  /// What most accesses are: a copy of a queue entry, or of a doorbell record, within a page, while
  /// nothing posted waits to be applied. False, and nothing is done, where there is more to it.
  bool read_if_simple(std::uint64_t address, void* to, std::uint64_t bytes) const {
    const std::uint8_t* at = pages_.in_page(address, bytes);
    return at != nullptr && next_visible_ > engine_.now() && copy_entry(to, at, bytes);
  }
  bool write_if_simple(std::uint64_t address, const void* from, std::uint64_t bytes) {
    std::uint8_t* at = pages_.in_page(address, bytes);
    return at != nullptr && next_visible_ > engine_.now() && copy_entry(at, from, bytes);
  }
  /// Applies the posted writes that are visible at `at`: for callers ahead of the engine, which has
  /// no events before `at` left.
  void apply_until(Time at) {
    if (next_visible_ <= at) apply(at);
  }
  /// Calls `callback` once, at once when the next write that overlaps the range is posted, or now
  /// when one is posted already that is not visible yet: the first to be visible of these. Returns
  /// an id for unwatch, 0 if called.
  std::uint32_t watch(std::uint64_t address, std::uint64_t bytes, const WatchCallback& callback);
  void unwatch(std::uint32_t id) { watches_.remove(id); }

  std::uint64_t bytes_in_use() const { return allocator_.bytes_in_use(); }
  std::size_t allocations() const { return allocator_.count(); }

  /// Above 4 GiB, so that an address does not fit into 32 bits.
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

 private:
  friend class PostedWrites;

  void apply_visible() { apply_until(engine_.now()); }
  void apply(Time until);
  void find_next();
  void next_is(PostedWrites& poster, Time visible_at) {
    next_visible_ = visible_at;
    next_poster_ = &poster;
  }
  bool read_any(std::uint64_t address, void* to, std::uint64_t bytes);
  bool write_any(std::uint64_t address, const void* from, std::uint64_t bytes);
  // Doorbell records and queue entries: a call would cost more than these.
  static bool copy_entry(void* to, const void* from, std::uint64_t bytes) {
    switch (bytes) {
      case 4:
        std::memcpy(to, from, 4);
        return true;
      case 8:
        std::memcpy(to, from, 8);
        return true;
      case 32:
        std::memcpy(to, from, 32);
        return true;
      case 64:
        std::memcpy(to, from, 64);
        return true;
      case 128:
        std::memcpy(to, from, 128);
        return true;
      default:
        return false;
    }
  }
  static void copy_bytes(void* to, const void* from, std::uint64_t bytes) {
    if (!copy_entry(to, from, bytes)) std::memcpy(to, from, bytes);
  }
  void copy_in(std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes);
  void copy_out(std::uint64_t address, void* to, std::uint64_t bytes) const;

  const sim::Engine& engine_;
  Allocator allocator_;
  Pages pages_;
  Watches watches_;
  std::vector<PostedWrites*> posters_;
  Time next_visible_ = hw::kNever;       // of the first of all posted writes ...
  PostedWrites* next_poster_ = nullptr;  // ... and whose it is
};

}  // namespace hcasim::host
