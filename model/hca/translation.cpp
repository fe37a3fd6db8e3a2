// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/translation.hpp"

#include <algorithm>
#include <bit>

namespace hcasim::hca {

// What is not in use was never written.
Missing& Missing::operator=(const Missing& other) {
  mpts_ = other.mpts_;
  mtts_ = other.mtts_;
  std::copy_n(other.mpt_.begin(), mpts_, mpt_.begin());
  std::copy_n(other.mtt_.begin(), mtts_, mtt_.begin());
  return *this;
}

void Translation::fetch(const Missing& missing, ContextUser& user, std::uint64_t token) {
  Wait& wait = waits_.acquire();
  wait.user = &user;
  wait.token = token;
  wait.missing = missing;
  missing.mpts_ != 0 ? fetch_protection(wait) : fetch_pages(wait);
}

void Translation::fetch_protection(Wait& wait) {
  wait.protection = true;
  wait.open = wait.missing.mpts_;
  for (std::uint32_t i = 0; i < wait.missing.mpts_; ++i) {
    mpt_.fetch(wait.missing.mpt_[i], *this, std::bit_cast<std::uint64_t>(&wait));
  }
}

void Translation::fetch_pages(Wait& wait) {
  wait.protection = false;
  wait.open = wait.missing.mtts_;
  for (std::uint32_t i = 0; i < wait.missing.mtts_; ++i) {
    mtt_.fetch(wait.missing.mtt_[i], *this, std::bit_cast<std::uint64_t>(&wait));
  }
}

void Translation::on_context(std::uint64_t token) {
  Wait& wait = *std::bit_cast<Wait*>(token);
  if (--wait.open != 0) return;
  if (wait.protection && wait.missing.mtts_ != 0) return fetch_pages(wait);
  ContextUser& user = *wait.user;
  const std::uint64_t its_token = wait.token;
  waits_.release(wait);
  user.on_context(its_token);
}

// Of a list that is longer than the cache the end stays.
void Translation::install(const MemoryRegion& region) {
  mpt_.install(region.place);
  if (region.pages.empty()) return;
  const std::uint64_t last = line_of_entry(region, region.pages.size() - 1);
  const std::uint64_t first = line_of_entry(region, 0);
  for (std::uint64_t line =
           std::max(first, last - std::min<std::uint64_t>(last, mtt_.entries() - 1));
       line <= last; ++line) {
    mtt_.install(line);
  }
}

}  // namespace hcasim::hca
