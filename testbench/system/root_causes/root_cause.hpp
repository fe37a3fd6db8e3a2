// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A run for one of the causes for which RDMA is known to become slow, and the figures to judge it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/replay/run_lines.hpp"

namespace hcasim::test {

using Lines = std::vector<std::string>;

class CauseRun {
 public:
  /// `settings` are keys with values.
  CauseRun(const Lines& lines, const Lines& settings) : run_(run_lines(lines, options(settings))) {
    EXPECT_EQ(run_.status, 0) << run_.err;
    EXPECT_EQ(run_.count("messages_failed"), 0u);
  }

  std::uint64_t counter(const char* node, const char* unit, const char* name) const {
    return run_.statistics["counters"][node][unit][name].get<std::uint64_t>();
  }
  std::uint64_t cache(const char* node, const char* name) const {
    return counter(node, "context_cache", name);
  }
  std::uint64_t messages() const { return run_.count("messages_completed"); }
  /// First post to last completion.
  double active_ns() const { return run_.statistics["throughput"]["active_ns"].get<double>(); }
  double ns_per_message() const { return active_ns() / static_cast<double>(messages()); }
  /// Latency of a node's WRITEs: `what` is min, p50, max.
  double write_latency(const char* node, const char* what) const {
    return run_.statistics["by_node"][node]["RDMA_WRITE"]["latency_ns"][what].get<double>();
  }
  double latency(const char* what) const {
    return run_.statistics["latency_ns"][what].get<double>();
  }

 private:
  static std::string options(const Lines& settings) {
    std::string all;
    for (const std::string& setting : settings) all += " --set " + setting;
    return all;
  }

  RunOfLines run_;
};

/// Bytes that the link of all these runs carries in a nanosecond.
inline constexpr double kWireBytesPerNs = 100.0 / 8;
/// Of a packet of 4096 bytes, with 82 beside them.
inline constexpr double kPacketNs = (4096 + 82) / kWireBytesPerNs;
/// Payload that Gen3 x4 takes: 4 lanes of 8 GT/s at 128/130; DLLPs of 8 bytes for ACK and flow
/// control each 214 bytes of TLPs (MPS 256), SKP 4 of 1538; and 24 bytes beside each 256 of
/// payload.
inline constexpr double kPcieGbps =
    4 * 8.0 * 128 / 130 * (1 - 8.0 / 214 - 8.0 / 214 - 4.0 / 1538) * 256 / (256 + 24);

/// Every read of host memory takes this long in the root complex.
inline Lines with_read_latency(std::uint32_t ns, Lines settings) {
  for (const char* which : {"min", "median", "max"}) {
    settings.push_back(fmt::format("pcie.read_latency_{}_ns={}", which, ns));
  }
  return settings;
}

/// `count` connections a.q0 to b.q0, a.q1 to b.q1 and so on.
inline Lines connections(unsigned count, const std::string& arguments) {
  Lines lines;
  for (unsigned i = 0; i < count; ++i) {
    lines.push_back(fmt::format("connect a.q{0} b.q{0} {1}", i, arguments));
  }
  return lines;
}

}  // namespace hcasim::test
