// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/rules.hpp"

#include <fmt/format.h>

namespace hcasim::sim {
namespace {

/// `low_key` must not exceed `high_key`.
struct Order {
  std::string_view low_key;
  std::uint32_t low;
  std::string_view high_key;
  std::uint32_t high;
};

std::optional<Violation> check(const Order& order) {
  if (order.low <= order.high) return std::nullopt;
  return Violation{
      {order.low_key, order.high_key},
      fmt::format("{} to be at most {} ({})", order.low_key, order.high_key, order.high)};
}

std::optional<Violation> check_clock(const hca::Parameters& hca) {
  constexpr std::uint32_t kPicosecondsOfOneMegahertz = 1'000'000;
  if (kPicosecondsOfOneMegahertz % hca.core_clock_mhz == 0) return std::nullopt;
  return Violation{{"hca.core_clock_mhz"},
                   "hca.core_clock_mhz to divide 1000000, so that a cycle is a whole number of "
                   "picoseconds (such as 250, 400, 500, 625, 800 or 1000)"};
}

/// A DLLP of 8 bytes for fewer TLP bytes than this would leave the link to DLLPs.
std::optional<Violation> check_dllp_limit(std::string_view key, std::uint32_t limit) {
  constexpr std::uint32_t kLeast = 32;
  if (limit == 0 || limit >= kLeast) return std::nullopt;
  return Violation{{key}, fmt::format("{} to be 0 or at least {}", key, kLeast)};
}

/// The receive-queue unit numbers the receive queues of both in 24 bits.
std::optional<Violation> check_receive_queues(const hca::Parameters& hca) {
  constexpr std::uint32_t kMost = 1U << 24;
  if (hca.device.max_qp + hca.device.max_srq <= kMost) return std::nullopt;
  return Violation{{"hca.device.max_qp", "hca.device.max_srq"},
                   fmt::format("hca.device.max_qp and hca.device.max_srq ({}) to be at most {} "
                               "together",
                               hca.device.max_srq, kMost)};
}

}  // namespace

std::optional<Violation> find_violation(const NodeConfig& node) {
  if (auto violation = check_clock(node.hca)) return violation;
  if (auto violation = check_receive_queues(node.hca)) return violation;
  const pcie::Parameters& pcie = node.pcie;
  if (auto violation = check_dllp_limit("pcie.ack_limit_bytes", pcie.ack_limit_bytes)) {
    return violation;
  }
  if (auto violation = check_dllp_limit("pcie.fc_limit_bytes", pcie.fc_limit_bytes)) {
    return violation;
  }
  const fabric::SwitchParameters& port = node.fabric.at_switch;
  const Order orders[] = {
      {"pcie.read_latency_min_ns", pcie.read_latency_min_ns, "pcie.read_latency_median_ns",
       pcie.read_latency_median_ns},
      {"pcie.read_latency_median_ns", pcie.read_latency_median_ns, "pcie.read_latency_max_ns",
       pcie.read_latency_max_ns},
      {"pcie.rcb_bytes", pcie.rcb_bytes, "pcie.completion_bytes", pcie.completion_bytes},
      {"fabric.switch.k_min_bytes", port.k_min_bytes, "fabric.switch.k_max_bytes",
       port.k_max_bytes},
      {"fabric.switch.xon_bytes", port.xon_bytes, "fabric.switch.xoff_bytes", port.xoff_bytes},
  };
  for (const Order& order : orders) {
    if (auto violation = check(order)) return violation;
  }
  return std::nullopt;
}

}  // namespace hcasim::sim
