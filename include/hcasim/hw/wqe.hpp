// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/layout.hpp"

/// Work-queue elements as they lie in host memory.
namespace hcasim::hw {

/// Send opcodes: the values of enum ib_wr_opcode.
enum class WrOpcode : std::uint8_t {
  kRdmaWrite = 0,
  kRdmaWriteWithImm = 1,
  kSend = 2,
  kSendWithImm = 3,
  kRdmaRead = 4,
  kAtomicCmpAndSwp = 5,
  kAtomicFetchAndAdd = 6,
  kLocalInv = 7,
  kSendWithInv = 9,
  kRegMr = 0x20,
};

/// Flags of a send WQE. The first four have the values of enum ib_send_flags.
enum SendWqeFlags : std::uint8_t {
  kWqeFence = 0x1,
  kWqeSignaled = 0x2,
  kWqeSolicited = 0x4,
  kWqeInline = 0x8,
};

/// One scatter/gather element: 16 bytes, the layout of struct ib_sge.
struct Sge {
  std::uint64_t addr;
  std::uint32_t length;  ///< bytes
  std::uint32_t lkey;
};
static_assert(sizeof(Sge) == 16);

inline constexpr std::uint32_t kWqeBlockBytes = 64;

/// First 16 bytes of a send WQE.
struct SendWqeControl {
  WrOpcode opcode;
  std::uint8_t flags;        ///< SendWqeFlags
  std::uint8_t num_sge;      ///< 0 with inline data
  std::uint8_t blocks;       ///< 64-byte blocks in use, this one included
  std::uint32_t length;      ///< bytes of the message
  std::uint32_t imm_or_key;  ///< immediate data, or the key to invalidate
  std::uint32_t index;       ///< slot of the send ring; a mismatch is a local QP operation error
};
static_assert(sizeof(SendWqeControl) == 16);

/// Bytes 16..31: where on the peer. Unused by SEND.
struct SendWqeRemote {
  std::uint64_t addr;
  std::uint32_t rkey;
  std::uint32_t reserved;
};
static_assert(sizeof(SendWqeRemote) == 16);

/// Bytes 32..47 of an atomic.
struct SendWqeAtomic {
  std::uint64_t compare_add;
  std::uint64_t swap;
};
static_assert(sizeof(SendWqeAtomic) == 16);

/// Bytes 32..47 of REG_MR. The control segment holds the new key (imm_or_key) and the length; the
/// remote segment holds the new iova (addr) and the access rights (rkey).
struct SendWqeRegister {
  std::uint32_t current_key;   ///< key that the region has before
  std::uint32_t mtt_entries;   ///< of the region's table that are in use now
  std::uint32_t first_offset;  ///< bytes into the first page at which the region begins
  std::uint32_t reserved;
};
static_assert(sizeof(SendWqeRegister) == 16);

/// Bytes 16..95 of a send of a UD queue pair, in place of SendWqeRemote: where the datagram goes.
struct SendWqeDatagram {
  AddressVector av;
  std::uint32_t remote_qpn;   ///< 24 bits
  std::uint32_t remote_qkey;  ///< with kOwnQkey set: the queue pair's own instead
  std::uint64_t reserved;
};
static_assert(sizeof(SendWqeDatagram) == 80);

/// Bit of a Q_Key that only privileged consumers may put into a QP (InfiniBand specification
/// 10.2.5): in a send it stands for the Q_Key of the queue pair.
inline constexpr std::uint32_t kOwnQkey = 1u << 31;

inline constexpr std::uint32_t kSendWqeRemoteOffset = 16;
inline constexpr std::uint32_t kSendWqeDatagramOffset = 16;
inline constexpr std::uint32_t kSendWqeAtomicOffset = 32;
inline constexpr std::uint32_t kSendWqeRegisterOffset = 32;

/// Offset of the SGEs or of the inline data within a send WQE.
constexpr std::uint32_t send_wqe_data_offset(WrOpcode opcode, QpType type = QpType::kRc) {
  if (type == QpType::kUd) return kSendWqeDatagramOffset + sizeof(SendWqeDatagram);
  const bool atomic =
      opcode == WrOpcode::kAtomicCmpAndSwp || opcode == WrOpcode::kAtomicFetchAndAdd;
  return atomic ? 48 : 32;
}

/// Bytes of a send WQE that are in use.
constexpr std::uint64_t send_wqe_bytes(const SendWqeControl& control, QpType type = QpType::kRc) {
  if (control.opcode == WrOpcode::kRegMr) return kSendWqeRegisterOffset + sizeof(SendWqeRegister);
  const bool is_inline = (control.flags & kWqeInline) != 0;
  const std::uint64_t data = is_inline ? control.length : control.num_sge * sizeof(Sge);
  return send_wqe_data_offset(control.opcode, type) + data;
}

/// Slot size of a send ring: whole blocks that hold max_sge elements or max_inline bytes.
constexpr std::uint32_t send_wqe_stride(std::uint32_t max_sge, std::uint32_t max_inline,
                                        QpType type = QpType::kRc) {
  const std::uint32_t data = 16 * max_sge > max_inline ? 16 * max_sge : max_inline;
  return (send_wqe_data_offset(WrOpcode::kAtomicCmpAndSwp, type) + data + kWqeBlockBytes - 1) /
         kWqeBlockBytes * kWqeBlockBytes;
}

/// Head of a receive WQE (struct rvt_rwqe); num_sge Sge follow. The slot is the stride.
struct ReceiveWqe {
  std::uint64_t wr_id;
  std::uint8_t num_sge;
  std::uint8_t padding[7];
};
static_assert(sizeof(ReceiveWqe) == 16);

inline constexpr std::uint32_t kMaxReceiveSge = 31;

/// Slot size of a receive ring: the next power of two of 16 + 16 * max_sge, at least 32 bytes.
constexpr std::uint32_t receive_wqe_stride(std::uint32_t max_sge) {
  std::uint32_t stride = 32;
  while (stride < 16 + 16 * max_sge) stride *= 2;
  return stride;
}

}  // namespace hcasim::hw
