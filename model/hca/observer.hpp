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

/// Where the two sides of an RC queue pair stand when one of the requester's timers speaks.
struct RequesterPlace {
  std::uint32_t qpn = 0;
  std::uint32_t unacked_psn = 0;   ///< oldest PSN that is not acknowledged
  std::uint32_t next_psn = 0;      ///< of the next packet
  std::uint32_t expected_psn = 0;  ///< of the next request that comes in
  bool rnr_wait = false;           ///< nothing is sent for the responder's time
  bool timer = false;              ///< the ACK timer runs
  bool unlimited_credit = false;   ///< the responder counts no credits
};

/// Who is told of the requester's timers.
class TimerObserver {
 public:
  virtual ~TimerObserver() = default;
  /// An RNR NAK came: it waits for `wait`.
  virtual void rnr_wait_began(const RequesterPlace& place, hw::Time wait, hw::Time at) = 0;
  /// That time is over, and it was not stopped meanwhile.
  virtual void rnr_wait_over(const RequesterPlace& place, hw::Time at) = 0;
  /// The ACK timer has expired.
  virtual void ack_timed_out(const RequesterPlace& place, hw::Time at) = 0;
};

}  // namespace hcasim::hca
