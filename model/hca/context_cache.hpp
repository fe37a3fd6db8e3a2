// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "hca/parameters.hpp"
#include "hca/pool.hpp"
#include "pcie/dma.hpp"

namespace hcasim::hca {

/// Work that waits for a context.
class ContextUser {
 public:
  /// What fetch() was called for with this token is on chip.
  virtual void on_context(std::uint64_t token) = 0;

 protected:
  ~ContextUser() = default;
};

/// A cache of contexts that live in host memory: set associative, least recently used out first.
/// Only its tags are modelled; what the contexts hold stays with their owners. A miss reads the
/// context by DMA and keeps waiting what needs it, and nothing else. Misses of one line become one
/// read; those beyond `misses` wait for a place in order.
///
/// A line that is created on the adapter is in the cache at once. A hit takes no time here: the
/// pipelines of the units that look up hold its latency. Without an area in host memory the adapter
/// keeps all contexts on chip, and nothing is counted.
class ContextCache final : public pcie::DmaClient {
 public:
  struct Counters {
    std::uint64_t hit = 0;
    std::uint64_t miss = 0;     ///< look-ups that had to wait
    std::uint64_t fetches = 0;  ///< DMA reads
    std::uint64_t written = 0;  ///< contexts written back by DMA
  };

  /// `changes`: the adapter changes these contexts with each use, so that one that leaves the cache
  /// is written back.
  ContextCache(pcie::DmaPort& dma, const Parameters::ContextCache& parameters, bool changes);

  /// Context n lies at base + (n modulo places) times its size; `places` is a power of two.
  void set_area(bool on, std::uint64_t base, std::uint64_t places);

  /// True when context `key` is on chip, which makes it the most recently used of its set.
  bool look_up(std::uint64_t key) {
    std::uint64_t* const set = set_of(key);
    if (*set != key) return look_further(set, key);
    ++counters_.hit;
    return true;
  }
  /// Brings a context that look_up() missed.
  void fetch(std::uint64_t key, ContextUser& user, std::uint64_t token);
  /// The context came into being on the adapter.
  void install(std::uint64_t key);
  /// The context is no more.
  void drop(std::uint64_t key);

  /// log2 of a context's size.
  unsigned entry_shift() const { return static_cast<unsigned>(std::countr_zero(entry_bytes_)); }
  std::uint32_t entries() const { return static_cast<std::uint32_t>(tags_.size()); }
  const Counters& counters() const { return counters_; }
  void on_dma_read(std::uint64_t token, bool error) override;

 private:
  struct Waiter {
    Waiter* next = nullptr;
    ContextUser* user = nullptr;
    std::uint64_t token = 0;
    std::uint64_t key = 0;
  };
  struct Miss {
    std::uint64_t key = 0;
    PoolList<Waiter> waiters;  // none: the place is free
  };
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  // Folded: numbers of queue pairs may all be even, and would leave half of the sets empty.
  std::uint64_t* set_of(std::uint64_t key) {
    return &tags_[((key ^ key >> set_bits_) & set_mask_) << way_shift_];
  }
  std::uint64_t* find(std::uint64_t key) { return std::find(set_of(key), end_of(key), key); }
  std::uint64_t* end_of(std::uint64_t key) { return set_of(key) + ways_; }
  std::uint64_t address_of(std::uint64_t key) const {
    return base_ + (key & place_mask_) * entry_bytes_;
  }
  bool look_further(std::uint64_t* set, std::uint64_t key);
  void start(Waiter& waiter);
  void start_blocked(PoolList<Waiter>& served);

  pcie::DmaPort& dma_;
  bool changes_;
  bool on_ = false;
  std::uint32_t entry_bytes_;
  std::uint32_t ways_;
  unsigned way_shift_;
  std::uint64_t set_mask_;
  int set_bits_;
  std::uint64_t base_ = 0;
  std::uint64_t place_mask_ = 0;
  std::vector<std::uint64_t> tags_;  // set by set, in each the most recently used first
  std::vector<Miss> misses_;
  std::uint32_t free_misses_;
  PoolList<Waiter> blocked_;  // for want of a place among the misses
  Pool<Waiter> waiters_;
  std::vector<std::uint8_t> bytes_;  // where reads go, and writes come from
  Counters counters_;
};

}  // namespace hcasim::hca
