// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "pcie/parameters.hpp"

namespace hcasim::pcie {

/// How transfers are cut into TLPs, and what they weigh. No TLP crosses a 4 KiB boundary; a write
/// carries at most MPS, a read request asks for at most MRRS, and completions are cut at read
/// completion boundaries. Transfers have at least one byte.
class TlpLayout {
 public:
  /// TLPs, and their bytes on the link with framing.
  struct Total {
    std::uint32_t tlps;
    std::uint32_t bytes;
  };

  explicit TlpLayout(const Parameters& p)
      : mps_(p.mps_bytes),
        mrrs_(p.mrrs_bytes),
        rcb_(p.rcb_bytes),
        completion_(std::max(p.rcb_bytes, std::min(p.completion_bytes, p.mps_bytes))),
        mps_shift_(shift_of(mps_)),
        mrrs_shift_(shift_of(mrrs_)),
        completion_shift_(shift_of(completion_)),
        mwr_(p.mwr_overhead_bytes),
        mrd_(p.mrd_overhead_bytes),
        cpld_(p.cpld_overhead_bytes) {}

  /// Payload of the first write TLP, bytes asked for by the first read request.
  std::uint32_t first_write(std::uint64_t address, std::uint32_t bytes) const {
    return std::min({bytes, mps_, to_boundary(address)});
  }
  std::uint32_t first_read(std::uint64_t address, std::uint32_t bytes) const {
    return std::min({bytes, mrrs_, to_boundary(address)});
  }

  Total write(std::uint64_t address, std::uint32_t bytes) const {
    const std::uint32_t tlps = pieces(address, bytes, mps_shift_);
    return {tlps, bytes + tlps * mwr_};
  }
  /// True when one TLP carries the write, as most are small.
  bool single_write(std::uint64_t address, std::uint32_t bytes) const {
    return bytes <= mps_ && bytes <= to_boundary(address);
  }
  /// Upstream part of a read.
  Total read_requests(std::uint64_t address, std::uint32_t bytes) const {
    if (bytes <= mrrs_ && bytes <= to_boundary(address)) return {1, mrd_};
    const std::uint32_t tlps = pieces(address, bytes, mrrs_shift_);
    return {tlps, tlps * mrd_};
  }
  /// Downstream part of a read.
  Total completions(std::uint64_t address, std::uint32_t bytes) const {
    if (bytes > mrrs_ || bytes > to_boundary(address)) return completions_of_all(address, bytes);
    const std::uint32_t tlps = completions_of_request(address, bytes);
    return {tlps, bytes + tlps * cpld_};
  }
  /// Credits of 16 bytes that the payload of a write takes.
  std::uint32_t data_credits(std::uint64_t address, std::uint32_t bytes) const {
    if (bytes > to_boundary(address)) return data_credits_of_pages(address, bytes);
    return credits(bytes);
  }
  /// The same for a payload within 4 KiB.
  static std::uint32_t credits(std::uint32_t bytes) { return up(bytes, kCreditShift); }

  std::uint32_t mps() const { return mps_; }
  std::uint32_t write_overhead() const { return mwr_; }
  std::uint32_t request_overhead() const { return mrd_; }
  std::uint32_t completion_overhead() const { return cpld_; }

  static constexpr std::uint32_t kBoundary = 4096;
  static constexpr std::uint32_t kCreditBytes = 16;
  static constexpr unsigned kCreditShift = 4;

 private:
  static std::uint32_t to_boundary(std::uint64_t address) {
    return kBoundary - static_cast<std::uint32_t>(address % kBoundary);
  }
  // All sizes are powers of two; divisions would be the most expensive part of a DMA operation.
  static unsigned shift_of(std::uint32_t size) {
    return static_cast<unsigned>(std::countr_zero(size));
  }
  static std::uint32_t up(std::uint32_t bytes, unsigned shift) {
    return (bytes + (1u << shift) - 1) >> shift;
  }
  // TLPs of at most 2^shift bytes, up to 4096, that a transfer is cut into.
  static std::uint32_t pieces(std::uint64_t address, std::uint32_t bytes, unsigned shift) {
    std::uint32_t count = 0;
    for (std::uint32_t part = to_boundary(address); bytes > part; part = kBoundary) {
      count += up(part, shift);
      bytes -= part;
    }
    return count + up(bytes, shift);
  }
  // The first completion ends at the last read completion boundary that its size allows, so that
  // those after it start aligned.
  std::uint32_t completions_of_request(std::uint64_t address, std::uint32_t bytes) const {
    const std::uint32_t first = completion_ - static_cast<std::uint32_t>(address & (rcb_ - 1));
    return bytes <= first ? 1 : 1 + up(bytes - first, completion_shift_);
  }
  Total completions_of_all(std::uint64_t address, std::uint32_t bytes) const;
  static std::uint32_t data_credits_of_pages(std::uint64_t address, std::uint32_t bytes);

  std::uint32_t mps_;
  std::uint32_t mrrs_;
  std::uint32_t rcb_;
  std::uint32_t completion_;
  unsigned mps_shift_;
  unsigned mrrs_shift_;
  unsigned completion_shift_;
  std::uint32_t mwr_;
  std::uint32_t mrd_;
  std::uint32_t cpld_;
};

}  // namespace hcasim::pcie
