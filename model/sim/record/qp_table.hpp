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

/// A queue of numbers whose entries are known by how many came before them. Grows to its peak; one
/// that is never used costs nothing.
class CountedRing {
 public:
  std::uint64_t first() const { return first_; }  ///< count of the oldest entry
  std::uint64_t last() const { return last_; }    ///< count that the next entry will have
  bool empty() const { return first_ == last_; }
  std::uint64_t size() const { return last_ - first_; }
  bool holds(std::uint64_t count) const { return count - first_ < last_ - first_; }
  std::uint64_t at(std::uint64_t count) const { return ring_[count & mask_]; }

  void push(std::uint64_t value) {
    if (size() == capacity_) [[unlikely]]
      grow();
    ring_[last_++ & mask_] = value;
  }
  std::uint64_t pop() { return ring_[first_++ & mask_]; }
  void restart() { first_ = last_ = 0; }

 private:
  static constexpr std::size_t kFirstSize = 16;  // a power of two

  void grow();

  std::unique_ptr<std::uint64_t[]> ring_;
  std::size_t capacity_ = 0;
  std::size_t mask_ = 0;
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
  bool shares = false;         ///< takes its receives from an SRQ
  bool reliable = true;        ///< what it sends is acknowledged
};

/// QP records by number, found in constant time.
class QpTable {
 public:
  /// Nothing when no such QP was seen.
  QpRecord* find(std::uint32_t qpn) {
    return latest_ != nullptr && qpn == latest_qpn_ ? latest_ : find_in_pages(qpn);
  }
  /// Makes the record when there is none, with a name made of the number.
  QpRecord& at(std::uint32_t qpn) {
    QpRecord* const record = find(qpn);
    return record != nullptr ? *record : numbered(qpn);
  }
  /// The record with this name from now on, made when there is none.
  QpRecord& named(std::uint32_t qpn, std::string_view name);

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

  QpRecord* find_in_pages(std::uint32_t qpn);
  QpRecord& make(std::uint32_t qpn);
  QpRecord& numbered(std::uint32_t qpn);
  const std::string* keep_name(std::string_view name);

  // Most calls are about the QP of the call before.
  std::uint32_t latest_qpn_ = 0;
  QpRecord* latest_ = nullptr;
  std::vector<std::unique_ptr<Page>> pages_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace hcasim::sim
