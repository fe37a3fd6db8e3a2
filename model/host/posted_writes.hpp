// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "fabric/link_ring.hpp"
#include "host/memory.hpp"

namespace hcasim::host {

/// The writes of one PCIe slot on their way to memory: each is kept until somebody looks at the
/// memory at or after the time at which it is visible, so a DMA write costs no event. Those of one
/// slot become visible in the order in which they were posted; those of two slots in the order of
/// their times.
class PostedWrites {
 public:
  /// `memory` must outlive this.
  explicit PostedWrites(Memory& memory);
  /// What is not visible yet will never be.
  ~PostedWrites();
  PostedWrites(const PostedWrites&) = delete;
  PostedWrites& operator=(const PostedWrites&) = delete;

  /// A write that becomes visible at `visible_at`, not before those posted earlier. The range must
  /// be mapped.
  void post(std::uint64_t address, const void* from, std::uint32_t bytes, Time visible_at) {
    post_at(memory_.pages_.in_page(address, bytes), address, from, bytes, visible_at);
  }
  /// The same where the range may be unmapped: false then, and nothing is done.
  bool try_post(std::uint64_t address, const void* from, std::uint32_t bytes, Time visible_at);
  /// What most posted writes are: an entry within a page that nobody watches. False, and nothing is
  /// done, where there is more to it.
  bool post_if_simple(std::uint64_t address, const void* from, std::uint32_t bytes,
                      Time visible_at) {
    std::uint8_t* to = memory_.pages_.in_page(address, bytes);
    if (to == nullptr || memory_.pages_.info(address).first_watch != 0) return false;
    if (bytes > kSmallBytes || posted_.full()) return false;
    Posted& posted = posted_.place_behind();
    if (!Memory::copy_entry(posted.small, from, bytes)) return false;
    describe(posted, address, to, bytes, visible_at);
    posted_.extend();
    return true;
  }

  /// Writes that memory has not applied yet.
  std::size_t pending() const { return posted_.size(); }
  /// When the first of them is visible, hw::kNever when there are none.
  Time next_visible() const { return posted_.empty() ? hw::kNever : posted_.front().visible_at; }
  /// When the first of them that touches the range is visible, hw::kNever when none does.
  Time next_visible_in(std::uint64_t address, std::uint64_t bytes) const;
  /// Applies the first of them. There must be one.
  void apply_first();

 private:
  static constexpr std::uint32_t kSmallBytes = 64;
  struct Posted {
    std::uint64_t address;
    std::uint8_t* to;  // null when it touches more than one page
    Time visible_at;
    std::uint32_t bytes;
    std::uint8_t small[kSmallBytes];  // or else in bytes_
  };

  // `to` is null when the range touches several pages.
  void post_at(std::uint8_t* to, std::uint64_t address, const void* from, std::uint32_t bytes,
               Time visible_at);
  void describe(Posted& posted, std::uint64_t address, std::uint8_t* to, std::uint32_t bytes,
                Time visible_at) {
    posted.address = address;
    posted.to = to;
    posted.visible_at = visible_at;
    posted.bytes = bytes;
    if (visible_at < memory_.next_visible_) memory_.next_is(*this, visible_at);
  }
  void apply_pages(const Posted& posted);
  void push_bytes(const std::uint8_t* from, std::uint64_t bytes);
  void grow_bytes(std::uint64_t needed);

  Memory& memory_;
  fabric::LinkRing<Posted> posted_;
  std::vector<std::uint8_t> bytes_;  // large payloads of posted_, a ring; a power of two
  std::uint64_t bytes_head_ = 0;     // counts that only grow
  std::uint64_t bytes_tail_ = 0;
};

}  // namespace hcasim::host
