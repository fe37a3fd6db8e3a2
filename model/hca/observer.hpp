// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/time.hpp"

namespace hcasim::fabric {
class Packet;
}

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

/// Who watches what an adapter's packets depend on beside packets: for checkers of the protocol.
class TransportObserver {
 public:
  virtual ~TransportObserver() = default;
  /// A command has given the queue pair this state and these attributes.
  virtual void on_qp_modified(const hw::QpContext& context, hw::QpState before, hw::Time at) = 0;
  /// It is in RESET, or gone: nothing of its life is left in the adapter.
  virtual void on_qp_reset(std::uint32_t qpn, hw::Time at) = 0;
  /// The adapter has no room for a packet that arrived, and drops it.
  virtual void on_discarded(const fabric::Packet& packet, hw::Time at) = 0;
};

}  // namespace hcasim::hca
