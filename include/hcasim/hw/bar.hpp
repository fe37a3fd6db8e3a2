// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// BAR 0 of the adapter: one page of registers, then the UAR pages with the doorbells.
namespace hcasim::hw::bar {

// Registers, 64 bits each.
inline constexpr std::uint64_t kDeviceId = 0x00;  ///< read-only: kDeviceIdValue
inline constexpr std::uint64_t kCommand = 0x08;   ///< write: address of a Mailbox; starts a command
inline constexpr std::uint64_t kEqBase = 0x10;    ///< host address of event queue 0's ring
inline constexpr std::uint64_t kEqSize = 0x18;    ///< entries of event queue 0; writing it enables
inline constexpr std::uint64_t kReset = 0x20;     ///< write: forget every object, stop all traffic
/// Host address of the memory that the adapter keeps contexts in (DeviceLimits::icm_bytes of it,
/// aligned to as much); before any object is made, and 0 to take it back. Without it the adapter
/// keeps all contexts on chip.
inline constexpr std::uint64_t kIcmBase = 0x28;
inline constexpr std::uint64_t kDeviceIdValue = 0x6863'6173'696d'0001;

/// UAR page n begins at kUarBase + n * kUarBytes.
inline constexpr std::uint64_t kUarBase = 0x10'0000;
inline constexpr std::uint64_t kUarBytes = 0x1000;
inline constexpr std::uint64_t kUarPages = 1024;
inline constexpr std::uint64_t kBytes = kUarBase + kUarPages * kUarBytes;

// Doorbells within a UAR page: one 64-bit write each, packed as Doorbell says.
inline constexpr std::uint64_t kSendDoorbell = 0x000;     ///< QPN, new head of the send ring
inline constexpr std::uint64_t kReceiveDoorbell = 0x008;  ///< receive queue, new head of its ring
/// CQN (+ kArmSolicited), consumer count. For solicited ones alone it ends an arming for any,
/// unless a completion is held back for that.
inline constexpr std::uint64_t kCqArmDoorbell = 0x010;
inline constexpr std::uint64_t kQpErrorDoorbell = 0x018;  ///< QPN: move the QP to ERR
/// SRQ, driver's tag (24 bits): take one for loopback. One at a time for each SRQ: the WQE goes to
/// SrqContext::take_record and stays there until the next. EqeType::kTakeGrant answers.
inline constexpr std::uint64_t kTakeDoorbell = 0x020;
inline constexpr std::uint64_t kEqConsumerDoorbell = 0x028;  ///< EQN, consumer count

/// The write-combining BlueFlame area of a UAR page takes one burst at a time, of whole 64-byte
/// lines: the value of a send doorbell, and from byte kBlueFlameWqe on the send WQE that it adds to
/// the ring, as far as it is in use (send_wqe_bytes). The WQE is in the ring as well: the adapter
/// may take the burst for the doorbell alone, and reads again what it has to send again.
inline constexpr std::uint64_t kBlueFlame = 0x800;
inline constexpr std::uint64_t kBlueFlameBytes = 512;
inline constexpr std::uint32_t kBlueFlameLine = 64;
inline constexpr std::uint32_t kBlueFlameWqe = 8;

inline constexpr std::uint32_t kArmSolicited = 1u << 31;
inline constexpr std::uint32_t kNumberMask = 0x00ff'ffff;  ///< numbers of objects have 24 bits

/// Receive queues share one number space: a QP's own queue has its QPN, an SRQ sets this bit.
inline constexpr std::uint32_t kSrqBit = 1u << 30;

/// A doorbell value: object number in the low half, index or count in the high half.
constexpr std::uint64_t doorbell(std::uint32_t number, std::uint32_t index) {
  return std::uint64_t{index} << 32 | number;
}
constexpr std::uint32_t doorbell_number(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t doorbell_index(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace hcasim::hw::bar
