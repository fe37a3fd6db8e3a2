// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/context_cache.hpp"

#include <utility>

namespace hcasim::hca {

ContextCache::ContextCache(pcie::DmaPort& dma, const Parameters::ContextCache& parameters,
                           bool changes)
    : dma_(dma),
      changes_(changes),
      entry_bytes_(parameters.entry_bytes),
      ways_(std::min(parameters.ways, parameters.entries)),
      way_shift_(static_cast<unsigned>(std::countr_zero(ways_))),
      set_mask_(parameters.entries / ways_ - 1),
      set_bits_(std::popcount(set_mask_)),
      tags_(parameters.entries, kEmpty),
      misses_(parameters.misses),
      free_misses_(parameters.misses),
      bytes_(parameters.entry_bytes) {}

void ContextCache::set_area(bool on, std::uint64_t base, std::uint64_t places) {
  on_ = on;
  std::ranges::fill(tags_, kEmpty);
  base_ = base;
  place_mask_ = places - 1;
}

bool ContextCache::look_further(std::uint64_t* set, std::uint64_t key) {
  if (!on_) return true;
  std::uint64_t* const found = std::find(set + 1, set + ways_, key);
  if (found == set + ways_) {
    ++counters_.miss;
    return false;
  }
  std::rotate(set, found, found + 1);
  ++counters_.hit;
  return true;
}

void ContextCache::fetch(std::uint64_t key, ContextUser& user, std::uint64_t token) {
  Waiter& waiter = waiters_.acquire();
  waiter.user = &user;
  waiter.token = token;
  waiter.key = key;
  start(waiter);
}

void ContextCache::start(Waiter& waiter) {
  Miss* place = nullptr;
  for (Miss& miss : misses_) {
    if (miss.waiters.empty()) {
      if (place == nullptr) place = &miss;
    } else if (miss.key == waiter.key) {
      return miss.waiters.push_back(waiter);
    }
  }
  if (place == nullptr) return blocked_.push_back(waiter);
  place->key = waiter.key;
  place->waiters.push_back(waiter);
  --free_misses_;
  ++counters_.fetches;
  dma_.read(address_of(waiter.key), bytes_.data(), entry_bytes_, *this,
            static_cast<std::uint64_t>(place - misses_.data()));
}

// What the read brought does not matter, nor whether it failed: the contents are elsewhere.
void ContextCache::on_dma_read(std::uint64_t token, bool) {
  Miss& miss = misses_[token];
  install(miss.key);
  PoolList<Waiter> served = std::exchange(miss.waiters, {});
  ++free_misses_;
  start_blocked(served);
  while (!served.empty()) {
    Waiter& waiter = served.pop_front();
    ContextUser& user = *waiter.user;
    const std::uint64_t its_token = waiter.token;
    waiters_.release(waiter);
    user.on_context(its_token);
  }
}

// The line that a blocked look-up waits for may have come meanwhile.
void ContextCache::start_blocked(PoolList<Waiter>& served) {
  while (free_misses_ != 0 && !blocked_.empty()) {
    Waiter& waiter = blocked_.pop_front();
    if (find(waiter.key) != end_of(waiter.key)) {
      served.push_back(waiter);
    } else {
      start(waiter);
    }
  }
}

void ContextCache::install(std::uint64_t key) {
  if (!on_) return;
  std::uint64_t* const set = set_of(key);
  std::uint64_t* place = find(key);
  if (place == set + ways_) {
    --place;  // the least recently used
    if (changes_ && *place != kEmpty) {
      ++counters_.written;
      dma_.write(address_of(*place), bytes_.data(), entry_bytes_);
    }
  }
  std::rotate(set, place, place + 1);
  *set = key;
}

void ContextCache::drop(std::uint64_t key) {
  std::uint64_t* const found = find(key);
  if (found == end_of(key)) return;
  std::rotate(found, found + 1, end_of(key));
  *(end_of(key) - 1) = kEmpty;
}

}  // namespace hcasim::hca
