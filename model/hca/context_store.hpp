// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "hca/memory_table.hpp"
#include "hca/queue_pair.hpp"
#include "hca/shared_queue.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/contexts.hpp"

namespace hcasim::hca {

/// A completion queue on the adapter.
struct CompletionQueue {
  hw::CqContext context{};
  std::uint64_t produced = 0;  ///< entries written since creation
  std::uint32_t slot = 0;
  std::uint8_t owner = 1;       ///< bit of the present lap
  std::uint32_t consumed = 0;   ///< consumer's count as last read, modulo 2^32
  std::uint32_t solicited = 0;  ///< entries written up to the last solicited one, modulo 2^32
  std::uint32_t armed_at = 0;   ///< what the consumer had read when it armed for any, modulo 2^32
  hw::Time release_at = hw::kNever;  ///< when an event that is held back is raised at the latest
  hw::Time wakes_at = hw::kNever;    ///< time of the event that looks at `release_at`
  bool armed = false;
  bool armed_solicited = false;
  bool overflow = false;  ///< sticky
};

/// Objects by number, in pages, so that sparse numbers cost little.
template <typename T>
class ObjectTable {
 public:
  T* find(std::uint32_t number) const {
    const std::uint32_t page = number / kPage;
    if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
    return (*pages_[page])[number % kPage].get();
  }
  /// Null when the number is taken.
  T* create(std::uint32_t number) {
    const std::uint32_t page = number / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    auto& place = (*pages_[page])[number % kPage];
    if (place != nullptr) return nullptr;
    place = std::make_unique<T>();
    ++size_;
    return place.get();
  }
  bool destroy(std::uint32_t number) {
    if (find(number) == nullptr) return false;
    (*pages_[number / kPage])[number % kPage].reset();
    --size_;
    return true;
  }
  std::uint32_t size() const { return size_; }
  template <typename F>
  void for_each(F&& function) {
    for (auto& page : pages_) {
      if (page == nullptr) continue;
      for (auto& object : *page) {
        if (object != nullptr) function(*object);
      }
    }
  }

 private:
  static constexpr std::uint32_t kPage = 256;
  using Page = std::array<std::unique_ptr<T>, kPage>;

  std::vector<std::unique_ptr<Page>> pages_;
  std::uint32_t size_ = 0;
};

/// All contexts, on chip.
struct ContextStore {
  ObjectTable<QueuePair> qps;
  ObjectTable<CompletionQueue> cqs;
  ObjectTable<SharedQueue> srqs;  // without kSrqBit
  MemoryTable memory;

  /// `srqn` with kSrqBit.
  SharedQueue* srq(std::uint32_t srqn) const {
    return (srqn & ~hw::bar::kNumberMask) == hw::bar::kSrqBit
               ? srqs.find(srqn & hw::bar::kNumberMask)
               : nullptr;
  }
};

}  // namespace hcasim::hca
