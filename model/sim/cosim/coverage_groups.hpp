// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace hcasim::sim::cosim {

/// Groups of cover points. What each point means is in testbench/cosim/test_plan.txt.
enum class CoverGroup : std::uint8_t {
  kCommand,       ///< operation x state x status
  kArgument,      ///< the one argument that is wrong
  kQuiet,         ///< operation x what its answer waits for
  kLeave,         ///< operation x what it meets
  kRing,          ///< INIT or RESUME x size
  kResume,        ///< what a RESUME brings
  kDoorbell,      ///< effect
  kDoorbellHead,  ///< where a good one leads
  kStorm,         ///< doorbells in consecutive cycles
  kTake,          ///< kind x state at acceptance
  kAnswer,        ///< kind x status
  kFlushed,       ///< kind x cause
  kWait,          ///< what an accepted TAKE waits for
  kPass,          ///< what was judged before an older take
  kStride,        ///< stride x whether its beats were held up
  kRemaining,     ///< after an OK
  kWrap,          ///< which index
  kFetchSlots,    ///< slots of a request
  kFetchLimit,    ///< the one thing that kept a request from being longer
  kRingEnd,       ///< slots from its start to the end of the ring x where it ends
  kHalfBeats,     ///< first slot x slots, of a request with stride 32
  kEvict,         ///< WQEs
  kFetchStage,    ///< other actions
  kBeat,          ///< state of its queue x what is wrong with it
  kErrorAt,       ///< which beat of a request
  kFetchError,    ///< what the failed request finds
  kBeatOrder,     ///< of several requests
  kLimit,         ///< limit against remaining
  kEvent,         ///< kind
  kEventStall,    ///< who cannot enter
  kFull,          ///< which resource
  kHeld,          ///< outputs that are valid and not ready
  kInputHeld,     ///< inputs that are valid and not ready
  kSameCycle,     ///< what meets on one queue
  kIdle,          ///< what is under way, and what ends it
  kFullRate       ///< port
};
inline constexpr std::size_t kCoverGroups = 36;

using Labels = std::span<const std::string_view>;

/// Name and labels of a group; unused lists of labels are empty.
struct CoverGroupForm {
  std::string_view name;
  std::array<Labels, 3> labels;
  /// False for combinations that a right unit cannot show; null: there are none.
  bool (*possible)(unsigned first, unsigned second, unsigned third) = nullptr;
};

/// By CoverGroup.
std::span<const CoverGroupForm, kCoverGroups> cover_groups();

}  // namespace hcasim::sim::cosim
