// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>

#include "fabric/packet.hpp"
#include "hcasim/hw/wire/psn.hpp"

namespace hcasim::monitor {

/// A message that a requester sent, all of it or the beginning.
struct SentMessage {
  hw::Operation operation = hw::Operation::kNone;
  hw::BthOpcode last_opcode = hw::BthOpcode::kRcSendOnly;  ///< of the newest packet
  bool complete = false;
  bool beyond_credit = false;
  std::uint32_t first_psn = 0;
  std::uint32_t psns = 0;   ///< so far
  std::uint64_t bytes = 0;  ///< so far
  std::uint32_t ssn = 0;
  std::uint32_t consumed = 0;  ///< receives that this message and those before it need
  hw::Reth reth{};
  hw::AtomicEth atomic{};
  hw::ImmDt imm{};
  hw::Ieth ieth{};

  /// A READ or an atomic.
  bool needs_response() const {
    return operation != hw::Operation::kSend && operation != hw::Operation::kWrite;
  }
  std::uint32_t end_psn() const { return hw::psn_add(first_psn, psns); }
};

/// True when the message that ends in this packet takes a receive there or took one before.
inline bool consumes_receive(const fabric::Packet& packet) {
  return packet.info().operation == hw::Operation::kSend ||
         (packet.info().headers & hw::kHasImmDt) != 0;
}

/// The messages of a requester that may still be sent again, in the order of their PSNs.
class SentMessages {
 public:
  bool empty() const { return messages_.empty(); }
  SentMessage& newest() { return messages_.back(); }
  /// A packet that was not sent before.
  void add(const fabric::Packet& packet, std::uint32_t psns);
  /// The message of this PSN, null when none is known.
  const SentMessage* find(std::uint32_t psn) const;
  /// Receives that the first `msn` messages need. False when that is not known any more, or yet.
  bool consumed_by(std::uint32_t msn, std::uint32_t& consumed) const;
  /// Visits the messages from the one with `psn` on, while `visit` returns true.
  template <typename Visit>
  void for_each_from(std::uint32_t psn, Visit visit) const {
    for (std::size_t i = position(psn); i < messages_.size() && visit(messages_[i]); ++i) {
    }
  }
  void forget_before(std::uint32_t psn);

 private:
  std::size_t position(std::uint32_t psn) const;

  std::deque<SentMessage> messages_;
  std::uint32_t ssn_ = 0;
  std::uint32_t consumed_ = 0;
};

}  // namespace hcasim::monitor
