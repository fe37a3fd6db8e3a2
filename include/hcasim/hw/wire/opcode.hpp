// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "hcasim/hw/wire/extension_headers.hpp"

/// BTH opcodes and what each of them carries (InfiniBand specification, table of BTH opcodes).
namespace hcasim::hw {

/// Byte 0 of the BTH: transport in the top three bits, operation in the low five.
enum class BthOpcode : std::uint8_t {
  kRcSendFirst = 0x00,
  kRcSendMiddle = 0x01,
  kRcSendLast = 0x02,
  kRcSendLastImm = 0x03,
  kRcSendOnly = 0x04,
  kRcSendOnlyImm = 0x05,
  kRcWriteFirst = 0x06,
  kRcWriteMiddle = 0x07,
  kRcWriteLast = 0x08,
  kRcWriteLastImm = 0x09,
  kRcWriteOnly = 0x0a,
  kRcWriteOnlyImm = 0x0b,
  kRcReadRequest = 0x0c,
  kRcReadResponseFirst = 0x0d,
  kRcReadResponseMiddle = 0x0e,
  kRcReadResponseLast = 0x0f,
  kRcReadResponseOnly = 0x10,
  kRcAcknowledge = 0x11,
  kRcAtomicAcknowledge = 0x12,
  kRcCompareSwap = 0x13,
  kRcFetchAdd = 0x14,
  kRcSendLastInvalidate = 0x16,
  kRcSendOnlyInvalidate = 0x17,
  kUcSendFirst = 0x20,
  kUcSendMiddle = 0x21,
  kUcSendLast = 0x22,
  kUcSendLastImm = 0x23,
  kUcSendOnly = 0x24,
  kUcSendOnlyImm = 0x25,
  kUcWriteFirst = 0x26,
  kUcWriteMiddle = 0x27,
  kUcWriteLast = 0x28,
  kUcWriteLastImm = 0x29,
  kUcWriteOnly = 0x2a,
  kUcWriteOnlyImm = 0x2b,
  kUdSendOnly = 0x64,
  kUdSendOnlyImm = 0x65,
  kCnp = 0x81,
  kXrcSendFirst = 0xa0,
  kXrcSendMiddle = 0xa1,
  kXrcSendLast = 0xa2,
  kXrcSendLastImm = 0xa3,
  kXrcSendOnly = 0xa4,
  kXrcSendOnlyImm = 0xa5,
  kXrcWriteFirst = 0xa6,
  kXrcWriteMiddle = 0xa7,
  kXrcWriteLast = 0xa8,
  kXrcWriteLastImm = 0xa9,
  kXrcWriteOnly = 0xaa,
  kXrcWriteOnlyImm = 0xab,
  kXrcReadRequest = 0xac,
  kXrcReadResponseFirst = 0xad,
  kXrcReadResponseMiddle = 0xae,
  kXrcReadResponseLast = 0xaf,
  kXrcReadResponseOnly = 0xb0,
  kXrcAcknowledge = 0xb1,
  kXrcAtomicAcknowledge = 0xb2,
  kXrcCompareSwap = 0xb3,
  kXrcFetchAdd = 0xb4,
  kXrcSendLastInvalidate = 0xb6,
  kXrcSendOnlyInvalidate = 0xb7,
  kManufacturerFirst = 0xc0,  ///< 0xc0..0xff are free for manufacturers
  kManufacturerLast = 0xff,
};

/// The service an opcode belongs to: its top three bits.
enum class Transport : std::uint8_t {
  kRc = 0x00,            ///< reliable connection
  kUc = 0x20,            ///< unreliable connection
  kRd = 0x40,            ///< reliable datagram
  kUd = 0x60,            ///< unreliable datagram
  kCnp = 0x80,           ///< congestion notification, the only opcode of this range
  kXrc = 0xa0,           ///< extended reliable connection
  kManufacturer = 0xc0,  ///< 0xc0..0xff
};

/// What a packet does.
enum class Operation : std::uint8_t {
  kNone,  ///< an opcode that is reserved or of which only the BTH is known
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAcknowledge,
  kAtomicAcknowledge,
  kCompareSwap,
  kFetchAdd,
  kCongestionNotification,
};

/// Bits of OpcodeInfo::headers: the extension headers behind the BTH, in the order on the wire.
enum ExtensionHeader : std::uint16_t {
  kHasXrcEth = 0x001,
  kHasDeth = 0x002,
  kHasReth = 0x004,
  kHasAtomicEth = 0x008,
  kHasAeth = 0x010,
  kHasAtomicAckEth = 0x020,
  kHasImmDt = 0x040,
  kHasIeth = 0x080,
};

/// What follows from an opcode alone.
struct OpcodeInfo {
  Operation operation = Operation::kNone;
  bool starts = false;        ///< FIRST or ONLY, also a READ request and an atomic
  bool ends = false;          ///< LAST or ONLY, also a READ request and an atomic
  bool response = false;      ///< from the responder to the requester
  std::uint16_t headers = 0;  ///< ExtensionHeader bits
  std::uint8_t bytes = 0;     ///< of all extension headers together
};

/// The service of an opcode.
constexpr Transport transport_of(BthOpcode opcode) {
  const auto value = static_cast<std::uint8_t>(opcode);
  return value >= 0xc0 ? Transport::kManufacturer : static_cast<Transport>(value & 0xe0);
}

/// Bytes of the extension headers whose bits are set in `headers`.
constexpr std::uint8_t extension_bytes(std::uint16_t headers) {
  std::size_t bytes = 0;
  if (headers & kHasXrcEth) bytes += XrcEth::kBytes;
  if (headers & kHasDeth) bytes += Deth::kBytes;
  if (headers & kHasReth) bytes += Reth::kBytes;
  if (headers & kHasAtomicEth) bytes += AtomicEth::kBytes;
  if (headers & kHasAeth) bytes += Aeth::kBytes;
  if (headers & kHasAtomicAckEth) bytes += AtomicAckEth::kBytes;
  if (headers & kHasImmDt) bytes += ImmDt::kBytes;
  if (headers & kHasIeth) bytes += Ieth::kBytes;
  return static_cast<std::uint8_t>(bytes);
}

namespace detail {

/// The operations of RC by the low five bits of the opcode. UC, UD and XRC have the same code for
/// the same operation.
inline constexpr std::array<OpcodeInfo, 0x18> kOperations{{
    {Operation::kSend, true, false, false, 0},
    {Operation::kSend, false, false, false, 0},
    {Operation::kSend, false, true, false, 0},
    {Operation::kSend, false, true, false, kHasImmDt},
    {Operation::kSend, true, true, false, 0},
    {Operation::kSend, true, true, false, kHasImmDt},
    {Operation::kWrite, true, false, false, kHasReth},
    {Operation::kWrite, false, false, false, 0},
    {Operation::kWrite, false, true, false, 0},
    {Operation::kWrite, false, true, false, kHasImmDt},
    {Operation::kWrite, true, true, false, kHasReth},
    {Operation::kWrite, true, true, false, kHasReth | kHasImmDt},
    {Operation::kReadRequest, true, true, false, kHasReth},
    {Operation::kReadResponse, true, false, true, kHasAeth},
    {Operation::kReadResponse, false, false, true, 0},
    {Operation::kReadResponse, false, true, true, kHasAeth},
    {Operation::kReadResponse, true, true, true, kHasAeth},
    {Operation::kAcknowledge, true, true, true, kHasAeth},
    {Operation::kAtomicAcknowledge, true, true, true, kHasAeth | kHasAtomicAckEth},
    {Operation::kCompareSwap, true, true, false, kHasAtomicEth},
    {Operation::kFetchAdd, true, true, false, kHasAtomicEth},
    {},
    {Operation::kSend, false, true, false, kHasIeth},
    {Operation::kSend, true, true, false, kHasIeth},
}};

/// True when the service has the operation with these low five bits.
constexpr bool has_operation(Transport transport, std::uint8_t code) {
  switch (transport) {
    case Transport::kRc:
    case Transport::kXrc:
      return code < kOperations.size();
    case Transport::kUc:
      return code <= 0x0b;
    case Transport::kUd:
      return code == 0x04 || code == 0x05;
    default:
      return false;
  }
}

constexpr OpcodeInfo make_opcode_info(std::uint8_t value) {
  const auto opcode = static_cast<BthOpcode>(value);
  if (opcode == BthOpcode::kCnp) return {Operation::kCongestionNotification, true, true, true};
  const Transport transport = transport_of(opcode);
  const std::uint8_t code = value & 0x1f;
  if (!has_operation(transport, code)) return {};
  OpcodeInfo info = kOperations[code];
  if (transport == Transport::kUd) info.headers |= kHasDeth;
  if (transport == Transport::kXrc && !info.response) info.headers |= kHasXrcEth;
  info.bytes = extension_bytes(info.headers);
  return info;
}

constexpr std::array<OpcodeInfo, 256> make_opcode_table() {
  std::array<OpcodeInfo, 256> table{};
  for (std::size_t value = 0; value < table.size(); ++value) {
    table[value] = make_opcode_info(static_cast<std::uint8_t>(value));
  }
  return table;
}

inline constexpr std::array<OpcodeInfo, 256> kOpcodeTable = make_opcode_table();

}  // namespace detail

/// Looks an opcode up. A reserved, manufacturer's or reliable-datagram opcode has
/// Operation::kNone and no extension headers.
constexpr const OpcodeInfo& opcode_info(BthOpcode opcode) {
  return detail::kOpcodeTable[static_cast<std::uint8_t>(opcode)];
}

static_assert(opcode_info(BthOpcode::kRcWriteOnlyImm).bytes == 20);
static_assert(opcode_info(BthOpcode::kRcAtomicAcknowledge).bytes == 12);
static_assert(opcode_info(BthOpcode::kUdSendOnlyImm).bytes == 12);

}  // namespace hcasim::hw
