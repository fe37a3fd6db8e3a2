// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/link_rates.hpp"

#include <array>
#include <bit>

namespace hcasim::pcie {

namespace {

struct Lane {
  std::uint64_t megatransfers;  // per second
  std::uint64_t payload;        // of `block` bits on the line
  std::uint64_t block;
};

constexpr std::array<Lane, 7> kLanes{{{2500, 8, 10},
                                      {5000, 8, 10},
                                      {8000, 128, 130},
                                      {16000, 128, 130},
                                      {32000, 128, 130},
                                      {64000, 242, 256},
                                      {128000, 242, 256}}};

const Lane& lane_of(std::uint32_t generation) {
  return kLanes[std::min<std::size_t>(std::max(generation, 1u), kLanes.size()) - 1];
}

// At 2.5 GT/s, by MPS (128 to 4096) and width (1, 2, 4, 8, 16). Faster generations add a constant,
// the longer internal delay of the receiver.
constexpr std::array<std::array<std::uint32_t, 5>, 6> kDllpLimits{{
    {237, 128, 73, 67, 48},
    {416, 217, 118, 107, 72},
    {559, 289, 154, 86, 86},
    {1071, 545, 282, 150, 150},
    {2095, 1057, 538, 278, 278},
    {4143, 2081, 1050, 534, 534},
}};
constexpr std::array<std::uint32_t, 3> kInternalDelay{0, 51, 96};

// TLP bandwidth = raw * (1 - 8/ack - 8/fc - 4/1538), as picoseconds a byte.
fabric::ByteRate tlp_rate_of(const Lane& lane, std::uint64_t width, std::uint64_t ack,
                             std::uint64_t fc) {
  constexpr std::uint64_t kDllpBytes = 8;
  constexpr std::uint64_t kSkipBytes = 2;  // 4 in 1538 is 2 in 769
  constexpr std::uint64_t kSkipPeriod = 769;
  // Share of TLPs: (kSkipPeriod * (af - 8f - 8a) - 2af) / (kSkipPeriod * af). Equal limits are the
  // rule; leaving the common factor out keeps the fraction small.
  const bool equal = ack == fc;
  const std::uint64_t af = equal ? ack : ack * fc;
  const std::uint64_t dllps = equal ? 2 * kDllpBytes : kDllpBytes * (ack + fc);
  const std::uint64_t share = kSkipPeriod * (af - dllps) - kSkipBytes * af;
  const std::uint64_t whole = kSkipPeriod * af;
  const fabric::ByteRate raw(8'000'000 * lane.block, lane.megatransfers * width * lane.payload);
  const std::uint64_t common = std::gcd(whole, share);
  return {raw.numerator() * (whole / common), raw.denominator() * (share / common)};
}

}  // namespace

LinkRates::LinkRates(const Parameters& p)
    : generation_(p.generation),
      width_(p.width),
      ack_limit_(p.ack_limit_bytes != 0 ? p.ack_limit_bytes
                                        : dllp_limit(p.generation, p.width, p.mps_bytes)),
      fc_limit_(p.fc_limit_bytes != 0 ? p.fc_limit_bytes
                                      : dllp_limit(p.generation, p.width, p.mps_bytes)),
      tlp_rate_(tlp_rate_of(lane_of(p.generation), p.width, ack_limit_, fc_limit_)) {}

double LinkRates::raw_gbps() const {
  const Lane& lane = lane_of(generation_);
  return static_cast<double>(lane.megatransfers * width_ * lane.payload) /
         static_cast<double>(lane.block) / 1000.0;
}

std::uint32_t LinkRates::dllp_limit(std::uint32_t generation, std::uint32_t width,
                                    std::uint32_t mps_bytes) {
  const auto row = std::min<std::size_t>(std::bit_width(mps_bytes / 128) - 1u, 5);
  const auto column = std::min<std::size_t>(std::bit_width(width) - 1u, 4);
  const auto delay = std::min<std::size_t>(generation - 1, kInternalDelay.size() - 1);
  return kDllpLimits[row][column] + kInternalDelay[delay];
}

}  // namespace hcasim::pcie
