// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The table from which operations are read, written, and made smaller.
#include "sim/cosim/operation.hpp"

#include <limits>

namespace hcasim::sim::cosim {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kIndex = 0xFFFF;
constexpr std::uint32_t kMostCycles = 1'000'000;

constexpr std::string_view kPorts[] = {"cmd_rsp", "dma_req", "take_rsp", "event"};
constexpr std::string_view kOrders[] = {"oldest", "newest", "turns"};
constexpr std::string_view kFaults[] = {"error", "error_last", "short", "long", "unknown_tag"};

constexpr Field number(std::string_view name, std::uint32_t Operation::*member, std::uint32_t most,
                       std::uint32_t least = 0) {
  return {name, member, FieldForm::kNumber, least, most, {}};
}

constexpr Field word(std::string_view name, Words words) {
  return {name, &Operation::choice, FieldForm::kWord, 0, 0, words};
}

// A queue number fits 24 bits; each queue has 4 GiB of memory, and the longest ring 32 MiB.
constexpr Field kQueue = number("queue", &Operation::queue, (1U << 24U) - 1);
constexpr Field kOffset = number("offset", &Operation::offset, 0x7FFFFFFF);
constexpr Field kSize = number("size", &Operation::size, kIndex);
constexpr Field kStride = number("stride", &Operation::stride, kIndex);
constexpr Field kHead = number("head", &Operation::head, kIndex);
constexpr Field kTail = number("tail", &Operation::tail, kIndex);
constexpr Field kLimit = number("limit", &Operation::limit, kIndex);
constexpr Field kArm = number("arm", &Operation::arm, kAny);
constexpr Field kCycles = number("cycles", &Operation::count, kMostCycles, 1);

constexpr Field kInitFields[] = {kQueue, kSize, kStride, kHead, kOffset};
constexpr Field kLimitFields[] = {kQueue, kLimit, kArm};
constexpr Field kQueueField[] = {kQueue};
constexpr Field kResumeFields[] = {kQueue, kSize, kTail, kOffset};
constexpr Field kCommandFields[] = {number("op", &Operation::choice, 7),
                                    kQueue,
                                    kSize,
                                    kStride,
                                    kHead,
                                    kTail,
                                    kLimit,
                                    kArm,
                                    kOffset};
constexpr Field kPostFields[] = {kQueue, number("slots", &Operation::count, kIndex)};
constexpr Field kDoorbellFields[] = {kQueue, kHead};
constexpr Field kReadyFields[] = {
    word("port", kPorts), {"pattern", &Operation::pattern, FieldForm::kBits}, kCycles};
constexpr Field kMemoryFields[] = {number("delay", &Operation::count, kMostCycles),
                                   number("gap", &Operation::gap, kMostCycles),
                                   word("order", kOrders)};
constexpr Field kFaultFields[] = {word("kind", kFaults)};
constexpr Field kBeatFields[] = {number("tag", &Operation::count, 255)};
constexpr Field kWaitFields[] = {kCycles};

constexpr OperationForm kForms[kOperationKinds] = {
    {"init", kInitFields},         {"set_limit", kLimitFields}, {"pause", kQueueField},
    {"resume", kResumeFields},     {"to_error", kQueueField},   {"invalidate", kQueueField},
    {"query", kQueueField},        {"command", kCommandFields}, {"post", kPostFields},
    {"doorbell", kDoorbellFields}, {"take", kQueueField},       {"peek", kQueueField},
    {"ready", kReadyFields},       {"memory", kMemoryFields},   {"fault", kFaultFields},
    {"beat", kBeatFields},         {"wait", kWaitFields}};

}  // namespace

std::span<const OperationForm, kOperationKinds> operation_forms() {
  return kForms;
}

}  // namespace hcasim::sim::cosim
