// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The ports of the receive-queue unit as plain data, one struct a channel. The model, the RTL
/// wrapper, lockstep and plug-ins share them. What the unit does with them, and in which cycle, is
/// fixed in rtl/receive_queue/README.md; the section names below refer to it.
namespace hcasim::hw::rq {

/// Bytes of address that one beat stands for, on `dma_rsp` and on `take_rsp`.
inline constexpr std::uint32_t kBeatBytes = 64;
/// Smallest and largest WQE stride in bytes; a stride is a power of two.
inline constexpr std::uint32_t kMinStride = 32;
inline constexpr std::uint32_t kMaxStride = 512;
/// Most work requests in a ring, and the slots of such a ring: one always stays empty.
inline constexpr std::uint32_t kMaxRingWrs = 65534;
inline constexpr std::uint32_t kMaxRingSlots = kMaxRingWrs + 1;
/// No DMA request crosses a multiple of this many bytes.
inline constexpr std::uint32_t kDmaBoundary = 4096;

/// Sizes of one unit. Both implementations are built with the same values (README, Parameters).
struct Parameters {
  std::uint32_t queues = 64;        ///< number of queues, 1..2^24; ids at or above are unknown
  std::uint32_t takes = 16;         ///< most takes outstanding, 1..64
  std::uint32_t prefetch = 8;       ///< most WQEs per queue outstanding or buffered, 1..255
  std::uint32_t tags = 32;          ///< most DMA requests outstanding, 1..64
  std::uint32_t fetch_bytes = 512;  ///< most bytes of one DMA request, 512..4096, power of two
  std::uint32_t lines = 64;         ///< lines of 64 bytes in the shared buffer, 16..65534
  std::uint32_t events = 8;         ///< depth of the event FIFO, 1..64

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// True iff every parameter is in the range given beside it.
constexpr bool valid(const Parameters& p) {
  const auto in = [](std::uint32_t value, std::uint32_t low, std::uint32_t high) {
    return value >= low && value <= high;
  };
  return in(p.queues, 1, 1U << 24) && in(p.takes, 1, 64) && in(p.prefetch, 1, 255) &&
         in(p.tags, 1, 64) && in(p.fetch_bytes, kMaxStride, kDmaBoundary) &&
         (p.fetch_bytes & (p.fetch_bytes - 1)) == 0 &&
         in(p.lines, 2 * kMaxStride / kBeatBytes, 65534) && in(p.events, 1, 64);
}

/// State of a queue (README, Queue state).
enum class QueueState : std::uint8_t { kInvalid = 0, kReady = 1, kPaused = 2, kError = 3 };

/// Operation of a command (README, Commands). Any other value is answered BAD_ARGUMENT.
enum class CommandOp : std::uint8_t {
  kInit = 0,
  kSetLimit = 1,
  kPause = 2,
  kResume = 3,
  kToError = 4,
  kInvalidate = 5,
  kQuery = 6
};

/// Payload of `cmd`. Fields that the operation does not name are ignored.
struct Command {
  CommandOp op = CommandOp::kQuery;
  std::uint32_t queue = 0;
  std::uint64_t base = 0;    ///< INIT, RESUME: bus address of slot 0, multiple of max(64, stride)
  std::uint16_t size = 0;    ///< INIT, RESUME: slots in the ring, 1..65535
  std::uint16_t stride = 0;  ///< INIT: bytes a slot: 32, 64, 128, 256 or 512
  std::uint16_t head = 0;    ///< INIT, RESUME: producer index, below size
  std::uint16_t tail = 0;    ///< RESUME: consumer index, below size
  std::uint16_t limit = 0;   ///< SET_LIMIT: event when fewer remain; 0 disarms
  std::uint32_t arm = 0;     ///< SET_LIMIT: number that the limit event brings back

  friend bool operator==(const Command&, const Command&) = default;
};

/// Status of a command's answer. Of several reasons BAD_QUEUE is given before BAD_STATE, and that
/// before BAD_ARGUMENT.
enum class CommandStatus : std::uint8_t {
  kOk = 0,
  kBadState = 1,    ///< the operation is not allowed in the queue's state
  kBadQueue = 2,    ///< the queue number is not below Parameters::queues
  kBadArgument = 3  ///< a size, index, stride, alignment or operation out of its range
};

/// Registers of one queue as QUERY shows them; all zero for an INVALID or unknown queue.
struct Snapshot {
  QueueState state = QueueState::kInvalid;
  std::uint16_t size = 0;
  std::uint16_t head = 0;   ///< next slot that software posts
  std::uint16_t fetch = 0;  ///< next slot that the unit asks for
  std::uint16_t tail = 0;   ///< next slot that a TAKE gets
  std::uint16_t limit = 0;  ///< 0 when disarmed

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// Payload of `cmd_rsp`.
struct CommandAnswer {
  CommandStatus status = CommandStatus::kOk;
  Snapshot snapshot;  ///< as of the cycle before valid

  friend bool operator==(const CommandAnswer&, const CommandAnswer&) = default;
};

/// Payload of `doorbell`: software has posted up to, not including, slot `head`.
struct Doorbell {
  std::uint32_t queue = 0;
  std::uint16_t head = 0;

  friend bool operator==(const Doorbell&, const Doorbell&) = default;
};

/// Payload of `dma_req`: read `bytes` at `address`.
struct DmaRequest {
  std::uint8_t tag = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  ///< a multiple of the queue's stride, at most fetch_bytes

