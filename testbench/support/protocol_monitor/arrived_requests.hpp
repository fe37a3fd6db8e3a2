// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>

#include "hcasim/hw/wire/psn.hpp"
#include "support/protocol_monitor/message_form.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"

namespace hcasim::monitor {

/// A message that arrived at a responder in order, all of it or the beginning.
struct ArrivedMessage {
  hw::Operation operation = hw::Operation::kNone;
  std::uint16_t headers = 0;  ///< of its newest packet
  std::uint32_t first_psn = 0;
  std::uint32_t psns = 0;       ///< so far
  std::uint32_t completed = 0;  ///< messages before it
  std::uint32_t dma_length = 0;
  bool complete = false;

  std::uint32_t end_psn() const { return hw::psn_add(first_psn, psns); }
  /// True when the packet of this PSN needs a receive that none before it needed.
  bool needs_receive_at(std::uint32_t psn) const;
  /// True when it names a key of the responder.
  bool names_key() const;
};

/// How a request arrived.
enum class Arrival : std::uint8_t {
  kNew,        ///< it was the expected one
  kDuplicate,  ///< it arrived before
  kAhead,      ///< one before it is missing
  kFaulty,     ///< it was the expected one, and breaks a rule; or came after such a one
};

/// What arrived at a responder that was not acknowledged yet.
class ArrivedRequests {
 public:
  explicit ArrivedRequests(const MonitoredQp& qp)
      : mtu_(qp.mtu), form_(qp.mtu), expected_(qp.rq_psn) {}

  Arrival arrive(const fabric::Packet& packet);

  std::uint32_t expected() const { return expected_; }
  /// Messages that are complete, modulo 2^24.
  std::uint32_t completed() const { return completed_; }
  /// Those among them that are acknowledged.
  std::uint32_t acknowledged() const { return acknowledged_; }
  /// True for PSNs before the expected one.
  bool arrived(std::uint32_t psn) const { return hw::psn_before(psn, expected_); }
  /// True when the request of this PSN arrived and is faulty.
  bool faulty(std::uint32_t psn) const { return faulty_ && psn == expected_; }
  /// The message of a PSN that is not acknowledged; also that of a faulty packet. Null: not known.
  const ArrivedMessage* find(std::uint32_t psn) const;
  /// Forgets the messages that end before the PSN.
  void acknowledge_before(std::uint32_t psn);
  /// The responder did not take the request of this PSN, nor what came after it.
  void reject(std::uint32_t psn);

 private:
  void accept(const fabric::Packet& packet);

  std::uint32_t mtu_;
  MessageForm form_;
  std::uint32_t expected_;
  std::uint32_t completed_ = 0;
  std::uint32_t acknowledged_ = 0;
  bool faulty_ = false;
  ArrivedMessage fault_;
  std::deque<ArrivedMessage> messages_;
};

}  // namespace hcasim::monitor
