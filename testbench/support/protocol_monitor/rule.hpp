// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

/// The rules of the InfiniBand transports as far as they show on a link. They are written from the
/// specification and know nothing of the model.
namespace hcasim::monitor {

/// What a packet can break. rule.cpp has a sentence and the section for each.
enum class Rule : std::uint8_t {
  // Every packet.
  kDestination,
  kPartition,
  kHeader,
  kService,
  kSolicited,
  kNoAnswer,
  kQkey,
  kSourceQp,
  // Requests.
  kPsnOrder,
  kOpcodeSequence,
  kPayloadLength,
  kDmaLength,
  kReadLimit,
  kPsnWindow,
  kCredit,
  kCreditAckRequest,
  kRequestAfterNak,
  // Requests that are sent again.
  kRepeatAcknowledged,
  kRepeatCause,
  kRepeatSame,
  kRnrWait,
  // Answers.
  kSyndrome,
  kCreditCode,
  kMsnOrder,
  kMsnCount,
  kAckArrived,
  kAckOrder,
  kAckPassesResponse,
  kNakArrived,
  kSequenceNak,
  kSequenceNakOnce,
  kRnrNak,
  kAccessNak,
  kAnswerAfterNak,
  kReadUnasked,
  kReadOpcode,
  kReadPsn,
  kReadLength,
  kAtomicUnasked,
  kAtomicValue,
  kCount,  ///< number of rules, not one of them
};

/// The name by which a violation is reported, as in "psn-order".
std::string_view name_of(Rule rule);
/// The rule in a sentence.
std::string_view text_of(Rule rule);
/// Where the InfiniBand specification (volume 1) has it.
std::string_view section_of(Rule rule);

}  // namespace hcasim::monitor
