// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/watches.hpp"

#include <algorithm>

namespace hcasim::host {

namespace {

constexpr std::uint64_t page_of(std::uint64_t address) {
  return address & ~(Pages::kPageBytes - 1);
}

template <typename T>
std::uint32_t allocate(std::vector<T>& items, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    items.emplace_back();
    free.reserve(items.capacity());
    return static_cast<std::uint32_t>(items.size() - 1);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

}  // namespace

std::uint32_t Watches::add(std::uint64_t address, std::uint64_t bytes,
                           const WatchCallback& callback) {
  const std::uint32_t id = allocate(watches_, free_watches_);
  watches_[id] = {address, address + bytes, callback};
  ++active_;
  for (std::uint64_t page = page_of(address); page < address + bytes; page += Pages::kPageBytes) {
    append(pages_.info(page), id);
  }
  return id;
}

void Watches::append(PageInfo& page, std::uint32_t watch) {
  const std::uint32_t link = allocate(links_, free_links_);
  links_[link] = {watch, 0};
  std::uint32_t* last = &page.first_watch;
  while (*last != 0) last = &links_[*last].next;
  *last = link;
}

void Watches::unlink(PageInfo& page, std::uint32_t watch) {
  std::uint32_t* link = &page.first_watch;
  while (links_[*link].watch != watch) link = &links_[*link].next;
  free_links_.push_back(*link);
  *link = links_[*link].next;
}

void Watches::remove(std::uint32_t id) {
  const Watch watch = watches_[id];
  for (std::uint64_t page = page_of(watch.address); page < watch.end; page += Pages::kPageBytes) {
    unlink(pages_.info(page), id);
  }
  free_watches_.push_back(id);
  --active_;
}

void Watches::fire_in_pages(std::uint64_t address, std::uint64_t bytes, Time visible_at) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t page = page_of(address); page < end; page += Pages::kPageBytes) {
    PageInfo& info = pages_.info(page);
    if (info.first_watch != 0) fire_in_page(info, address, end, visible_at);
  }
}

void Watches::fire_in_page(PageInfo& page, std::uint64_t address, std::uint64_t end,
                           Time visible_at) {
  for (std::uint32_t link = page.first_watch; link != 0;) {
    const Link here = links_[link];
    link = here.next;
    const Watch watch = watches_[here.watch];
    if (watch.address >= end || watch.end <= address) continue;
    remove(here.watch);
    watch.callback.function(watch.callback.context, watch.callback.argument, visible_at);
  }
}

}  // namespace hcasim::host
