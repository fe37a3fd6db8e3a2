// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "hcasim/hw/time.hpp"

namespace hcasim::fabric {

using hw::Time;

/// Picoseconds per byte, as a fraction: the time of a million bytes is a million times that of one.
class ByteRate {
 public:
  /// `numerator` / `denominator` picoseconds a byte, both greater than 0. Fractions of more than 40
  /// bits are rounded to 40 bits, which no specified link rate needs.
  constexpr ByteRate(std::uint64_t numerator, std::uint64_t denominator)
      : numerator_(numerator), denominator_(denominator) {
    const std::uint64_t common = std::gcd(numerator_, denominator_);
    numerator_ /= common;
    denominator_ /= common;
    while (numerator_ >> kBits != 0 || denominator_ >> kBits != 0) {
      numerator_ = (numerator_ + 1) >> 1;
      denominator_ = (denominator_ + 1) >> 1;
    }
  }
  /// The rate of `gbps` times 10^9 bits a second, taken to the nearest kilobit.
  static ByteRate from_gbps(double gbps) {
    return {8'000'000'000, static_cast<std::uint64_t>(std::llround(gbps * 1e6))};
  }

  constexpr std::uint64_t numerator() const { return numerator_; }
  constexpr std::uint64_t denominator() const { return denominator_; }
  /// Time of `bytes` (less than 16 MiB) on an idle link, in whole picoseconds, rounded down or up.
  constexpr Time floor(std::uint64_t bytes) const {
    return static_cast<Time>(bytes * numerator_ / denominator_);
  }
  constexpr Time ceil(std::uint64_t bytes) const {
    return static_cast<Time>((bytes * numerator_ + denominator_ - 1) / denominator_);
  }
  constexpr double gbps() const {
    return 8000.0 * static_cast<double>(denominator_) / static_cast<double>(numerator_);
  }

 private:
  static constexpr unsigned kBits = 40;

  std::uint64_t numerator_;
  std::uint64_t denominator_;
};

/// One direction of a serial link: who comes starts at the later of his time and the end of those
/// before him. The end is kept as a fraction, so back-to-back traffic runs at the exact rate.
class LinkClock {
 public:
  struct Slot {
    Time start;  ///< first bit leaves
    Time end;    ///< last bit has left
  };

  explicit LinkClock(ByteRate rate) : rate_(rate), small_(kSmallBytes) {
    for (std::uint64_t bytes = 0; bytes < kSmallBytes; ++bytes) small_[bytes] = exact(bytes);
  }

  /// Takes the link for `bytes` (less than 16 MiB), not before `at`. Callers come in time order.
  Slot reserve(Time at, std::uint64_t bytes) {
    if (at > whole_) {
      whole_ = at;
      part_ = 0;
    }
    const Time start = free_at();
    const Duration duration = bytes < kSmallBytes ? small_[bytes] : exact(bytes);
    whole_ += duration.whole;
    part_ += duration.part;
    if (part_ >= rate_.denominator()) {
      part_ -= rate_.denominator();
      ++whole_;
    }
    bytes_ += bytes;
    return {start, free_at()};
  }

  /// End of all that was reserved, rounded up to a picosecond.
  Time free_at() const { return whole_ + (part_ != 0 ? 1 : 0); }
  const ByteRate& rate() const { return rate_; }
  /// Bytes that went over the link so far.
  std::uint64_t bytes() const { return bytes_; }
  /// How long they took.
  double busy_ps() const {
    return static_cast<double>(bytes_) * static_cast<double>(rate_.numerator()) /
           static_cast<double>(rate_.denominator());
  }

 private:
  struct Duration {
    Time whole;
    std::uint64_t part;  // in 1 / denominator
  };
  // Most of what goes over a link is short, and a division is the dearest of all instructions.
  static constexpr std::uint64_t kSmallBytes = 512;

  Duration exact(std::uint64_t bytes) const {
    const std::uint64_t sum = bytes * rate_.numerator();
    return {static_cast<Time>(sum / rate_.denominator()), sum % rate_.denominator()};
  }

  ByteRate rate_;
  std::vector<Duration> small_;  // by bytes
  Time whole_ = 0;               // end of the last reservation, whole picoseconds
  std::uint64_t part_ = 0;       // and the rest, in 1 / denominator
  std::uint64_t bytes_ = 0;
};

}  // namespace hcasim::fabric