  friend bool operator==(const DmaRequest&, const DmaRequest&) = default;
};

/// 64 bytes of host memory, or of one WQE.
using Beat = std::array<std::uint8_t, kBeatBytes>;

/// Payload of `dma_rsp`, which is always ready.
struct DmaBeat {
  std::uint8_t tag = 0;
  bool last = false;
  bool error = false;  ///< implies last
  Beat data{};

  friend bool operator==(const DmaBeat&, const DmaBeat&) = default;
};

/// What the responder asks for.
enum class TakeKind : std::uint8_t {
  kTake = 0,  ///< hand over the next WQE
  kPeek = 1   ///< say what is posted; consumes nothing
};

/// Payload of `take`.
struct Take {
  std::uint32_t queue = 0;
  std::uint32_t tag = 0;  ///< comes back in the answer; the unit does not interpret it
  TakeKind kind = TakeKind::kTake;

  friend bool operator==(const Take&, const Take&) = default;
};

/// Verdict on a take (README, Judging).
enum class TakeStatus : std::uint8_t {
  kOk = 0,
  kEmpty = 1,      ///< nothing is posted
  kFlushed = 2,    ///< the queue is or went to ERROR, or was invalidated
  kBadQueue = 3,   ///< the queue was INVALID or unknown when the take was accepted
  kFetchError = 4  ///< the DMA read of the WQE it waited for failed
};

/// Payload of `take_rsp`: one beat of an answer. Beats of an answer are contiguous.
struct TakeBeat {
  std::uint32_t tag = 0;
  TakeStatus status = TakeStatus::kOk;
  bool last = false;
  std::uint16_t slot = 0;       ///< ring index of the WQE; 0 unless OK
  std::uint16_t remaining = 0;  ///< posted WQEs after this answer; 0 unless OK
  Beat wqe{};                   ///< zero unless OK to TAKE; stride 32 fills the first half

  friend bool operator==(const TakeBeat&, const TakeBeat&) = default;
};

/// What an event tells.
enum class EventKind : std::uint8_t {
  kSrqLimit = 0,     ///< value: arm number of the SET_LIMIT that armed it
  kBadDoorbell = 1,  ///< value: the head that the doorbell gave
  kFetchError = 2    ///< value: first slot of the failed request
};

/// Payload of `event`.
struct Event {
  std::uint32_t queue = 0;
  EventKind kind = EventKind::kSrqLimit;
  std::uint32_t value = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

/// All input ports in one cycle: valid and payload of inputs, ready of outputs. The default is a
/// cycle without input in which every output would be accepted.
struct Inputs {
  bool cmd_valid = false;
  bool doorbell_valid = false;
  bool dma_rsp_valid = false;
  bool take_valid = false;
  bool cmd_rsp_ready = true;
  bool dma_req_ready = true;
  bool take_rsp_ready = true;
  bool event_ready = true;
  Command cmd;
  Doorbell doorbell;
  Take take;
  DmaBeat dma_rsp;
};

/// All output ports in one cycle: ready of inputs, valid and payload of outputs. The default is the
/// state out of reset. A payload means something only while its valid is set.
struct Outputs {
  bool cmd_ready = true;
  bool doorbell_ready = true;
  bool take_ready = true;
  bool cmd_rsp_valid = false;
  bool dma_req_valid = false;
  bool take_rsp_valid = false;
  bool event_valid = false;
  bool idle = true;  ///< without a valid input nothing will change, whatever the readys
  CommandAnswer cmd_rsp;
  DmaRequest dma_req;
  Event event;
  TakeBeat take_rsp;
};

/// True iff a handshake happens on some port in a cycle with these inputs and outputs.
constexpr bool any_handshake(const Inputs& in, const Outputs& out) {
  return in.dma_rsp_valid || (in.take_valid && out.take_ready) ||
         (in.doorbell_valid && out.doorbell_ready) || (in.cmd_valid && out.cmd_ready) ||
         (out.take_rsp_valid && in.take_rsp_ready) || (out.dma_req_valid && in.dma_req_ready) ||
         (out.event_valid && in.event_ready) || (out.cmd_rsp_valid && in.cmd_rsp_ready);
}

/// True iff some input other than ready brings a value.
constexpr bool any_valid(const Inputs& in) {
  return in.cmd_valid || in.doorbell_valid || in.dma_rsp_valid || in.take_valid;
}

/// True iff some output other than ready and idle shows a value.
constexpr bool shows(const Outputs& out) {
  return out.cmd_rsp_valid || out.dma_req_valid || out.take_rsp_valid || out.event_valid;
}

/// The comparison contract: equal valid, ready and idle, and equal payload where valid.
constexpr bool same_ports(const Outputs& a, const Outputs& b) {
  return a.cmd_ready == b.cmd_ready && a.doorbell_ready == b.doorbell_ready &&
         a.take_ready == b.take_ready && a.idle == b.idle && a.cmd_rsp_valid == b.cmd_rsp_valid &&
         a.dma_req_valid == b.dma_req_valid && a.take_rsp_valid == b.take_rsp_valid &&
         a.event_valid == b.event_valid && (!a.cmd_rsp_valid || a.cmd_rsp == b.cmd_rsp) &&
         (!a.dma_req_valid || a.dma_req == b.dma_req) &&
         (!a.take_rsp_valid || a.take_rsp == b.take_rsp) && (!a.event_valid || a.event == b.event);
}

}  // namespace hcasim::hw::rq
