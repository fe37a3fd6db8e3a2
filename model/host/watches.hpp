// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "host/pages.hpp"

namespace hcasim::host {

using hw::Time;

/// Told, when a write to a watched range is posted, at what time it will be visible.
struct WatchCallback {
  void (*function)(void* context, std::uint64_t argument, Time visible_at) = nullptr;
  void* context = nullptr;
  std::uint64_t argument = 0;
};

/// Watched address ranges, in a list for each page they touch, so that a write to any other page is
/// found to concern nobody by one look at its page. A watch fires once.
class Watches {
 public:
  explicit Watches(const Pages& pages) : pages_(pages) {
    watches_.emplace_back();
    links_.emplace_back();
  }

  /// Watches [address, address + bytes), which must be mapped. Returns an id, never 0.
  std::uint32_t add(std::uint64_t address, std::uint64_t bytes, const WatchCallback& callback);
  /// Ends a watch that has not fired.
  void remove(std::uint32_t id);
  /// Fires the watches that overlap [address, address + bytes), oldest first.
  void on_write(std::uint64_t address, std::uint64_t bytes, Time visible_at) {
    if (active_ == 0) return;
    const std::uint64_t last = address + bytes - 1;
    const bool one_page = (address ^ last) < Pages::kPageBytes;
    if (one_page && pages_.info(address).first_watch == 0) return;
    fire_in_pages(address, bytes, visible_at);
  }
  std::uint32_t active() const { return active_; }

 private:
  struct Watch {
    std::uint64_t address = 0;
    std::uint64_t end = 0;
    WatchCallback callback;
  };
  struct Link {  // one page of one watch
    std::uint32_t watch = 0;
    std::uint32_t next = 0;
  };

  void fire_in_pages(std::uint64_t address, std::uint64_t bytes, Time visible_at);
  void fire_in_page(PageInfo& page, std::uint64_t address, std::uint64_t end, Time visible_at);
  void append(PageInfo& page, std::uint32_t watch);
  void unlink(PageInfo& page, std::uint32_t watch);

  const Pages& pages_;
  std::vector<Watch> watches_;  // number 0 is nobody, also below
  std::vector<Link> links_;
  std::vector<std::uint32_t> free_watches_;
  std::vector<std::uint32_t> free_links_;
  std::uint32_t active_ = 0;
};

}  // namespace hcasim::host
