// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace hcasim::sim::cosim {

/// What an operation of a stimulus does. README.md describes each.
enum class OperationKind : std::uint8_t {
  kInit,
  kSetLimit,
  kPause,
  kResume,
  kToError,
  kInvalidate,
  kQuery,
  kCommand,
  kPost,
  kDoorbell,
  kTake,
  kPeek,
  kReady,
  kMemory,
  kFault,
  kBeat,
  kWait
};
inline constexpr std::size_t kOperationKinds = 17;

/// Outputs whose ready an operation can hold back.
enum class OutputPort : std::uint8_t { kCmdRsp, kDmaReq, kTakeRsp, kEvent };
inline constexpr std::size_t kOutputPorts = 4;

/// Whose next beat the memory sends when several requests are due.
enum class MemoryOrder : std::uint8_t { kOldest, kNewest, kTurns };

/// What is wrong with a beat.
enum class BeatFault : std::uint8_t {
  kError,       ///< error without last
  kErrorLast,   ///< error with last
  kShort,       ///< last too early
  kLong,        ///< no last where it belongs; a further beat follows
  kUnknownTag,  ///< a beat of a tag that has no request
};

/// One operation. It stands for itself: it means something wherever in a list it is, so that any of
/// them may be left out. Members that the kind has no field for are 0.
struct Operation {
  OperationKind kind = OperationKind::kWait;
  std::uint32_t queue = 0;
  std::uint32_t offset = 0;  ///< of the ring in the queue's part of the memory
  std::uint32_t size = 0;
  std::uint32_t stride = 0;
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
  std::uint32_t limit = 0;
  std::uint32_t arm = 0;
  std::uint32_t count = 0;    ///< cycles, slots or a tag
  std::uint32_t gap = 0;      ///< cycles between the beats of one request
  std::uint32_t choice = 0;   ///< operation code, OutputPort, MemoryOrder or BeatFault
  std::uint32_t pattern = 0;  ///< of ready, first bit first below a leading 1

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// How a field is written.
enum class FieldForm : std::uint8_t { kNumber, kWord, kBits };

/// One field of the text of an operation, and where its value is kept.
struct Field {
  std::string_view name;
  std::uint32_t Operation::*member;
  FieldForm form = FieldForm::kNumber;
  std::uint32_t least = 0;
  std::uint32_t most = 0;                     ///< of numbers
  std::span<const std::string_view> words{};  ///< of words, by value
};

/// Name and fields of a kind, in the order in which they are written. All must be given.
struct OperationForm {
  std::string_view name;
  std::span<const Field> fields;
};

/// By OperationKind.
std::span<const OperationForm, kOperationKinds> operation_forms();

inline const OperationForm& form_of(OperationKind kind) {
  return operation_forms()[static_cast<std::size_t>(kind)];
}

/// Most bits of a pattern.
inline constexpr unsigned kPatternBits = 16;

}  // namespace hcasim::sim::cosim
