// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "unit/driver/interrupted.hpp"

#ifndef NDEBUG
namespace hcasim::rvt {

using Ids = std::vector<std::uint64_t>;

/// What was posted and what was polled, while a handler interrupts what it likes. A request's
/// number says who posted it and as what: hundreds for the caller, tens for the kind.
class Books {
 public:
  static constexpr std::uint64_t kBefore = 100;  ///< posted before the call
  static constexpr std::uint64_t kCall = 200;    ///< by the call
  static constexpr std::uint64_t kHandler = 300;
  static constexpr std::uint64_t kReceive = 10;  ///< added for a receive
  static constexpr std::uint64_t kShared = 20;   ///< for one of an SRQ
  static constexpr std::uint64_t kEntered = 30;  ///< for a completion of nobody
  static constexpr std::uint64_t kPeer = 40;     ///< for what the other end posts

  void post(std::uint64_t id) { posted_.push_back(id); }
  void poll(const std::vector<ib_wc>& wc) {
    Ids batch;
    for (const ib_wc& each : wc) batch.push_back(each.wr_id);
    batches_.push_back(batch);
  }

  /// Each request has completed once, and in its order. Of two polls one within the other, either
  /// may have been the first to take something.
  void expect_settled(bool polls_nested = false) {
    Ids posted = posted_;
    Ids polled = flat();
    std::sort(posted.begin(), posted.end());
    std::sort(polled.begin(), polled.end());
    EXPECT_EQ(posted, polled);
    bool ordered = in_order(flat());
    if (!ordered && polls_nested) {
      std::swap(batches_.at(0), batches_.at(1));
      ordered = in_order(flat());
    }
    EXPECT_TRUE(ordered) << "polled: " << testing::PrintToString(batches_);
  }

 private:
  Ids flat() const {
    Ids all;
    for (const Ids& batch : batches_) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
  // What one caller posts ends in its order, and behind what had been posted before.
  static bool in_order(const Ids& all, std::uint64_t kind, std::uint64_t other) {
    Ids chain;
    for (const std::uint64_t id : all)
      if (id % 100 / 10 * 10 == kind && id / 100 * 100 != other) chain.push_back(id);
    return std::is_sorted(chain.begin(), chain.end());
  }
  static bool in_order(const Ids& all) {
    for (const std::uint64_t kind : {std::uint64_t{0}, kReceive, kShared, kPeer, kPeer + kReceive})
      for (const std::uint64_t other : {kCall, kHandler})
        if (!in_order(all, kind, other)) return false;
    return true;
  }
  Ids posted_;
  std::vector<Ids> batches_;
};

/// A list of `count` requests of 64 bytes, numbered from `first` on.
template <typename Wr>
std::vector<Wr> list_of(std::size_t count, std::uint64_t first, const ib_sge& data) {
  std::vector<Wr> list(count);
  for (std::size_t i = 0; i < count; ++i) {
    list[i].wr_id = first + i;
    list[i].sg_list = &data;
    list[i].num_sge = 1;
    list[i].next = i + 1 < count ? &list[i + 1] : nullptr;
  }
  return list;
}

}  // namespace hcasim::rvt
#endif
