// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"

namespace hcasim::hca {

/// Points in the life of a message at which the adapters say what time it is.
enum class Stamp : std::uint8_t {
  kPosted,
  kDoorbellSeen,
  kWqeFetched,
  kFirstPacketOut,
  kLastPacketOut,
  kFirstPacketIn,
  kRwqeTaken,
  kDataVisible,
  kRecvCqeVisible,
  kRecvPolled,
  kAcknowledged,
  kSendCqeVisible,
  kSendPolled,
};
inline constexpr unsigned kStamps = 13;

/// Who watches messages pass through an adapter. A message is known by the number that the observer
/// of its sender gave it; packets carry that number beside their bytes.
class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  /// Number of the message that WQE `count` (0 for the first since RTS) of the QP is; 0: not
  /// watched.
  virtual std::uint64_t message_of(std::uint32_t qpn, std::uint64_t count) = 0;
  virtual void stamp(std::uint64_t message, Stamp stamp, hw::Time at) = 0;
  /// A receive completion of the QP was written on behalf of the message; 0 for a flush or an
  /// error.
  virtual void receive_completed(std::uint32_t qpn, std::uint64_t message) = 0;
};

}  // namespace hcasim::hca
