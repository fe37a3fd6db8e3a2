// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "fabric/packet.hpp"
#include "support/protocol_monitor/rule.hpp"

namespace hcasim::monitor {

/// Longest message of any operation, in bytes.
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 31;

/// PSNs that a request packet takes: as many as its response has packets, one at least.
std::uint32_t psns_of(const fabric::Packet& request, std::uint32_t mtu);

/// How messages are cut into packets: follows a stream of requests, one packet after the other.
class MessageForm {
 public:
  explicit MessageForm(std::uint32_t mtu) : mtu_(mtu) {}

  /// The rule that the packet would break as the next of the stream.
  std::optional<Rule> broken_by(const fabric::Packet& packet) const;
  /// The packet is the next of the stream, whatever it is.
  void take(const fabric::Packet& packet);
  /// The stream is between two messages.
  void close() { open_ = hw::Operation::kNone; }
  /// The stream is in a message of which `bytes` have passed.
  void resume(hw::Operation operation, std::uint64_t bytes, std::uint32_t dma_length);

 private:
  std::optional<Rule> length_broken_by(const fabric::Packet& packet) const;

  std::uint32_t mtu_;
  hw::Operation open_ = hw::Operation::kNone;
  std::uint64_t bytes_ = 0;
  std::uint32_t dma_length_ = 0;
};

}  // namespace hcasim::monitor
