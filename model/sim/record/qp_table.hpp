// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim::sim {

/// A queue of numbers whose entries are known by how many came before them. Grows to its peak.
class CountedRing {
 public:
  std::uint64_t first() const { return first_; }  ///< count of the oldest entry
  std::uint64_t last() const { return last_; }    ///< count that the next entry will have
  bool empty() const { return first_ == last_; }
  std::uint64_t size() const { return last_ - first_; }
  bool holds(std::uint64_t count) const { return count - first_ < last_ - first_; }
  std::uint64_t at(std::uint64_t count) const { return ring_[count & (ring_.size() - 1)]; }

  void push(std::uint64_t value) {
    if (size() == ring_.size()) grow();
    ring_[last_++ & (ring_.size() - 1)] = value;
  }
  std::uint64_t pop() { return ring_[first_++ & (ring_.size() - 1)]; }
  void restart() { first_ = last_ = 0; }

 private:
  void grow();

  std::vector<std::uint64_t> ring_;  // size 0 or a power of two
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

/// What a send queue holds: the number of a message, or one of these.
using SendSlot = std::uint64_t;
inline constexpr SendSlot kUnrecorded = 0;
inline constexpr SendSlot kLocalOperation = ~SendSlot{0};

/// The recorder's side of a queue pair.
struct QpRecord {
  const std::string* name = nullptr;
  CountedRing sends;           ///< SendSlot by WQE count
  CountedRing completed;       ///< messages whose receive completions are not polled yet, 0: none
  std::uint64_t receives = 0;  ///< posted and not polled
};

/// QP records by number, found in constant time.
class QpTable {
 public:
  /// Nothing when no such QP was seen.
  QpRecord* find(std::uint32_t qpn) {
    const std::size_t page = qpn / kPage;
    if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
    return (*pages_[page])[qpn % kPage].get();
  }
  /// Makes the record when there is none.
  QpRecord& at(std::uint32_t qpn) {
    QpRecord* const record = find(qpn);
    return record != nullptr ? *record : make(qpn);
  }
  /// A copy of the name that stays valid.
  const std::string* keep_name(std::string_view name);

  template <typename F>
  void for_each(F&& visit) {
    for (auto& page : pages_) {
      if (page == nullptr) continue;
      for (auto& record : *page) {
        if (record != nullptr) visit(*record);
      }
    }
  }

 private:
  static constexpr std::size_t kPage = 256;
  using Page = std::array<std::unique_ptr<QpRecord>, kPage>;

  QpRecord& make(std::uint32_t qpn);

  std::vector<std::unique_ptr<Page>> pages_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace hcasim::sim
