// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "fabric/link_clock.hpp"
#include "fabric/link_ring.hpp"
#include "pcie/tlp_layout.hpp"

namespace hcasim::pcie {

using hw::Time;

/// Credits for posted TLPs, as their sender counts them. The receiver frees the buffers of a TLP a
/// fixed time after it left the sender, so the time at which credits come back is known when they
/// are spent, and is looked at only when they run short.
class PostedCredits {
 public:
  PostedCredits(const Parameters& parameters, const TlpLayout& layout,
                const fabric::ByteRate& rate);

  /// Whether a transfer of that many TLPs and data credits can go out at `now` in one go.
  bool enough(std::uint32_t tlps, std::uint32_t data, Time now) {
    while (tlps > headers_ || data > data_) {
      if (spent_.empty() || spent_.front().last_back > now) return enough_of_parts(tlps, data, now);
      take_back_first();
    }
    return true;
  }
  /// Earliest time, not before `now`, at which there are credits for one TLP.
  Time wait_for(std::uint32_t data, Time now) { return collect(1, data, hw::kNever, now); }
  /// Spends the credits of TLPs that leave back to back; the last one's are back at `last_back`.
  void spend(std::uint64_t address, std::uint32_t bytes, std::uint32_t tlps, std::uint32_t data,
             Time last_back) {
    headers_ -= tlps;
    data_ -= data;
    Spent& spent = spent_.emplace();
    spent = {last_back, address, bytes, tlps, data};
  }

 private:
  struct Spent {
    Time last_back;
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint32_t tlps;
    std::uint32_t data;
  };

  void take_back_first() {
    headers_ += spent_.front().tlps;
    data_ += spent_.front().data;
    spent_.drop();
  }
  [[gnu::noinline]] bool enough_of_parts(std::uint32_t tlps, std::uint32_t data, Time now);
  Time collect(std::uint32_t tlps, std::uint32_t data, Time until, Time now = 0);
  bool collect_first(Time until, Time& back);

  const TlpLayout& layout_;
  fabric::ByteRate rate_;
  std::uint32_t headers_;
  std::uint32_t data_;
  fabric::LinkRing<Spent> spent_;
};

/// Credits of read requests at the root complex: they come back all at once for one read.
class RequestCredits {
 public:
  explicit RequestCredits(std::uint32_t count) : free_(count) {}

  /// How many there are at `now`; exact if less than `wanted`.
  std::uint32_t available(std::uint32_t wanted, Time now) {
    while (free_ < wanted && !returns_.empty() && returns_.front().at <= now) {
      free_ += returns_.front().count;
      returns_.drop();
    }
    return free_;
  }
  void take(std::uint32_t count) { free_ -= count; }
  /// `count` come back at `at`; calls come in order of `at`.
  void give_back(std::uint32_t count, Time at) { returns_.push({at, count}); }
  /// When there are `wanted`, not before `now`; kNever when that is not known yet.
  Time next(std::uint32_t wanted, Time now) const;

 private:
  struct Return {
    Time at;
    std::uint32_t count;
  };

  std::uint32_t free_;
  fabric::LinkRing<Return> returns_;
};

/// Tags of read requests: each is free again when the last completion of its request has arrived.
/// The completions of one read come back to back, so one time tells all.
class Tags {
 public:
  Tags(std::uint32_t count, const TlpLayout& layout, const fabric::ByteRate& rate)
      : layout_(layout), rate_(rate), free_(count) {}

  /// How many there are at `now`; exact if less than `wanted`.
  std::uint32_t available(std::uint32_t wanted, Time now) {
    while (free_ < wanted && !returns_.empty() && collect_first(now)) {
    }
    return free_;
  }
  void take(std::uint32_t count) { free_ -= count; }
  /// The completions of these bytes end at `last`; calls come in order of `last`.
  void give_back(std::uint64_t address, std::uint32_t bytes, std::uint32_t requests, Time last) {
    returns_.push({last, address, bytes, requests});
  }
  /// When there are `wanted`, not before `now`; kNever when that is not known yet.
  Time next(std::uint32_t wanted, Time now) const;

 private:
  struct Return {
    Time last;
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint32_t requests;
  };

  Time time_of(const Return& part, std::uint32_t requests) const;
  bool collect_first(Time now);

  const TlpLayout& layout_;
  fabric::ByteRate rate_;
  std::uint32_t free_;
  fabric::LinkRing<Return> returns_;
};

}  // namespace hcasim::pcie
